#include "lib/store/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace rg::store {
namespace {

// Nobody else's: a state directory may be a shared one, and what ends so is removed at a start.
constexpr std::string_view kTemporary = ".resolv-guardian-tmp";

Result<void> fill(const std::string& path, std::string_view bytes, Sync sync) {
  auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return file.error();
  // What a left-over file was made with says nothing of what is written now.
  if (fchmod(file->fd(), 0600) != 0) return errno_error("change the mode of", path);
  if (auto written = write_all(*file, path, bytes); !written) return written.error();
  if (sync == Sync::data && fdatasync(file->fd()) != 0) return errno_error("sync", path);
  return {};
}

}  // namespace

File::~File() {
  if (fd_ >= 0) close(fd_);
}

Result<File> open_file(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return errno_error("open", path);
  File file(fd);
  auto status = stat_file(file, path);
  if (!status) return status.error();
  if (!S_ISREG(status->st_mode)) return Error{EINVAL, "open as a regular file", path};
  return file;
}

Result<struct stat> stat_file(const File& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) return errno_error("stat", path);
  return status;
}

Result<std::string> read_at(const File& file, const std::string& path, std::size_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(file.fd(), bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Result<void> write_all(const File& file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file.fd(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::optional<std::string>> read_file(const std::string& path, std::size_t most) {
  auto file = open_file(path, O_RDONLY);
  if (!file && file.error().code == ENOENT) return std::optional<std::string>{};
  if (!file) return file.error();
  auto status = stat_file(*file, path);
  if (!status) return status.error();
  if (static_cast<std::uintmax_t>(status->st_size) > most) return Error{EFBIG, "read", path};
  auto bytes = read_at(*file, path, 0, static_cast<std::size_t>(status->st_size) + 1);
  if (!bytes) return bytes.error();
  if (bytes->size() > most) return Error{EFBIG, "read", path};
  return std::optional<std::string>(std::move(*bytes));
}

Result<void> replace_file(const std::string& path, std::string_view bytes, Sync sync) {
  const std::string temporary = path + '.' + std::to_string(::gettid()).append(kTemporary);
  if (auto filled = fill(temporary, bytes, sync); !filled) {
    unlink(temporary.c_str());  // a full disk has better uses
    return filled.error();
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = errno_error("rename to", path);
    unlink(temporary.c_str());
    return error;
  }
  return {};
}

void remove_temporary_files(const std::string& directory) {
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return;
  while (const dirent* entry = readdir(stream)) {
    if (std::string_view(entry->d_name).ends_with(kTemporary)) unlinkat(dirfd(stream), entry->d_name, 0);
  }
  closedir(stream);
}

}  // namespace rg::store
