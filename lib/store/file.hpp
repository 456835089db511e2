// The few system calls of the state directory: whole small files, never through a link.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/result.hpp"

namespace rg::store {

/// Owns a descriptor.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();
  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// open(2) with O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK (a FIFO must not hang us) and mode 0600; only regular files.
[[nodiscard]] Result<File> open_file(const std::string& path, int flags);

/// fstat(2).
[[nodiscard]] Result<struct stat> stat_file(const File& file, const std::string& path);

/// Exactly the bytes [offset, offset + size), fewer only where the file ends.
[[nodiscard]] Result<std::string> read_at(const File& file, const std::string& path, std::size_t offset,
                                          std::size_t size);

/// With one write(2) where the kernel takes all of it.
[[nodiscard]] Result<void> write_all(const File& file, const std::string& path, std::string_view bytes);

/// nullopt where there is none; EFBIG past `most` bytes, EINVAL for what is no regular file, ELOOP for a link.
[[nodiscard]] Result<std::optional<std::string>> read_file(const std::string& path, std::size_t most);

enum class Sync { none, data };

/// PATH.THREAD.resolv-guardian-tmp, the bytes, mode 0600, fdatasync if asked for, rename to `path`. What stood at
/// `path` stays untouched until then, whatever fails. Threads may do so at the same time: one of them is the last, and
/// its bytes are whole.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view bytes, Sync sync);

/// What kills left behind of replace_file() in a directory, which nobody may write in meanwhile.
void remove_temporary_files(const std::string& directory);

}  // namespace rg::store
