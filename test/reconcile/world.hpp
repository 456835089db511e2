// One guard over the fake tree, with the policy that most tests use: 127.0.0.1 first, no comment.
#pragma once

#include <string>
#include <vector>

#include "lib/reconcile/pass.hpp"
#include "lib/store/sha256.hpp"
#include "test/policy/judging.hpp"
#include "test/support/fake_files.hpp"

namespace rg::test {

inline constexpr const char* kPath = "/etc/resolv.conf";
inline const std::string kOurs = "nameserver 127.0.0.1\n";

inline std::string theirs(const std::string& server) { return "nameserver " + server + "\n"; }
inline std::string restored(const std::string& server) { return kOurs + theirs(server); }

struct World {
  World() {
    guarded.policy.nameservers.first = servers({"127.0.0.1"});
    guarded.policy.comment = false;
    options.clock = [this] { return now; };
    options.now = [this] { return steady += std::chrono::microseconds{1}; };
    options.interface_exists = [](const std::string&) { return true; };
    options.intend = [this](const std::string& digest) { files.log.push_back("intend " + digest); };
    options.how = How::renamed;
  }
  World(const World&) = delete;

  Outcome pass() { return reconcile(guarded, files, options); }
  /// As the lane does when `settle` is over.
  Outcome forced() {
    options.force = true;
    Outcome outcome = pass();
    options.force = false;
    return outcome;
  }
  [[nodiscard]] std::string bytes() const { return files.bytes(kPath); }
  [[nodiscard]] std::size_t writes() const { return files.count("replace"); }
  [[nodiscard]] std::size_t at(const std::string& prefix) const {
    for (std::size_t i = 0; i < files.log.size(); ++i) {
      if (files.log[i].substr(0, prefix.size()) == prefix) return i;
    }
    return files.log.size();
  }
  [[nodiscard]] Texts last_good() const { return texts(guarded.memory.nameservers.values); }

  FakeFiles files;
  Guarded guarded;
  PassOptions options;
  WallTime now{};
  std::chrono::steady_clock::time_point steady{};
};

template <class Result>
bool is(const Outcome& outcome) {
  return std::holds_alternative<Result>(outcome.result);
}

/// Held for this reason.
inline bool held(const Outcome& outcome, State why) {
  const auto* one = std::get_if<Held>(&outcome.result);
  return one != nullptr && one->why == why;
}

inline std::vector<const Event*> events_of(const Outcome& outcome, Event::Kind kind) {
  std::vector<const Event*> events;
  for (const Event& event : outcome.events) {
    if (event.kind == kind) events.push_back(&event);
  }
  return events;
}

}  // namespace rg::test
