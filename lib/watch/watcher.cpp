#include "lib/watch/watcher.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "lib/tree/disk_files.hpp"
#include "lib/watch/inotify_event.hpp"

namespace rg {
namespace {

// No IN_MODIFY on a directory: it would wake us for every write to every file in it, our own logs among them.
constexpr std::uint32_t kDirectoryMask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |
                                         IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kInodeMask = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;
constexpr std::uint32_t kSelf = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

// inotify_add_watch(2) has no *at() form; the magic link of the held descriptor is the very node, whatever its path is
// now.
int add_by_descriptor(int inotify, int fd, std::uint32_t mask) {
  const std::string path = "/proc/thread-self/fd/" + std::to_string(fd);
  return ::inotify_add_watch(inotify, path.c_str(), mask);
}

How how_of(std::uint32_t mask) {
  if ((mask & IN_MOVED_TO) != 0) return How::renamed;
  if ((mask & (IN_CLOSE_WRITE | IN_MODIFY)) != 0) return How::written;
  if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) return How::removed;
  if ((mask & IN_ATTRIB) != 0) return How::attributes;
  return (mask & IN_CREATE) != 0 ? How::relinked : How::unknown;
}

}  // namespace

Result<Watcher> Watcher::create() {
  FileDescriptor fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd) return errno_error("inotify_init1");
  return Watcher(std::move(fd));
}

Result<void> Watcher::add(GuardId guard, const Chain& chain, Role of_last) {
  Result<void> result;
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const Step& step = chain.steps[i];
    const int wd = add_by_descriptor(inotify_.get(), step.place.directory->get(), kDirectoryMask);
    if (wd < 0) {
      result = errno_error("inotify_add_watch", chain.path);
      continue;
    }
    const bool last = chain.complete && i + 1 == chain.steps.size();
    const bool pattern = has_glob(step.place.name);
    const Role role = !last || (pattern && of_last == Role::member) ? Role::way : of_last;
    Interest interest{guard, step.place.name, role, pattern, step.kind != NodeKind::absent};
    std::vector<Interest>& interests = directories_[wd];
    watched_[guard].insert(wd);
    const bool known = !interests.empty() && interests.back() == interest;  // chains of one guard begin alike
    if (!known) interests.push_back(std::move(interest));
  }
  return result;
}

void Watcher::begin_watch(GuardId guard) {
  lost_.erase(guard);
  std::set<int>& former = former_[guard];
  former = std::exchange(watched_[guard], {});
  for (const int wd : former) {
    const auto found = directories_.find(wd);
    if (found != directories_.end()) std::erase_if(found->second, [&](const Interest& i) { return i.guard == guard; });
  }
}

void Watcher::end_watch(GuardId guard) {
  for (const int wd : former_[guard]) {
    const auto found = directories_.find(wd);
    if (found == directories_.end() || !found->second.empty()) continue;
    directories_.erase(found);
    ::inotify_rm_watch(inotify_.get(), wd);
  }
  former_.erase(guard);
  if (watched_[guard].empty()) watched_.erase(guard);
}

Result<void> Watcher::watch(GuardId guard, const Chain& chain, const std::vector<Chain>& others) {
  begin_watch(guard);
  Result<void> result = add(guard, chain, Role::target);
  for (const Chain& other : others) {
    if (auto added = add(guard, other, Role::way); !added) result = added;
  }
  end_watch(guard);
  return result;
}

Result<void> Watcher::watch_inode(GuardId guard, int fd) {
  const int wd = add_by_descriptor(inotify_.get(), fd, kInodeMask);
  if (wd < 0) return errno_error("inotify_add_watch", "the file itself");
  const auto known = inode_of_.find(guard);
  if (known != inode_of_.end() && known->second == wd) return {};
  unwatch_inode(guard);
  inode_of_[guard] = wd;
  inodes_[wd].push_back(guard);
  return {};
}

void Watcher::unwatch_inode(GuardId guard) {
  const auto known = inode_of_.find(guard);
  if (known == inode_of_.end()) return;
  const int wd = known->second;
  inode_of_.erase(known);
  const auto found = inodes_.find(wd);
  if (found == inodes_.end()) return;
  std::erase(found->second, guard);
  if (!found->second.empty()) return;
  inodes_.erase(found);
  ::inotify_rm_watch(inotify_.get(), wd);
}

Result<int> Watcher::watch_orphan(GuardId guard, int fd) {
  const int wd = add_by_descriptor(inotify_.get(), fd, kInodeMask);
  if (wd < 0) return errno_error("inotify_add_watch", "a replaced file");
  if (const auto named = inodes_.find(wd); named != inodes_.end()) {
    for (const GuardId one : named->second) inode_of_.erase(one);
    inodes_.erase(named);
  }
  orphans_[wd] = guard;
  return wd;
}

void Watcher::forget_orphan(int watch) {
  if (orphans_.erase(watch) != 0) ::inotify_rm_watch(inotify_.get(), watch);
}

void Watcher::forget(GuardId guard) {
  (void)watch(guard, {}, {});
  unwatch_inode(guard);
  for (auto orphan = orphans_.begin(); orphan != orphans_.end();) {
    const bool his = orphan->second == guard;
    if (his) ::inotify_rm_watch(inotify_.get(), orphan->first);
    orphan = his ? orphans_.erase(orphan) : std::next(orphan);
  }
}

void Watcher::read(const std::function<void(GuardId, const Change&)>& each) {
  const ssize_t got = ::read(inotify_.get(), buffer_.get(), kBufferBytes);
  if (got > 0) dispatch({buffer_.get(), static_cast<std::size_t>(got)}, each);
}

void Watcher::directory_event(std::uint32_t mask, std::string_view name, Interest& interest,
                              const std::function<void(GuardId, const Change&)>& each) {
  if ((mask & kSelf) != 0) return each(interest.guard, {Change::Kind::structure, How::unknown, -1});
  const bool hit = interest.pattern ? ::fnmatch(interest.name.c_str(), std::string(name).c_str(), FNM_PERIOD) == 0
                                    : name == interest.name;
  if (!hit) return;
  const How how = how_of(mask);
  if (interest.role == Role::member) return member_event(mask, interest, each);
  if (interest.role == Role::way) return each(interest.guard, {Change::Kind::structure, how, -1});
  if ((mask & (IN_MOVED_TO | IN_CLOSE_WRITE)) != 0) return each(interest.guard, {Change::Kind::finished, how, -1});
  if ((mask & IN_CREATE) != 0) return each(interest.guard, {Change::Kind::unfinished, how, -1});
  each(interest.guard, {Change::Kind::touched, how, -1});
}

// A rewrite neither comes nor goes. What went is told at the end of the buffer: it may be back by then.
void Watcher::member_event(std::uint32_t mask, Interest& interest,
                           const std::function<void(GuardId, const Change&)>& each) {
  if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    interest.present = false;
    gone_.emplace_back(interest.guard, interest.name);
    return;
  }
  if ((mask & (IN_CREATE | IN_MOVED_TO)) == 0 || std::exchange(interest.present, true)) return;
  each(interest.guard, {Change::Kind::structure, how_of(mask), -1});
}

// An exchange of ours ends with "moved from" the name and "moved to" the temporary one: the name is there.
void Watcher::take_back(const std::string& temporary, std::vector<Interest>& interests) {
  for (Interest& interest : interests) {
    if (interest.role != Role::member || interest.present || temporary_name(interest.name) != temporary) continue;
    interest.present = true;
    std::erase(gone_, std::pair(interest.guard, interest.name));
  }
}

void Watcher::inode_event(int watch, std::uint32_t mask, const std::function<void(GuardId, const Change&)>& each) {
  const auto inode = inodes_.find(watch);
  if ((mask & IN_IGNORED) != 0) {
    for (const GuardId guard : inode->second) inode_of_.erase(guard);
    inodes_.erase(inode);
    return;
  }
  const bool closed = (mask & IN_CLOSE_WRITE) != 0;
  const bool written = (mask & IN_MODIFY) != 0;
  const auto kind = closed ? Change::Kind::finished : written ? Change::Kind::unfinished : Change::Kind::touched;
  for (const GuardId guard : inode->second) each(guard, {kind, how_of(mask), -1});
}

void Watcher::dispatch(std::string_view bytes, const std::function<void(GuardId, const Change&)>& each) {
  decode_inotify(bytes, [&](const InotifyEvent& event) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) return each(kEveryGuard, {Change::Kind::structure, How::unknown, -1});
    if (const auto orphan = orphans_.find(event.watch); orphan != orphans_.end()) {
      if ((event.mask & (IN_CLOSE_WRITE | IN_IGNORED)) != 0) {
        each(orphan->second, {Change::Kind::orphan, How::written, event.watch});
      }
      return;
    }
    if (inodes_.contains(event.watch)) return inode_event(event.watch, event.mask, each);
    const auto found = directories_.find(event.watch);
    if (found == directories_.end()) return;  // an old number's late event
    for (Interest& interest : found->second) directory_event(event.mask, event.name, interest, each);
    const bool back = !gone_.empty() && (event.mask & IN_MOVED_TO) != 0 && event.name.starts_with('.');
    if (back) take_back(std::string(event.name), found->second);
    if ((event.mask & IN_IGNORED) == 0) return;
    for (const Interest& interest : found->second) lost_.insert(interest.guard);
    directories_.erase(found);
  });
  for (const auto& [guard, name] : std::exchange(gone_, {})) each(guard, {Change::Kind::structure, How::removed, -1});
}

}  // namespace rg
