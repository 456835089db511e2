// The guard that everybody writes first: inotify, read, a temporary file, rename over. It is the floor of the
// benchmarks (test/bench) and the negative control of the race test: it renames over what a faster writer put there
// meanwhile.
//   plain_guard DIRECTORY REQUIRED [calls]     keeps REQUIRED the first nameserver of DIRECTORY/resolv.conf until
//   SIGTERM
// `calls`: with the system calls of a restore by resolv-guardian, and next to no work between them: what these take
// alone.
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "test/program/rewrite.hpp"

namespace {

// What stands there has the line first.
bool is_right(const std::string& bytes, const std::string& line) {
  const std::size_t first = bytes.starts_with("nameserver ") ? 0 : bytes.find("\nnameserver ");
  const std::size_t at = first == 0 || first == std::string::npos ? first : first + 1;
  return at != std::string::npos && bytes.compare(at, line.size(), line) == 0;
}

std::string required_first(const std::string& bytes, const std::string& line) {
  std::string out = line;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = bytes.find('\n', at);
    end = end == std::string::npos ? bytes.size() : end + 1;
    if (bytes.compare(at, end - at, line) != 0) out.append(bytes, at, end - at);
    at = end;
  }
  return out;
}

void restore(const std::string& path, const std::string& temp, const std::string& line) {
  const std::string bytes = rewrite::read_file(path);
  if (is_right(bytes, line)) return;
  if (rewrite::put(temp, required_first(bytes, line))) (void)::rename(temp.c_str(), path.c_str());
}

// Look, write, exchange, look at what came out: what comes of it is another matter.
void call_as_guardian(const std::string& path, const std::string& temp, const std::string& line) {
  struct stat info {};
  char names[4096], out[4096];
  if (::fstatat(AT_FDCWD, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  const int old = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  (void)::fstat(old, &info);
  const ssize_t size = ::pread(old, out, sizeof out, 0);
  const std::string bytes(out, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (is_right(bytes, line)) {
    ::close(old);
    return;
  }
  const std::string wanted = required_first(bytes, line);
  const int made = ::open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  (void)!::pwrite(made, wanted.data(), wanted.size(), 0);
  (void)::flistxattr(old, names, sizeof names);
  (void)::syscall(SYS_renameat2, AT_FDCWD, temp.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE);
  (void)::fstatat(AT_FDCWD, temp.c_str(), &info, AT_SYMLINK_NOFOLLOW);
  const int came_out = ::open(temp.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (::fcntl(came_out, F_SETLEASE, F_RDLCK) == 0) ::fcntl(came_out, F_SETLEASE, F_UNLCK);
  (void)!::pread(came_out, out, sizeof out, 0);
  ::unlink(temp.c_str());
  for (const int fd : {came_out, made, old}) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const std::string directory = argv[1], line = std::string("nameserver ") + argv[2] + "\n";
  const std::string path = directory + "/resolv.conf", temp = directory + "/.resolv.conf.plain";
  const auto act = argc == 4 ? call_as_guardian : restore;
  const int inotify = ::inotify_init1(IN_CLOEXEC);
  if (inotify < 0 || ::inotify_add_watch(inotify, directory.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0) return 3;
  act(path, temp, line);
  alignas(inotify_event) char buffer[64 * (sizeof(inotify_event) + NAME_MAX + 1)];
  for (;;) {
    const ssize_t n = ::read(inotify, buffer, sizeof buffer);
    bool named = false;
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      named = named || (event->len > 0 && std::strcmp(event->name, "resolv.conf") == 0);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    if (named) act(path, temp, line);
  }
}
