#include "guardian/command_events.hpp"

#include <chrono>
#include <utility>

#include "lib/report/words.hpp"

namespace rg {
namespace {

Event event_of(const std::string& path, std::string outcome, std::string reason) {
  Event event;
  event.at = std::chrono::system_clock::now();
  event.kind = Event::Kind::state;
  event.path = path;
  event.outcome = std::move(outcome);
  event.reason = std::move(reason);
  return event;
}

}  // namespace

Event paused_event(const std::string& path, WallTime until) {
  const std::string end = until == WallTime::max() ? "it is resumed" : rfc3339(until);
  return event_of(path, std::string(word(State::paused)), "by command, until " + end);
}

Event resumed_event(const std::string& path) { return event_of(path, "resumed", "by command"); }

Event released_event(const std::string& path) {
  return event_of(path, "released", "by command: what the last writer left stands there, paused until it is resumed");
}

}  // namespace rg
