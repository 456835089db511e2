// The ways in which others rewrite a resolv.conf, as fast as the kernel lets them. Used by writers.cpp and by
// test/bench/measure.cpp. Every function gives false and leaves errno where a system call failed.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

namespace rewrite {

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1U << 1U)
#endif

inline bool write_all(int fd, std::string_view bytes) {
  return ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

inline bool put(const std::string& path, std::string_view bytes, int flags = O_TRUNC) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (fd < 0) return false;
  const bool written =
      write_all(fd, bytes.substr(0, bytes.size() / 2)) && write_all(fd, bytes.substr(bytes.size() / 2));
  return ::close(fd) == 0 && written;
}

/// NetworkManager, sed -i: a temporary file beside it, renamed over it.
inline bool by_rename(const std::string& path, std::string_view bytes) {
  const std::string temp = path + ".NMtmp";
  return put(temp, bytes) && ::rename(temp.c_str(), path.c_str()) == 0;
}

/// dhclient-script, dhcpcd: truncated and filled where it stands.
inline bool in_place(const std::string& path, std::string_view bytes) { return put(path, bytes); }

/// rm, then a new file.
inline bool by_unlink(const std::string& path, std::string_view bytes) {
  (void)::unlink(path.c_str());
  return put(path, bytes, O_TRUNC);
}

/// A new target is filled; the one before the last goes. Targets lie in ../run beside the name's directory and are
/// given as relative links, so that they mean the same inside and outside of a --root.
inline bool new_target(const std::string& path, std::string_view bytes, unsigned serial, std::string& target) {
  const std::string folder = path.substr(0, path.rfind('/')) + "/", stem = "../run/target.";
  target = stem + std::to_string(serial);
  (void)::unlink((folder + stem + std::to_string(serial - 2)).c_str());
  return put(folder + target, bytes);
}

/// ln -sf: a link to a new target is renamed over the name.
inline bool by_link(const std::string& path, std::string_view bytes, unsigned serial) {
  const std::string temp = path + ".lntmp";
  std::string target;
  return new_target(path, bytes, serial, target) && ::symlink(target.c_str(), temp.c_str()) == 0 &&
         ::rename(temp.c_str(), path.c_str()) == 0;
}

/// The name is removed, then made anew as a link with symlink(2).
inline bool by_relink(const std::string& path, std::string_view bytes, unsigned serial) {
  std::string target;
  return new_target(path, bytes, serial, target) && (::unlink(path.c_str()) == 0 || errno == ENOENT) &&
         ::symlink(target.c_str(), path.c_str()) == 0;
}

/// RENAME_EXCHANGE, as a guard does it; what came out is removed.
inline bool by_exchange(const std::string& path, std::string_view bytes) {
  const std::string temp = path + ".xtmp";
  if (!put(temp, bytes)) return false;
  if (::syscall(SYS_renameat2, AT_FDCWD, temp.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) return false;
  return ::unlink(temp.c_str()) == 0;
}

/// What stands at `path`, links followed; empty where nothing can be read.
inline std::string read_file(const std::string& path) {
  std::string bytes;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return bytes;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) bytes.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);
  return bytes;
}

/// 10.x.y.z of a serial number.
inline std::string serial_address(unsigned serial) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "10.%u.%u.%u", (serial >> 16U) & 255U, (serial >> 8U) & 255U, serial & 255U);
  return text;
}

/// The nameserver lines' first words, joined by blanks.
inline std::string servers(const std::string& bytes) {
  static constexpr std::string_view kKeyword = "nameserver ";
  std::string list;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = bytes.find('\n', at) == std::string::npos ? bytes.size() : bytes.find('\n', at);
    const std::string_view line(bytes.data() + at, end - at);
    if (line.starts_with(kKeyword)) {
      if (!list.empty()) list += ' ';
      list += line.substr(kKeyword.size());
    }
    at = end + 1;
  }
  return list;
}

}  // namespace rewrite
