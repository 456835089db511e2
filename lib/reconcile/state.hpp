// The states of a guard and the events of its history, in the words that status and history use.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/policy/content.hpp"

namespace rg {

enum class State { holds, settling, restoring, waiting, contested, paused, observing, blocked, failed };
enum class Phase { updating, reconciling };

/// How a change came about, as far as events tell.
enum class How { start, renamed, written, removed, relinked, attributes, mounted, unknown };

struct Writer {
  std::string apparent;  ///< from the file's own header comment; the rest only where the kernel told us
  std::optional<int> pid;
  std::string comm, exe, unit;
};

/// One line of history.
struct Event {
  enum class Kind { rewrite, restore, would_restore, failure, state, reload };
  WallTime at{};
  Kind kind{};
  std::string path;
  std::uint64_t generation = 0;
  How how = How::unknown;
  Writer writer;
  std::vector<Violation> violations;
  std::optional<std::string> before, after;  ///< contents; nullopt: absent or not of this event
  std::string outcome;                       ///< one word: "restored", "failed", a State, ...
  std::string reason;
  std::int64_t took_us = 0;
};

/// What `status` says of one guard.
struct GuardStatus {
  std::string path;
  State state = State::waiting;
  WallTime since{};
  std::string reason;
  Lists read;  ///< as last read back from disk
  std::vector<SaidServer> servers;
  std::vector<DroppedServer> dropped;
  Source source = Source::policy;
  std::vector<Nameserver> learned;
  std::string learned_writer;
  std::optional<WallTime> learned_at;
  std::uint64_t rewrites = 0, restores = 0, failures = 0, attempt = 0;
  std::optional<std::int64_t> last_restore_us;
  std::optional<WallTime> paused_until;  ///< WallTime::max(): until `resume`
};

struct Status {
  std::string version;
  int pid = 0;
  WallTime started{};
  std::uint64_t generation = 0;
  Phase phase = Phase::updating;
  std::string config_path, config_sha256, config_error;
  std::vector<GuardStatus> guards;
};

}  // namespace rg
