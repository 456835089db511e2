// What runs on a lane's thread: it waits on inotify and messages, and passes over the guards that have to be looked at.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "guardian/keeper.hpp"
#include "guardian/lane.hpp"
#include "lib/tree/disk_files.hpp"
#include "lib/watch/watcher.hpp"

namespace rg {

/// How often it is looked where a watch can't be had.
inline constexpr std::chrono::seconds kDegradedLook{1};

/// The keeper's job that stores a guard's memory.
[[nodiscard]] std::string memory_job(const std::string& path);

class LaneLoop {
 public:
  static Result<std::unique_ptr<LaneLoop>> create(Lane& lane, const LaneWorld& world, DeadlineWatch& deadline);
  ~LaneLoop();
  LaneLoop(const LaneLoop&) = delete;
  LaneLoop& operator=(const LaneLoop&) = delete;
  void run();

  // What messages do.
  /// Takes up a policy: a new guard, or a new policy for the guard of that path, which goes on where it was. Then
  /// looks.
  struct Adoption {
    Policy policy;
    std::uint64_t generation = 0, ticket = 0;
    std::size_t order = 0;
    bool matched = false;  ///< by a glob: it is not made where it doesn't exist
    std::optional<WallTime> paused_until;
  };
  void adopt(Adoption adoption);
  /// Looks, reports with this ticket, and may write (again).
  void look(const std::string& path, std::uint64_t ticket);
  /// Looks and reports, as an answer to the last question.
  void report_again(const std::string& path);
  /// Looks, for the kernel says something else of an address.
  void ask_again(const std::string& path);
  /// Watches and learns, but writes nothing until the next look(): the reason says what it waits for.
  void hold_back(const std::string& path, const std::string& reason);
  /// Gives the guard up, after giving back what the last writer left where `restore` says so.
  void drop(const std::string& path, bool restore);
  void pause(const std::string& path, std::optional<WallTime> until);  ///< nullopt: resume
  /// Gives back what the last writer left; an error text, empty if all is well.
  std::string release(const Policy& policy);
  /// `on_exit` of a guard that has been waiting since the start: nobody has taken it up, and what an earlier guardian
  /// wrote stands there.
  void give_back_waiting(const Policy& policy);
  /// Looks at everything again and reports it.
  void look_at_all();
  /// Lists the files that match, reports them, and again whenever they change.
  void list(Lister lister);
  void unlist(const std::string& pattern);
  void take_over(std::unique_ptr<LaneGuard> guard);
  /// nullptr where it isn't there, or can't leave yet: a writer still has open what we took from him.
  std::unique_ptr<LaneGuard> hand_over(const std::string& path);

  /// The main thread, while this one is stuck at `path`.
  void give_up_others(const std::string& path, std::vector<std::unique_ptr<LaneGuard>>& guards,
                      std::vector<Lister>& listers);

 private:
  LaneLoop(Lane& lane, const LaneWorld& world, DeadlineWatch& deadline, Watcher watcher);
  bool listen(int fd, std::uint32_t events);
  [[nodiscard]] DeadlineWatch::At at(const Policy& policy) { return {deadline_, policy.path, policy.deadline}; }
  void take_messages();
  void wait_for_something();
  void take_events(int ready);
  void look_around();
  void take_changes();
  void take_change(LaneGuard& guard, const Change& change);
  void bury();
  void look_soon(LaneGuard& guard);  ///< walks afresh, and reports
  void give_back_all();
  // lane_pass.cpp
  void pass_over_due();
  void pass(LaneGuard& guard);
  bool ask_addresses(LaneGuard& guard);  ///< true: what it remembers is something else by that
  void settle_outcome(LaneGuard& guard, Outcome& outcome, Time begun);
  void note_mount(LaneGuard& guard);
  void note_events(LaneGuard& guard, const std::vector<Event>& events);
  static void note_failure(LaneGuard& guard, State state, const std::string& reason, Report& report);
  void post(LaneGuard& guard, Report report);
  void post(Report report);
  PassOptions options_for(LaneGuard& guard);
  // lane_watch.cpp
  void arm(LaneGuard& guard, Report& report);
  void keep_armed(LaneGuard& guard, Report& report);
  void note_place(LaneGuard& guard);
  void keep_open(LaneGuard& guard, Outcome& outcome);
  void keep_closed(LaneGuard& guard, TakenOut&& out);
  void let_go_closed(LaneGuard& guard);
  bool is_written_late(LaneGuard& guard);
  void look_at_orphans(LaneGuard& guard, Time now);
  void orphan_closed(LaneGuard& guard, int watch);
  // lane_messages.cpp
  void count_generation(std::uint64_t generation);
  LaneGuard& make_guard(const std::string& path);
  void begin(LaneGuard& guard);
  void give_back(LaneGuard& guard);
  void warn_not_given_back(const std::string& path, const std::string& why);
  void keep_memory(const LaneGuard& guard);
  void keep_memory_now(const LaneGuard& guard);
  void list_again(Lister& lister);
  void warn_of(Lister& lister, const std::string& what);
  LaneGuard* find(const std::string& path);

  Lane& lane_;
  const LaneWorld& world_;
  DeadlineWatch& deadline_;
  DiskFiles files_;
  Watcher watcher_;
  FileDescriptor mounts_, poll_;
  Keeper keeper_;
  Budget budget_;
  std::map<GuardId, std::unique_ptr<LaneGuard>> guards_;
  std::set<GuardId> busy_;  // those that are due, or have a time to be: ten thousand others cost a wake-up nothing
  std::map<GuardId, Lister> listers_;
  std::vector<std::unique_ptr<LaneGuard>> given_up_;  // their descriptors are this thread's to close
  std::map<std::string, GuardId> ids_;
  GuardId next_id_ = 0;
  Time next_look_{};
  std::uint64_t counted_ = 0;  // the newest generation whose number is stored
  bool mounts_changed_ = false;
  bool looked_slowly_ = false;  // only a timer woke it
};

}  // namespace rg
