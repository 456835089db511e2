// The only writer of guarded paths. Order of the steps and their reasons:
//  1. the new file is complete, with mode, owner, label and attributes, before it has the name (readers see old or
//  new);
//  2. its data is on its way to the disk before the swap: RENAME_EXCHANGE has no auto_da_alloc (fs/ext4/namei.c,
//     ext4_cross_rename) and XFS none at all, a power loss would leave an empty file. sync_file_range(2) prevents that
//     at no measurable cost; an fsync here would cost up to half a second;
//  3. RENAME_EXCHANGE, then a look at what came out: a writer who was faster than us is never lost.
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <array>
#include <cstring>

#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

constexpr unsigned kExchange = 2;   // RENAME_EXCHANGE, linux/fs.h
constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE

int rename2(const Place& place, const std::string& from, const std::string& to, unsigned flags) {
  const int dir = place.directory->get();
  return static_cast<int>(::syscall(SYS_renameat2, dir, from.c_str(), dir, to.c_str(), flags));
}

Error failed(const char* doing, const Place& place) { return errno_error(doing, place.name); }

bool write_all(int fd, std::string_view bytes) {
  off_t at = 0;
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    at += put;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// user.* and POSIX ACLs go over; security.* is about the content (IMA, capabilities) or set on purpose (SELinux). True
// if an ACL did: its mask has become the group's permissions then (acl(5)).
bool copy_attributes(int from, int to) {
  std::array<char, 4096> names{};
  const ssize_t length = ::flistxattr(from, names.data(), names.size());
  bool copied_acl = false;
  for (ssize_t at = 0; at < length;) {
    const char* name = names.data() + at;
    at += static_cast<ssize_t>(std::strlen(name)) + 1;
    const bool acl = std::strcmp(name, "system.posix_acl_access") == 0;
    const bool kept = acl || std::strncmp(name, "user.", 5) == 0;
    std::array<char, 4096> value{};
    const ssize_t size = kept ? ::fgetxattr(from, name, value.data(), value.size()) : -1;
    const bool copied = size >= 0 && ::fsetxattr(to, name, value.data(), static_cast<std::size_t>(size), 0) == 0;
    copied_acl = copied_acl || (acl && copied);
  }
  return copied_acl;
}

// Go compares the time of modification and nothing else; stamps are a clock tick apart (4 ms), so two rewrites in one
// tick look alike. Ours is moved forward when it equals the one that it replaces. `before`: the kernel's coarse clock
// before ours was written; no stamp made since is older.
void keep_time_apart(int fd, const Seen& judged, const timespec& before) {
  const timespec& was = judged.info.st_mtim;
  struct stat made {};
  if (was.tv_sec < before.tv_sec || (was.tv_sec == before.tv_sec && was.tv_nsec < before.tv_nsec)) return;
  if (::fstat(fd, &made) != 0) return;
  if (made.st_mtim.tv_sec != was.tv_sec || made.st_mtim.tv_nsec != was.tv_nsec) return;
  std::array<timespec, 2> times{};
  times[0].tv_nsec = UTIME_OMIT;
  times[1] = was;
  if (++times[1].tv_nsec >= 1'000'000'000) times[1] = {was.tv_sec + 1, 0};
  ::futimens(fd, times.data());
}

// What must have happened to the data before the new file may become visible. ext4: the blocks are allocated and on
// their way, which is what its own auto_da_alloc does for a rename-over; an EXCHANGE has none. Elsewhere (XFS publishes
// a size of 0 until the data is written) the data is waited for: a disk's latency, and the only way to be never empty.
unsigned sync_needed(int fd) {
  constexpr unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return all;
  if (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC) return 0;
  return info.f_type == EXT4_SUPER_MAGIC ? SYNC_FILE_RANGE_WRITE : all;
}

Result<void> set_label(int fd, const Replacement& wanted) {
  if (wanted.label.empty()) return {};
  const char* label = wanted.label.c_str();
  if (::fsetxattr(fd, "security.selinux", label, wanted.label.size() + 1, 0) == 0 || errno == ENOTSUP) return {};
  return failed("set the SELinux label of", wanted.place);
}

// The mode and owner of a file that was just made, where they aren't what is wanted.
Result<void> set_owner_and_mode(int fd, const Replacement& wanted, const struct stat& made) {
  if (wanted.judged != nullptr) {
    const struct stat& was = wanted.judged->info;
    // Without CAP_CHOWN the owner can't be kept; the content and the mode matter more.
    if (made.st_uid != was.st_uid || made.st_gid != was.st_gid) (void)!::fchown(fd, was.st_uid, was.st_gid);
  }
  if ((made.st_mode & 07777U) != wanted.mode && ::fchmod(fd, wanted.mode) != 0) return failed("chmod", wanted.place);
  return {};
}

bool is_us(const struct stat& info) {
  static const uid_t uid = ::geteuid();  // asked once: two system calls on the way of every restore
  static const gid_t gid = ::getegid();
  return info.st_uid == uid && info.st_gid == gid;
}

// Of a node that stays.
Result<void> set_attributes(int fd, const Replacement& wanted) {
  if (auto set = set_label(fd, wanted); !set) return set.error();
  struct stat made {};
  if (::fstat(fd, &made) != 0) return failed("stat", wanted.place);
  return set_owner_and_mode(fd, wanted, made);
}

// What came out of the exchange, read under the temporary name.
struct CameOut {
  NodeKind kind = NodeKind::absent;
  std::string text;  // the bytes or the text of the link
  struct stat info {};
  SharedDescriptor file;
};

CameOut look_at(const Place& place, const std::string& name) {
  CameOut out;
  const int dir = place.directory->get();
  if (::fstatat(dir, name.c_str(), &out.info, AT_SYMLINK_NOFOLLOW) != 0) return out;
  if (S_ISLNK(out.info.st_mode)) {
    std::array<char, 4096> text{};
    const ssize_t length = ::readlinkat(dir, name.c_str(), text.data(), text.size());
    out.kind = NodeKind::link;
    out.text.assign(text.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
    return out;
  }
  out.kind = S_ISDIR(out.info.st_mode) ? NodeKind::directory : NodeKind::other;
  if (!S_ISREG(out.info.st_mode)) return out;
  out.file = share(::openat(dir, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  auto bytes = *out.file ? read_whole(out.file->get()) : Result<std::string>(std::string{});
  out.kind = bytes ? NodeKind::file : NodeKind::unreadable;
  if (bytes) out.text = std::move(*bytes);
  return out;
}

// A node that a writer made meanwhile and that we can't learn from goes back to its place. What comes out then is ours,
// or something newer still, which then goes back in turn.
Swap put_back(const Place& place, const std::string& temporary, const Replacement& wanted) {
  Swap swap;
  swap.out = Swap::Out::put_back;
  for (int turn = 0; turn < 8; ++turn) {
    if (rename2(place, temporary, place.name, kExchange) != 0) break;
    const CameOut out = look_at(place, temporary);
    const bool ours = out.kind == (wanted.make_link ? NodeKind::link : NodeKind::file) && out.text == wanted.content;
    if (ours) break;
  }
  ::unlinkat(place.directory->get(), temporary.c_str(), 0);
  return swap;
}

Swap after_exchange(const Replacement& wanted, const std::string& temporary) {
  const Place& place = wanted.place;
  CameOut out = look_at(place, temporary);
  const std::string_view judged = wanted.judged_kind == NodeKind::link ? wanted.judged_link : wanted.judged_bytes;
  const bool as_judged = out.kind == wanted.judged_kind && out.text == judged;
  const bool can_learn = out.kind == NodeKind::file && wanted.judged_kind == NodeKind::file;
  if (!as_judged && !can_learn) return put_back(place, temporary, wanted);
  Swap swap;
  swap.out = as_judged ? Swap::Out::as_judged : Swap::Out::newer;
  if (!as_judged) swap.bytes = std::move(out.text);
  swap.info = out.info;
  if (out.file && *out.file && probe_writer(out.file->get()) == WriterOpen::yes) swap.open = out.file;
  ::unlinkat(place.directory->get(), temporary.c_str(), 0);
  return swap;
}

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

// Where a rename can't work. The new bytes over the old ones, on the disk, and only then the length: the other order
// leaves a torn or an empty file after a power loss, and readers meet an empty one.
Result<Swap> write_in_place(const Replacement& wanted) {
  if (wanted.judged_kind != NodeKind::file || wanted.make_link) {
    errno = EBUSY;
    return failed("write in place", wanted.place);
  }
  const Place& place = wanted.place;
  const FileDescriptor fd = open_regular(place, O_RDWR);
  if (!fd && errno != 0) return failed("open for writing", place);
  Swap swap;
  swap.way = Swap::Way::in_place;
  if (!fd || !same_as_judged(wanted, fd.get())) {
    swap.out = Swap::Out::put_back;  // somebody was faster: nothing was touched
    return swap;
  }
  if (!write_all(fd.get(), wanted.content)) return failed("write", place);
  ::fdatasync(fd.get());
  if (::ftruncate(fd.get(), static_cast<off_t>(wanted.content.size())) != 0) return failed("truncate", place);
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
  Replacement attributes = wanted;
  attributes.judged = nullptr;
  if (auto set = set_attributes(fd.get(), attributes); !set) return set.error();
  return swap;
}

// What shall go is looked at under the temporary name first: a writer may have put something newer there since it was
// judged, and that goes back (unless he has made the name anew meanwhile: then that is the newest).
Result<Swap> remove_node(const Replacement& wanted, const std::string& temporary) {
  const Place& place = wanted.place;
  const int dir = place.directory->get();
  Swap swap;
  swap.way = Swap::Way::renamed;
  if (::renameat(dir, place.name.c_str(), dir, temporary.c_str()) != 0) {
    if (errno != ENOENT) return failed("remove", place);
    swap.out = Swap::Out::put_back;
    return swap;
  }
  const CameOut out = look_at(place, temporary);
  const std::string_view judged = wanted.judged_kind == NodeKind::link ? wanted.judged_link : wanted.judged_bytes;
  if (out.kind != wanted.judged_kind || out.text != judged) {
    swap.out = Swap::Out::put_back;
    if (rename2(place, temporary, place.name, kNoReplace) == 0) return swap;
    if ((errno == EINVAL || errno == ENOSYS) && ::renameat(dir, temporary.c_str(), dir, place.name.c_str()) == 0) {
      return swap;
    }
  }
  ::unlinkat(dir, temporary.c_str(), 0);
  return swap;
}

bool rename_cannot_work(int error) {
  return error == EBUSY || error == EXDEV || error == EROFS || error == EACCES || error == EPERM;
}

// Kernels and file systems without RENAME_EXCHANGE: the last look and the rename are two steps, as close as they can
// be.
Result<Swap> plain_rename(const Replacement& wanted, const std::string& temporary) {
  const Place& place = wanted.place;
  Swap swap;
  swap.way = Swap::Way::renamed;
  const CameOut now = look_at(place, place.name);
  const std::string_view judged = wanted.judged_kind == NodeKind::link ? wanted.judged_link : wanted.judged_bytes;
  if (now.kind != wanted.judged_kind || now.text != judged) {
    ::unlinkat(place.directory->get(), temporary.c_str(), 0);
    swap.out = Swap::Out::put_back;
    return swap;
  }
  const int dir = place.directory->get();
  if (::renameat(dir, temporary.c_str(), dir, place.name.c_str()) != 0) return failed("rename over", place);
  if (now.file && *now.file && probe_writer(now.file->get()) == WriterOpen::yes) swap.open = now.file;
  swap.info = now.info;
  return swap;
}

// Nothing is there: a node that somebody makes at this moment is his.
Result<Swap> create(const Replacement& wanted, const std::string& temporary) {
  const Place& place = wanted.place;
  Swap swap;
  swap.way = Swap::Way::renamed;
  if (rename2(place, temporary, place.name, kNoReplace) == 0) return swap;
  if (errno == EEXIST) {
    ::unlinkat(place.directory->get(), temporary.c_str(), 0);
    swap.out = Swap::Out::put_back;
    return swap;
  }
  if (errno == EINVAL || errno == ENOSYS) return plain_rename(wanted, temporary);
  return failed("rename to", place);
}

Result<Swap> swap_in(const Replacement& wanted, const std::string& temporary) {
  if (wanted.judged_kind == NodeKind::absent) return create(wanted, temporary);
  if (rename2(wanted.place, temporary, wanted.place.name, kExchange) == 0) return after_exchange(wanted, temporary);
  if (errno == EINVAL || errno == ENOSYS) return plain_rename(wanted, temporary);
  if (errno == ENOENT) {  // it was there when it was judged
    ::unlinkat(wanted.place.directory->get(), temporary.c_str(), 0);
    Swap swap;
    swap.out = Swap::Out::put_back;
    return swap;
  }
  return failed("exchange with", wanted.place);
}

}  // namespace

std::string temporary_name(const std::string& name) { return "." + name + ".resolv-guardian"; }

// The descriptor of the new file (none for a link): closing it can wait until the file is visible.
Result<FileDescriptor> DiskFiles::make_temporary(const Replacement& wanted, const std::string& temporary) {
  const int dir = wanted.place.directory->get();
  if (wanted.make_link) {
    const std::string text(wanted.content);
    if (::symlinkat(text.c_str(), dir, temporary.c_str()) != 0) return failed("make a link for", wanted.place);
    return FileDescriptor{};
  }
  timespec before{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &before);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor fd(::openat(dir, temporary.c_str(), flags, wanted.mode));
  if (!fd) return failed("make a temporary file for", wanted.place);
  if (!write_all(fd.get(), wanted.content)) return failed("write a temporary file for", wanted.place);
  if (auto set = set_label(fd.get(), wanted); !set) return set.error();
  const bool known = folder_.directory == wanted.place.directory;
  const bool owner_is_us = wanted.judged == nullptr || is_us(wanted.judged->info);
  if (!known || folder_.mode != wanted.mode || !owner_is_us) {
    struct stat made {};
    if (::fstat(fd.get(), &made) != 0) return failed("stat", wanted.place);
    const bool as_asked = is_us(made) && (made.st_mode & 07777U) == wanted.mode;
    folder_ = {wanted.place.directory, sync_needed(fd.get()), as_asked ? wanted.mode : Folder::kNone};
    if (auto set = set_owner_and_mode(fd.get(), wanted, made); !set) return set.error();
  }
  if (wanted.judged != nullptr && wanted.judged->file && copy_attributes(wanted.judged->file->get(), fd.get())) {
    if (::fchmod(fd.get(), wanted.mode) != 0) return failed("chmod", wanted.place);
  }
  if (wanted.judged != nullptr) keep_time_apart(fd.get(), *wanted.judged, before);
  if (folder_.sync != 0 && ::sync_file_range(fd.get(), 0, 0, folder_.sync) != 0) ::fdatasync(fd.get());
  return fd;
}

Result<Swap> DiskFiles::replace(const Replacement& wanted) {
  if (wanted.only_attributes) return set_attributes_only(wanted);
  if (wanted.remove) return remove_node(wanted, temporary_name(wanted.place.name));
  if (wanted.in_place && wanted.judged_kind == NodeKind::file) return write_in_place(wanted);
  const std::string temporary = temporary_name(wanted.place.name);
  auto made = make_temporary(wanted, temporary);
  if (!made && made.error().code == EEXIST) {  // the lock on the directory says that it is a left-over of ours
    discard_leftover(wanted.place);
    made = make_temporary(wanted, temporary);
  }
  auto swap = made ? swap_in(wanted, temporary) : Result<Swap>(made.error());
  if (swap) return swap;
  discard_leftover(wanted.place);
  if (!rename_cannot_work(swap.error().code) || wanted.judged_kind != NodeKind::file || wanted.make_link) return swap;
  auto in_place = write_in_place(wanted);
  return in_place ? in_place : swap;
}

std::optional<Leftover> DiskFiles::leftover(const Place& place) {
  CameOut out = look_at(place, temporary_name(place.name));
  if (out.kind == NodeKind::absent) return std::nullopt;
  return Leftover{out.kind, std::move(out.text), out.info};
}

void DiskFiles::discard_leftover(const Place& place) {
  ::unlinkat(place.directory->get(), temporary_name(place.name).c_str(), 0);
}

void make_durable(const Place& place) {
  const int at = place.directory->get();
  const FileDescriptor file(::openat(at, place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file) ::fsync(file.get());
  const FileDescriptor directory(::openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) ::fsync(directory.get());
}

}  // namespace rg
