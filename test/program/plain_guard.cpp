// The guard that everybody writes first: inotify, read, a temporary file, rename over. It is the floor of the
// benchmarks (test/bench) and the negative control of the race test: it renames over what a faster writer put there
// meanwhile.
//   plain_guard DIRECTORY REQUIRED      keeps REQUIRED the first nameserver of DIRECTORY/resolv.conf until SIGTERM
#include <sys/inotify.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "test/program/rewrite.hpp"

namespace {

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
  const std::size_t first = bytes.starts_with("nameserver ") ? 0 : bytes.find("\nnameserver ");
  const std::size_t at = first == 0 || first == std::string::npos ? first : first + 1;
  if (at != std::string::npos && bytes.compare(at, line.size(), line) == 0) return;
  if (rewrite::put(temp, required_first(bytes, line))) (void)::rename(temp.c_str(), path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string directory = argv[1], line = std::string("nameserver ") + argv[2] + "\n";
  const std::string path = directory + "/resolv.conf", temp = directory + "/.resolv.conf.plain";
  const int inotify = ::inotify_init1(IN_CLOEXEC);
  if (inotify < 0 || ::inotify_add_watch(inotify, directory.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0) return 3;
  restore(path, temp, line);
  alignas(inotify_event) char buffer[64 * (sizeof(inotify_event) + NAME_MAX + 1)];
  for (;;) {
    const ssize_t n = ::read(inotify, buffer, sizeof buffer);
    bool named = false;
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      named = named || (event->len > 0 && std::strcmp(event->name, "resolv.conf") == 0);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    if (named) restore(path, temp, line);
  }
}
