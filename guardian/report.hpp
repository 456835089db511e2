// What a lane tells the main thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/reconcile/rollout.hpp"
#include "lib/reconcile/state.hpp"

namespace rg {

/// What one guard came to. Posted when something changed, and after every message that asked for a look.
struct Report {
  std::uint64_t generation = 0;
  std::uint64_t ticket = 0;  ///< of the last question (Rollout::Order) that reached the guard
  GuardStatus status;
  Rollout::Said said = Rollout::Said::unfinished;
  bool pause_ended = false;         ///< by itself
  bool failed = false;              ///< an attempt came to nothing: to be counted
  bool observed = false;            ///< a pass came to an end, whatever it said
  bool moved = false;               ///< the directories on the way are others than before
  std::vector<dev_t> file_systems;  ///< that its directories lie on; sorted
  std::vector<Event> events;
  std::string warning;  ///< for the log: a damaged state file, a watch that can't be had
};

}  // namespace rg
