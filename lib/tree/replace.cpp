// The only writer of guarded paths. Order of the steps and their reasons:
//  1. the new file is complete, with mode, owner, label and attributes, before it has the name: readers see old or new;
//  2. its data is on its way to the disk: RENAME_EXCHANGE has no auto_da_alloc (fs/ext4/namei.c, ext4_cross_rename) and
//     XFS none at all, a power loss would leave an empty file. sync_file_range(2) prevents that, before the swap or, on
//     ext4, in the very next system call (docs/design.md: why); an fsync here would cost up to half a second;
//  3. RENAME_EXCHANGE, then a look at what came out: a writer who was faster than us is never lost.
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <array>
#include <climits>
#include <cstdio>
#include <tuple>
#include <utility>

#include "lib/tree/attributes.hpp"
#include "lib/tree/disk_files.hpp"
#include "lib/tree/in_place.hpp"

namespace rg {
namespace {

using New = DiskFiles::New;
using Sync = DiskFiles::Sync;

constexpr unsigned kExchange = 2;   // RENAME_EXCHANGE, linux/fs.h
constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
constexpr unsigned kWritten = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;

int rename2(const Place& place, const std::string& from, const std::string& to, unsigned flags) {
  const int dir = place.directory->get();
  return static_cast<int>(::syscall(SYS_renameat2, dir, from.c_str(), dir, to.c_str(), flags));
}

// ext4: blocks allocated and data on its way is what its own auto_da_alloc does for a rename-over. Giving it to the
// disk takes longer than the exchange itself, so it is done when readers are right already. Elsewhere (XFS publishes a
// size of 0 until the data is written) it is waited for.
Sync sync_needed(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return Sync::before;
  if (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC) return Sync::none;
  return info.f_type == EXT4_SUPER_MAGIC ? Sync::behind : Sync::before;
}

void start_writing(int fd, unsigned flags) {
  if (::sync_file_range(fd, 0, 0, flags) != 0) ::fdatasync(fd);
}

// The times are parted now: who looks in between and takes the old time for his looks again within seconds.
void became_visible(const Replacement& wanted, const New& made) {
  if (!made.file) return;
  if (made.sync == Sync::behind) start_writing(made.file.get(), SYNC_FILE_RANGE_WRITE);
  if (wanted.judged != nullptr) keep_time_apart(made.file.get(), wanted.judged->info.st_mtim, made.begun);
}

// What came out of the exchange, read under the temporary name.
struct CameOut {
  NodeKind kind = NodeKind::absent;
  std::string text;  // the bytes or the text of the link
  struct stat info {};
  SharedDescriptor file;
  bool open = false;  // somebody has it open for writing
};

CameOut look_at(const Place& place, const std::string& name, bool through_link) {
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
  out.kind = NodeKind::unreadable;
  if (through_link && (out.info.st_mode & S_IROTH) == 0) return out;
  out.file = share(::openat(dir, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  // Asked before it is read: a writer who closes it in between has written all of what is read.
  out.open = *out.file && probe_writer(out.file->get()) == WriterOpen::yes;
  auto bytes = *out.file ? read_whole(out.file->get()) : Result<std::string>(std::string{});
  if (!bytes || (through_link && is_private(out.file->get()))) return out;
  out.kind = NodeKind::file;
  out.text = std::move(*bytes);
  return out;
}

bool is_as_judged(const CameOut& out, const Replacement& wanted) {
  return out.kind == wanted.judged_kind &&
         out.text == (out.kind == NodeKind::link ? wanted.judged_link : wanted.judged_bytes);
}

// What stands there isn't what was judged: ours goes, nothing was changed.
Swap step_aside(const Place& place, const std::string& temporary) {
  ::unlinkat(place.directory->get(), temporary.c_str(), 0);
  Swap swap;
  swap.out = Swap::Out::put_back;
  return swap;
}

// The same node, and nobody has written into it: what wasn't read (secrets, directories) is told apart by its number.
bool is_same(const CameOut& a, const CameOut& b) {
  const auto number = [](const struct stat& info) {
    return std::tuple(info.st_dev, info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  };
  const bool known = a.info.st_ino != 0 && b.info.st_ino != 0;
  return a.kind == b.kind && a.text == b.text && (!known || number(a.info) == number(b.info));
}

// A node that a writer made meanwhile and that we can't learn from goes back to its place. What comes out must be what
// we had put there; else it is something newer still, which goes back in turn.
Swap put_back(const Replacement& wanted, const std::string& temporary, const New& made, CameOut back) {
  constexpr int kTurns = 1000;  // no writer is faster than so many exchanges
  const Place& place = wanted.place;
  CameOut there;
  there.kind = wanted.make_link ? NodeKind::link : NodeKind::file;
  there.text = wanted.content;
  if (made.file) (void)::fstat(made.file.get(), &there.info);  // a link of ours is known by its text
  for (int turn = 0; turn < kTurns && rename2(place, temporary, place.name, kExchange) == 0; ++turn) {
    CameOut out = look_at(place, temporary, wanted.through_link);
    if (is_same(out, there)) break;
    there = std::exchange(back, std::move(out));
  }
  return step_aside(place, temporary);
}

Swap after_exchange(const Replacement& wanted, const std::string& temporary, const New& made) {
  const Place& place = wanted.place;
  CameOut out = look_at(place, temporary, wanted.through_link);
  const bool as_judged = is_as_judged(out, wanted);
  const bool can_learn = out.kind == NodeKind::file && wanted.judged_kind == NodeKind::file;
  if (!as_judged && !can_learn) return put_back(wanted, temporary, made, std::move(out));
  Swap swap;
  swap.out = as_judged ? Swap::Out::as_judged : Swap::Out::newer;
  if (!as_judged) swap.bytes = std::move(out.text);
  swap.info = out.info;
  if (out.kind == NodeKind::file) (out.open ? swap.open : swap.closed) = out.file;
  ::unlinkat(place.directory->get(), temporary.c_str(), 0);
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
  const CameOut out = look_at(place, temporary, wanted.through_link);
  if (!is_as_judged(out, wanted)) {
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
Result<Swap> plain_rename(const Replacement& wanted, const std::string& temporary, const New& made) {
  const Place& place = wanted.place;
  Swap swap;
  swap.way = Swap::Way::renamed;
  const CameOut now = look_at(place, place.name, wanted.through_link);
  if (!is_as_judged(now, wanted)) return step_aside(place, temporary);
  const int dir = place.directory->get();
  if (::renameat(dir, temporary.c_str(), dir, place.name.c_str()) != 0) return failed("rename over", place);
  became_visible(wanted, made);
  swap.info = now.info;
  if (!now.file || !*now.file) return swap;
  if (probe_writer(now.file->get()) == WriterOpen::yes) swap.open = now.file;
  auto bytes = read_whole(now.file->get());  // he may have written and closed it since the last look
  if (!bytes || *bytes == now.text || (wanted.through_link && is_private(now.file->get()))) return swap;
  swap.out = Swap::Out::newer;
  swap.bytes = std::move(*bytes);
  return swap;
}

// Nothing is there: a node that somebody makes at this moment is his.
Result<Swap> create(const Replacement& wanted, const std::string& temporary, const New& made) {
  const Place& place = wanted.place;
  Swap swap;
  swap.way = Swap::Way::renamed;
  if (rename2(place, temporary, place.name, kNoReplace) == 0) {
    became_visible(wanted, made);
    return swap;
  }
  if (errno == EEXIST) return step_aside(place, temporary);
  if (errno == EINVAL || errno == ENOSYS) return plain_rename(wanted, temporary, made);
  return failed("rename to", place);
}

Result<Swap> swap_in(const Replacement& wanted, const std::string& temporary, const New& made) {
  if (wanted.judged_kind == NodeKind::absent) return create(wanted, temporary, made);
  if (rename2(wanted.place, temporary, wanted.place.name, kExchange) == 0) {
    became_visible(wanted, made);
    return after_exchange(wanted, temporary, made);
  }
  if (errno == EINVAL || errno == ENOSYS) return plain_rename(wanted, temporary, made);
  if (errno == ENOENT) return step_aside(wanted.place, temporary);  // it was there when it was judged
  return failed("exchange with", wanted.place);
}

}  // namespace

// Our temporary file, removed or not there.
static bool is_gone(const Place& place) {
  return ::unlinkat(place.directory->get(), temporary_name(place.name).c_str(), 0) == 0 || errno == ENOENT;
}

// FNV-1a: names that are cut at the same place shall differ, nothing more.
static std::string short_hash(const std::string& name) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

std::string temporary_name(const std::string& name) {
  const std::string suffix = ".resolv-guardian";
  if (1 + name.size() + suffix.size() <= NAME_MAX) return "." + name + suffix;
  std::size_t kept = NAME_MAX - 1 - suffix.size() - 17;
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0U) == 0x80U) --kept;  // not within a UTF-8 character
  return "." + name.substr(0, kept) + "." + short_hash(name) + suffix;
}

Result<New> DiskFiles::make_temporary(const Replacement& wanted, const std::string& temporary) {
  const int dir = wanted.place.directory->get();
  if (wanted.make_link) {
    const std::string text(wanted.content);
    if (::symlinkat(text.c_str(), dir, temporary.c_str()) != 0) return failed("make a link for", wanted.place);
    return New{};
  }
  New made;
  ::clock_gettime(CLOCK_REALTIME_COARSE, &made.begun);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  made.file = FileDescriptor(::openat(dir, temporary.c_str(), kFlags, wanted.mode));
  const int fd = made.file.get();
  if (!made.file) return failed("make a temporary file for", wanted.place);
  if (!write_all(fd, wanted.content, 0)) return failed("write a temporary file for", wanted.place);
  if (auto set = set_label(fd, wanted); !set) return set.error();
  const bool known = folder_.directory == wanted.place.directory;
  const bool owner_is_us = wanted.judged == nullptr || is_us(wanted.judged->info);
  if (!known || folder_.mode != wanted.mode || !owner_is_us) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return failed("stat", wanted.place);
    const bool as_asked = is_us(info) && (info.st_mode & 07777U) == wanted.mode;
    folder_ = {wanted.place.directory, sync_needed(fd), as_asked ? wanted.mode : Folder::kNone};
    if (auto set = set_owner_and_mode(fd, wanted, info); !set) return set.error();
  }
  if (wanted.judged != nullptr && wanted.judged->file && copy_attributes(wanted.judged->file->get(), fd)) {
    if (::fchmod(fd, wanted.mode) != 0) return failed("chmod", wanted.place);
  }
  made.sync = folder_.sync;
  if (made.sync == Sync::before) start_writing(fd, kWritten);
  return made;
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
  if (made && wanted.is_too_late()) made = Error{ECANCELED, "write", wanted.place.name};
  auto swap = made ? swap_in(wanted, temporary, *made) : Result<Swap>(made.error());
  if (swap) return swap;
  discard_leftover(wanted.place);
  if (!rename_cannot_work(swap.error().code) || wanted.judged_kind != NodeKind::file || wanted.make_link) return swap;
  return write_in_place(wanted);  // its own error is the one that can be mended
}

std::optional<Leftover> DiskFiles::leftover(const Place& place, bool through_link) {
  CameOut out = look_at(place, temporary_name(place.name), through_link);
  if (out.kind == NodeKind::absent) return std::nullopt;
  return Leftover{out.kind, std::move(out.text), out.info};
}

void DiskFiles::discard_leftover(const Place& place) {
  constexpr std::size_t kMost = 16;  // each holds a directory; what is forgotten goes with the next write or start
  if (!is_gone(place) && littered_.size() < kMost) littered_.push_back(place);
}

void DiskFiles::tidy() { std::erase_if(littered_, is_gone); }

void make_durable(const Place& place) {
  const int at = place.directory->get();
  const FileDescriptor file(::openat(at, place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file) ::fsync(file.get());
  const FileDescriptor directory(::openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) ::fsync(directory.get());
}

}  // namespace rg
