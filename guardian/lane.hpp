// A lane: one thread that watches, judges and writes its guards inline, with no hop between an event and the write. The
// main thread never touches a guarded tree: it sends messages and gets reports.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "guardian/keeper.hpp"
#include "guardian/lane_guard.hpp"
#include "lib/reconcile/pass.hpp"
#include "lib/store/state_file.hpp"
#include "lib/tree/disk_files.hpp"
#include "lib/watch/watcher.hpp"

namespace rg {

/// What one guard came to. Posted when something changed, and after every message that asked for a look.
struct Report {
  std::uint64_t generation = 0;
  GuardStatus status;
  bool verified = false;  ///< read back from disk and judged to hold, in this pass
  bool observed = false;  ///< a pass came to an end, whatever it said
  bool moved = false;     ///< the directories on the way are others than before
  std::vector<Event> events;
  std::string warning;  ///< for the log: a damaged state file, a watch that can't be had
};

class Lane {
 public:
  struct Setup {
    std::unique_ptr<Files> files;
    StateDirectory state;
    std::function<void(Report)> report;  ///< called on the lane's thread
    std::function<void()> ended;         ///< the same; nothing is written after it
  };
  static Result<std::unique_ptr<Lane>> create(Setup setup);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Messages: any thread. They are carried out in their order.
  /// Takes up a policy: a new guard, or a new policy for the guard of that path, which goes on where it was.
  void adopt(Policy policy, std::uint64_t generation, std::size_t order, std::optional<WallTime> paused_until);
  /// Gives the guard up, after giving back what the last writer left where `give_back` says so.
  void drop(const std::string& path, bool give_back);
  void pause(const std::string& path, std::optional<WallTime> until);  ///< nullopt: resume
  /// Gives back what the last writer left, then `done` (on the lane's thread) with an error text, empty if all is well.
  void release(Policy policy, std::function<void(std::string)> done);
  /// Looks at everything again and reports it.
  void look();
  /// `on_exit` of every guard, then the end of the thread.
  void stop();
  /// A guard that it has been at for longer than the guard's deadline: that one's file system doesn't answer, and none
  /// of the lane's guards is looked at until it does. Any thread may ask.
  struct Stuck {
    std::string path;
    WallTime since;
  };
  [[nodiscard]] std::optional<Stuck> stuck() const;

 private:
  /// While it is at a guard's tree.
  class At {
   public:
    At(Lane& lane, const LaneGuard& guard);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    Lane& lane_;
  };
  explicit Lane(Setup setup, Watcher watcher, FileDescriptor wake, FileDescriptor mounts);
  bool listen(int fd, std::uint32_t events);
  void send(std::function<void()> message);
  void run();
  void wait_for_something();
  void take_messages();
  void take_changes();
  void take_change(LaneGuard& guard, const Change& change);
  void pass_over_due();
  void pass(LaneGuard& guard);
  void settle_outcome(LaneGuard& guard, Outcome& outcome, Time begun);
  static void note_failure(LaneGuard& guard, State state, const std::string& reason, Report& report);
  void arm(LaneGuard& guard, Report& report);
  void keep_open(LaneGuard& guard, Outcome& outcome);
  void orphan_closed(LaneGuard& guard, int watch);
  void post(LaneGuard& guard, Report report);
  void adopt_now(Policy policy, std::uint64_t generation, std::size_t order, std::optional<WallTime> paused_until);
  void release_now(LaneGuard& guard, const std::function<void(std::string)>& done);
  void give_back(LaneGuard& guard);
  void drop_now(const std::string& path, bool restore);
  PassOptions options_for(LaneGuard& guard);
  std::string taken_by_another(const LaneGuard& guard, const Seen& seen) const;
  LaneGuard* find(const std::string& path);

  Setup setup_;
  Watcher watcher_;
  FileDescriptor wake_, mounts_, poll_;
  Keeper keeper_;
  Budget budget_;
  std::map<GuardId, std::unique_ptr<LaneGuard>> guards_;
  GuardId next_id_ = 0;
  Time next_look_{};
  bool stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<std::function<void()>> messages_;
  std::string at_;           // the guard that it is at; empty: none
  Time at_since_, at_most_;  // since when, and when its deadline is over
  std::thread thread_;
};

}  // namespace rg
