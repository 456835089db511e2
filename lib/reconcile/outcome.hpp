// What one pass came to. Success can't be spelled without the judgement of what was read back.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/policy/decide.hpp"
#include "lib/reconcile/state.hpp"
#include "lib/tree/files.hpp"

namespace rg {

class Pass;

/// Proof that a guarded file was read back from disk and judged to hold. Only Pass makes one.
class Verified {
 private:
  Verified() = default;
  friend class Pass;
};

struct Unchanged {
  Verified verified;
};
struct Restored {
  Verified verified;
};
/// A drift that isn't to be restored now: why, as a state (settling, contested, paused, observing).
struct Held {
  State why{};
  std::string reason;
};
/// Writers were faster than us, again and again: more events are on their way.
struct Overtaken {};
/// The state is `blocked`; the reason says what to do.
struct Refused {
  std::string reason;
};
struct Failed {
  std::string reason;
};
/// Cancelled, or too late to count.
struct Interrupted {
  std::string reason;
};

/// What came out of an exchange, and what stood in it then.
struct TakenOut {
  SharedDescriptor file;
  std::string bytes;
};

struct Outcome {
  std::variant<Unchanged, Restored, Held, Overtaken, Refused, Failed, Interrupted> result = Overtaken{};
  Decision decision;          ///< the last one
  std::vector<Event> events;  ///< what the history gets; `generation` is not filled in
  bool memory_changed = false;
  std::vector<TakenOut> still_open;  ///< their writers have them open
  std::optional<TakenOut> closed;    ///< the last one: who had found its name just before the exchange may open it yet

  [[nodiscard]] bool holds() const {
    return std::holds_alternative<Unchanged>(result) || std::holds_alternative<Restored>(result);
  }
};

}  // namespace rg
