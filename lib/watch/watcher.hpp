// Watches the names that guards depend on, and says which guard has to look and why. Events are hints: nothing here
// judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lib/reconcile/state.hpp"
#include "lib/result.hpp"
#include "lib/tree/walk.hpp"

namespace rg {

using GuardId = std::size_t;
inline constexpr GuardId kEveryGuard = static_cast<GuardId>(-1);  ///< the queue overflowed: look at everything

/// What an event means for one guard.
struct Change {
  enum class Kind {
    finished,    ///< the final name: renamed in, or closed after writing
    unfinished,  ///< the final name or its inode: made, or written and not closed yet
    touched,     ///< the final name: gone, moved, or its attributes changed. Look
    structure,   ///< a directory or a link on the way, an upstream file, an overflow. Walk afresh
    orphan,      ///< the writer of what came out of an exchange closed it
  };
  Kind kind = Kind::structure;
  How how = How::unknown;
  int watch = -1;  ///< kind orphan
};

class Watcher {
 public:
  static Result<Watcher> create();

  [[nodiscard]] int descriptor() const { return inotify_.get(); }

  /// Watches every directory of these chains for this guard, instead of what it watched before. Look again after it:
  /// what happened before the watch was there gives no event. An Error (ENOSPC, ENOMEM): some of it isn't watched.
  Result<void> watch(GuardId guard, const Chain& chain, const std::vector<Chain>& others);
  /// The same for what a glob's listing looked into, chain by chain: begin, add, end. What no chain names any more
  /// isn't watched after the end. Events come of names that appear or go, not of rewrites of what is there.
  void begin_watch(GuardId guard);
  Result<void> add_watch(GuardId guard, const Chain& chain) { return add(guard, chain, Role::member); }
  void end_watch(GuardId guard);
  /// Watches the inode of an open file too: truncate(2), chmod(2), writes through another name.
  Result<void> watch_inode(GuardId guard, int fd);
  /// Watches a file without a name until its writer closes it: Change::orphan with the number that this returns.
  Result<int> watch_orphan(GuardId guard, int fd);
  void forget_orphan(int watch);
  void forget(GuardId guard);
  /// A directory that was watched for this guard is gone (or its file system is): watch() must be called again even if
  /// a walk finds the same chain, for ext4 gives a new directory the number of the old one.
  [[nodiscard]] bool lost(GuardId guard) const { return lost_.contains(guard); }

  /// Reads one buffer of events and calls `each` for every guard that one of them concerns. Bounded: never drains until
  /// empty. Events of other names cost a comparison.
  void read(const std::function<void(GuardId, const Change&)>& each);

 private:
  enum class Role { way, target, member };
  struct Interest {
    GuardId guard;
    std::string name;
    Role role;
    bool pattern;
    bool present;  // role member: whether the name is there
    friend bool operator==(const Interest&, const Interest&) = default;
  };
  static constexpr std::size_t kBufferBytes = 65536;
  explicit Watcher(FileDescriptor inotify) : inotify_(std::move(inotify)) {}
  Result<void> add(GuardId guard, const Chain& chain, Role of_last);
  void unwatch_inode(GuardId guard);
  void inode_event(int watch, std::uint32_t mask, const std::function<void(GuardId, const Change&)>& each);
  void dispatch(std::string_view bytes, const std::function<void(GuardId, const Change&)>& each);
  void directory_event(std::uint32_t mask, std::string_view name, Interest& interest,
                       const std::function<void(GuardId, const Change&)>& each);
  void member_event(std::uint32_t mask, Interest& interest, const std::function<void(GuardId, const Change&)>& each);
  void take_back(const std::string& temporary, std::vector<Interest>& interests);

  FileDescriptor inotify_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  std::unordered_map<int, std::vector<Interest>> directories_;
  std::unordered_map<int, std::vector<GuardId>> inodes_;  // hard links: one inode may be the file of several guards
  std::unordered_map<int, GuardId> orphans_;
  std::unordered_map<GuardId, int> inode_of_;
  std::unordered_map<GuardId, std::set<int>> watched_;  // directories of each guard
  std::unordered_map<GuardId, std::set<int>> former_;   // between begin_watch() and end_watch()
  std::unordered_set<GuardId> lost_;
  std::vector<std::pair<GuardId, std::string>> gone_;  // members that went, as far as this buffer of events tells
};

}  // namespace rg
