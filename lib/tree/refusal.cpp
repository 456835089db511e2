// Why the kernel refuses a write, in words that begin with the state's word and say what to do.
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

// statx(2) by its number and the kernel's own structure: glibc 2.28 and the kernel disagree about who declares it.
bool has_attribute(int dir, const char* name, unsigned long long attribute) {
  struct ::statx info {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  return ::syscall(SYS_statx, dir, name, flags, STATX_BASIC_STATS, &info) == 0 &&
         (info.stx_attributes & attribute) != 0;
}

bool read_only_here(int dir, const char* name) {
  const FileDescriptor fd(::openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct ::statvfs info {};
  return fd && ::fstatvfs(fd.get(), &info) == 0 && (info.f_flag & ST_RDONLY) != 0;
}

// Neither replaced nor removed by anybody.
bool is_fixed(int dir, const char* name) {
  return has_attribute(dir, name, STATX_ATTR_IMMUTABLE) || has_attribute(dir, name, STATX_ATTR_APPEND);
}

// Where our temporary file belongs: what replace() couldn't remove.
bool stands_in_the_way(const Place& place) {
  const std::string name = temporary_name(place.name);
  const int dir = place.directory->get();
  struct stat info {};
  if (::fstatat(dir, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return S_ISDIR(info.st_mode) || is_fixed(dir, name.c_str());
}

}  // namespace

std::string DiskFiles::standing_refusal(const Place& place) {
  const int dir = place.directory->get();
  const char* name = place.name.c_str();
  if (has_attribute(dir, name, STATX_ATTR_IMMUTABLE))
    return "immutable: chattr -i " + place.name + " lets it be written";
  if (has_attribute(dir, name, STATX_ATTR_APPEND))
    return "immutable: append-only, chattr -a " + place.name + " lets it be written";
  if (has_attribute(dir, "", STATX_ATTR_IMMUTABLE)) return "immutable: its directory is, chattr -i lets it be written";
  return {};
}

// What isn't ours, or can't be taken away, stands where our temporary file belongs.
static std::string in_the_way(const Place& place) {
  const std::string name = temporary_name(place.name);
  const int dir = place.directory->get();
  struct stat info {};
  if (::fstatat(dir, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (S_ISDIR(info.st_mode)) return "directory: " + name + " stands where our temporary file belongs; rmdir it";
  if (is_fixed(dir, name.c_str())) {
    return "immutable: " + name + " stands where our temporary file belongs; chattr -ia it and remove it";
  }
  return "permission: " + name + " stands where our temporary file belongs and can't be removed; remove it";
}

std::string DiskFiles::refusal(const Place& place, const Error& error) {
  if (std::string standing = standing_refusal(place); !standing.empty()) return standing;
  if (error.code == EEXIST) return in_the_way(place);
  const int dir = place.directory->get();
  const char* name = place.name.c_str();
  if (error.code == EROFS || read_only_here(dir, name) || read_only_here(dir, ".")) {
    return "read-only: the file system or mount is; mount its directory read-write (a unit needs it in "
           "ReadWritePaths=)";
  }
  if (error.code == EACCES || error.code == EPERM) {
    return "permission: " + error.text() + "; run as root, or give the directory and CAP_DAC_OVERRIDE";
  }
  if (error.code == EBUSY)
    return "permission: " + error.text() + "; it is a mount point that can only be written in place";
  return {};
}

// The steps of replace() and what stops each of them.
std::string DiskFiles::foreseen_refusal(const Replacement& wanted) {
  const Place& place = wanted.place;
  const int dir = place.directory->get();
  const char* name = place.name.c_str();
  const bool file = wanted.judged_kind == NodeKind::file;
  if (file && is_fixed(dir, name)) return standing_refusal(place);
  if (file && read_only_here(dir, name)) return refusal(place, Error{EROFS, "write", place.name});
  if (wanted.only_attributes || (file && wanted.in_place)) return {};
  if (stands_in_the_way(place)) return refusal(place, Error{EEXIST, "make a temporary file for", place.name});
  if (file && !wanted.make_link) return {};  // where it can't be replaced it is written in place
  if (has_attribute(dir, "", STATX_ATTR_IMMUTABLE)) return standing_refusal(place);
  if (read_only_here(dir, ".")) return refusal(place, Error{EROFS, "write", place.name});
  return file && is_mount_point(place) ? refusal(place, Error{EBUSY, "exchange with", place.name}) : std::string{};
}

}  // namespace rg
