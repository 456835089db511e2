// Whether a file itself is a mount point: a volume of one file, as container engines make it.
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>

#include <string>

#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

#ifndef STATX_ATTR_MOUNT_ROOT  // Linux 5.8
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

// The mount that a name lies on, from the descriptor's own entry in /proc, proc_pid_fdinfo(5). Empty: it can't be told.
std::string mount_of(int dir, const char* name) {
  const FileDescriptor node(::openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!node) return {};
  const std::string entry = "/proc/thread-self/fdinfo/" + std::to_string(node.get());
  const FileDescriptor info(::open(entry.c_str(), O_RDONLY | O_CLOEXEC));
  if (!info) return {};
  const auto text = read_whole(info.get());
  const std::size_t begin = text ? text->find("mnt_id:") : std::string::npos;
  return begin == std::string::npos ? std::string{} : text->substr(begin, text->find('\n', begin) - begin);
}

}  // namespace

bool is_mount_point(const Place& place) {
  const int dir = place.directory->get();
  const char* name = place.name.c_str();
  // By its number and the kernel's own structure, as in refusal.cpp.
  struct ::statx info {};
  if (::syscall(SYS_statx, dir, name, AT_SYMLINK_NOFOLLOW, 0U, &info) == 0 &&
      (info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
    return (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  }
  // Linux 4.18 (RHEL 8) doesn't say it: another mount than that of its directory.
  const std::string mount = mount_of(dir, name);
  const std::string around = mount_of(dir, ".");
  return !mount.empty() && !around.empty() && mount != around;
}

}  // namespace rg
