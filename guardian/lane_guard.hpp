// One guard in its lane: what it remembers between events, its timers and its state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/reconcile/pace.hpp"
#include "lib/reconcile/pass.hpp"
#include "lib/watch/watcher.hpp"

namespace rg {

struct LaneGuard {
  LaneGuard(GuardId id_, std::uint64_t seed) : id(id_), pace(seed) {}

  // Whose it is.
  GuardId id;
  std::size_t order = 0;
  std::uint64_t generation = 0;
  std::uint64_t ticket = 0;  ///< of the last question that reached it
  bool matched = false;      ///< by a glob: it is not made where it doesn't exist
  std::string held_back;     ///< why it must write nothing now; empty: it may
  std::string unresolved;    ///< why an address that it names isn't known; empty: all are
  Guarded guarded;

  // Why it must look, since the last pass.
  bool due = true;
  bool structure = true;  ///< walk afresh
  bool must_report = true;
  bool sure = false;    ///< the newest event of the final name says that a write is finished
  bool forced = false;  ///< the settle time is over
  How how = How::start;
  std::optional<Time> unfinished_since;
  std::optional<Time> held_since;   ///< settling since: closing it again and again prolongs nothing
  bool skip_until_settled = false;  ///< a look found it unfinished, and no event has said otherwise
  Time last_change{};

  // When it must look without an event.
  std::optional<Time> settle_at, fight_at, pause_ends;
  std::optional<Time> begun_at;  ///< a writer has begun: when to look, if he isn't through by then
  bool pause_ended = false;      ///< since the last report

  Pace pace;
  bool was_refused = false;
  bool from_upstream = false;  ///< the servers behind ours came from upstream when it held, and no writer came since

  // What came out of exchanges and is still open: watch number -> the file, and which document it belongs to.
  struct Orphan {
    TakenOut out;
    std::uint64_t document = 0;
    bool through_link = false;  ///< a link led to it: what not everyone may read is nobody's document
    Time again{};               ///< when it is asked without an event whether it is still open
    std::chrono::milliseconds wait{0};
  };
  std::map<int, Orphan> orphans;
  // What came out last and was closed: a writer who had found it by its name just before may open it yet.
  struct Closed {
    Orphan orphan;
    int watch = -1;
    Time until{};
  };
  std::optional<Closed> closed;
  std::uint64_t documents = 0;  ///< counts the writers' documents

  // What is watched now.
  Chain armed;
  std::vector<Chain> armed_others;
  std::vector<dev_t> file_systems;  ///< that its directories lie on; sorted
  bool mounted = false;             ///< the file itself is a mount point
  bool degraded = false;            ///< some watch of it can't be had: it is looked at often

  GuardStatus status;
  std::string last_failure, last_writer;
  std::string fight;         ///< the key of the drift that the gate judged in this pass
  std::string failed_drift;  ///< of the attempt that failed last: it waits for the next question, whatever event comes

  /// All of it that doesn't belong to one thread's descriptor table: it goes to another lane, and looks at everything.
  [[nodiscard]] std::unique_ptr<LaneGuard> without_descriptors() const;
  /// What must hold is something else: no fight goes on over it, and what failed is tried.
  void forget_drift();
  /// Notes what an event says.
  void note(const Change& change, Time now);
  /// It must look, now or at a time.
  [[nodiscard]] bool is_busy() const { return due || degraded || next_time(); }
  /// The earliest time at which it must look without an event.
  [[nodiscard]] std::optional<Time> next_time() const;
  /// Timers that are over make it due.
  void tick(Time now);
  /// nullopt: no pause; WallTime::max(): until `resume`.
  void pause(std::optional<WallTime> until, Time now, WallTime wall);
  /// True when the state or its reason is another than before.
  bool set_state(State state, const std::string& reason, WallTime now);
  /// The lists, servers and sources of a decision, as status tells them.
  void describe(const Decision& decision);
};

/// A glob in its lane: the files that match it.
struct Lister {
  Policy policy;  ///< its path is the pattern
  std::uint64_t generation = 0, ticket = 0;
  std::size_t order = 0;
  bool due = true;
  bool must_report = true;
  Time not_before{};
  std::vector<std::string> matches;  ///< as last reported
  std::string warned;                ///< of what the log was told last
};

/// Names a fight: the same violations and the same learned lists.
[[nodiscard]] std::string fight_key(const Decision& decision);

}  // namespace rg
