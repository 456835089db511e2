// What `status`, `history` and the log print. Pure: values to text.
#pragma once

#include <string>

#include "lib/reconcile/state.hpp"

namespace rg {

/// One JSON object (status --json), without a line end.
[[nodiscard]] std::string status_json(const Status& status);
/// The reverse; nullopt when `json` is not such an object. What the command line reads from the running guardian.
[[nodiscard]] std::optional<Status> parse_status(std::string_view json);
/// For people: the guardian in a line, then a few lines a guard.
[[nodiscard]] std::string status_text(const Status& status);
/// STATUS= for sd_notify: "holds: 2 of 2", or which guards don't hold and why. One line.
[[nodiscard]] std::string status_line(const Status& status);

[[nodiscard]] bool all_hold(const Status& status);

/// One JSON object, without a line end (history --json, and the journal's own form).
[[nodiscard]] std::string event_json(const Event& event);
[[nodiscard]] std::optional<Event> parse_event(std::string_view json);
/// One line for people and for the log: printable ASCII without its time (rfc3339(event.at)), which each of them has.
[[nodiscard]] std::string event_text(const Event& event);
/// The unified diff of an event's before and after; empty where one is missing. For people: control characters as \xNN.
[[nodiscard]] std::string event_diff(const Event& event);

}  // namespace rg
