#include "lib/tree/in_place.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/statvfs.h>

#include "lib/tree/attributes.hpp"
#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

// By its name, and only if it is a regular file: opening a device can do things, and a FIFO's open waits for its other
// end. None with errno 0: something else stands there now, or nothing.
FileDescriptor open_regular(const Place& place, int flags) {
  const int dir = place.directory->get();
  struct stat info {};
  const bool there = ::fstatat(dir, place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && S_ISREG(info.st_mode)) {
    FileDescriptor fd(::openat(dir, place.name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd || (::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode))) return fd;
  }
  if (there || errno == ENOENT) errno = 0;
  return {};
}

bool same_as_judged(const Replacement& wanted, int fd) {
  const auto bytes = read_whole(fd);
  return bytes && *bytes == wanted.judged_bytes;
}

// Room for the new length, made before an old byte is touched: a file system that is full (or a quota that is used up)
// half-way through would leave a torn file. Nothing of it can be seen: the length stays. First without the kernel's
// writing hand: closing a file that was open for writing is an event, and would wake us for the next try.
Result<void> ask_for_room(int fd, const Place& place, off_t length, const struct stat& old) {
  struct statvfs free {};
  const auto needed = static_cast<std::uintmax_t>(length);
  const auto has = static_cast<std::uintmax_t>(old.st_blocks) * 512U;
  if (needed <= has || ::fstatvfs(fd, &free) != 0 || free.f_blocks == 0) return {};  // 0: tmpfs without a limit
  if (needed - has <= static_cast<std::uintmax_t>(free.f_bfree) * free.f_frsize) return {};
  errno = ENOSPC;
  return failed("make room in", place);
}

// ENOTSUP where a file system can't (NFS before 4.2, FUSE): the tail is written first then, past the old end.
Result<void> take_room(int fd, const Replacement& wanted, off_t old_size) {
  const auto length = static_cast<off_t>(wanted.content.size());
  if (length <= old_size) return {};
  int result = 0;
  do {
    result = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return {};
  const bool unsupported = errno == EOPNOTSUPP || errno == ENOSYS;
  if (unsupported && write_all(fd, wanted.content.substr(static_cast<std::size_t>(old_size)), old_size)) return {};
  const Error error = failed("make room in", wanted.place);
  if (unsupported) (void)!::ftruncate(fd, old_size);
  return error;
}

// NFS and quotas say only at a sync that there is no room.
bool reached_disk(int fd) {
  return ::fdatasync(fd) == 0 || (errno != ENOSPC && errno != EDQUOT && errno != EIO && errno != EFBIG);
}

// The new bytes over the old ones, on the disk, and only then the length: the other order leaves a torn or an empty
// file after a power loss, and readers meet an empty one.
Result<void> overwrite(int fd, const Replacement& wanted, off_t old_size) {
  const Place& place = wanted.place;
  if (auto room = take_room(fd, wanted, old_size); !room) return room.error();
  const bool written = write_all(fd, wanted.content, 0) && reached_disk(fd);
  if (written && ::ftruncate(fd, static_cast<off_t>(wanted.content.size())) == 0) return {};
  const Error error = failed(written ? "truncate" : "write", place);
  const std::string_view old = wanted.judged_bytes.substr(0, wanted.content.size());
  if (write_all(fd, old, 0)) (void)!::ftruncate(fd, old_size);
  return error;
}

}  // namespace

Result<Swap> write_in_place(const Replacement& wanted) {
  const Place& place = wanted.place;
  Swap swap;
  swap.way = Swap::Way::in_place;
  struct stat old {};
  const auto length = static_cast<off_t>(wanted.content.size());
  if (const FileDescriptor before = open_regular(place, O_RDONLY); before && ::fstat(before.get(), &old) == 0) {
    if (auto room = ask_for_room(before.get(), place, length, old); !room) return room.error();
  }
  const FileDescriptor fd = open_regular(place, O_RDWR);
  if (!fd && errno != 0) return failed("open for writing", place);
  if (!fd || !same_as_judged(wanted, fd.get())) {
    swap.out = Swap::Out::put_back;  // somebody was faster: nothing was touched
    return swap;
  }
  if (::fstat(fd.get(), &old) != 0) return failed("stat", place);
  if (wanted.is_too_late()) return Error{ECANCELED, "write", place.name};
  if (auto written = overwrite(fd.get(), wanted, old.st_size); !written) return written.error();
  Replacement attributes = wanted;
  attributes.judged = nullptr;  // the inode keeps its owner and attributes
  if (auto set = set_attributes(fd.get(), attributes); !set) return set.error();
  return swap;
}

Result<Swap> set_attributes_only(const Replacement& wanted) {
  const Place& place = wanted.place;
  const FileDescriptor fd = open_regular(place, O_RDONLY);
  if (!fd && errno != 0) return failed("open", place);
  Swap swap;
  swap.way = Swap::Way::attributes;
  if (!fd) swap.out = Swap::Out::put_back;
  if (!fd) return swap;
  if (wanted.is_too_late()) return Error{ECANCELED, "change", place.name};
  Replacement attributes = wanted;
  attributes.judged = nullptr;
  if (auto set = set_attributes(fd.get(), attributes); !set) return set.error();
  return swap;
}

}  // namespace rg
