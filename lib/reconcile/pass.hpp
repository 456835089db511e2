// One pass over one guarded path: look, decide, replace, look, decide.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/reconcile/outcome.hpp"

namespace rg {

/// A write that failed: in place it may have left the new bytes at the front and the old ones behind them.
struct HalfWritten {
  std::string before, wanted;
};

/// What a guard keeps from pass to pass.
struct Guarded {
  Policy policy;
  Memory memory;
  std::optional<std::string> written;      ///< the bytes of our last write, where they are known
  std::optional<HalfWritten> half;         ///< our last write, where it failed
  Seen seen;                               ///< the last look
  std::optional<std::string> left;         ///< what the writer has left, where he appended to what we had written
  std::optional<std::string> appended_to;  ///< the document before that
  std::optional<std::string> known;        ///< the content that the last look found; nullopt: none, or not looked yet
  bool looked = false;
  bool was_there = false;                             ///< the last look found a file
  std::vector<Chain> other_chains;                    ///< of upstream files and of link_to's target: to be watched too
  std::optional<std::string> would_restore;           ///< what an observing guard recorded last
  std::map<std::string, std::string> upstream_bytes;  ///< as last read when nobody had them open for writing
  bool upstream_read = false;                         ///< the last look could read one of the upstream files
};

struct PassOptions {
  bool quick = false;        ///< only the final name had an event and its directory is held
  bool finished = true;      ///< no event says that a writer is in the middle of his work
  bool sure = false;         ///< an event since the last pass says that its writer is through: judged at once
  bool force = false;        ///< `settle` is over: judge it as it stands
  bool was_refused = false;  ///< the last attempt was: look for what still refuses before trying
  How how = How::unknown;
  std::function<WallTime()> clock;
  std::function<std::chrono::steady_clock::time_point()> now;  ///< how long a restore took
  std::function<bool(const std::string& zone)> interface_exists;
  /// Asked before each write: why none may begin any more (the deadline has passed, the program stops); empty: it may.
  std::function<std::string()> interrupted;
  /// Asked once, before the first write: Held, where it must wait.
  std::function<std::optional<Held>(const Decision&)> gate;
  /// Stores the digest of bytes that are filled in from memory or fallback, before they become visible.
  std::function<void(const std::string& digest)> intend;
  /// A reason beginning with same-file, where another guard has this target.
  std::function<std::string(const Seen&)> taken;
};

[[nodiscard]] Outcome reconcile(Guarded& guarded, Files& files, const PassOptions& options);

/// Looks and decides, changes nothing: what `check` prints.
[[nodiscard]] Decision look_and_decide(Guarded& guarded, Files& files, const PassOptions& options);

/// What a writer went on writing into a file that came out of an exchange with `before` in it: it becomes the document.
void learn_late(Guarded& guarded, std::string_view before, std::string_view bytes);

/// A temporary file that a killed guardian left: learned from if it is the newest writer's document, then removed.
void take_in_leftover(Guarded& guarded, Files& files, const PassOptions& options);

enum class Released { given_back, nothing };
/// Puts back what the last writer left: link or file, bytes, mode, label. Nothing to do where the writer's own stands.
[[nodiscard]] Result<Released> release(Guarded& guarded, Files& files);

}  // namespace rg
