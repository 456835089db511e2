#include "guardian/offline.hpp"

#include <net/if.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstdlib>

namespace rg {

bool interface_exists(const std::string& zone) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(zone.c_str(), &end, 10);
  std::array<char, IF_NAMESIZE> name{};
  if (!zone.empty() && *end == '\0') return ::if_indextoname(static_cast<unsigned>(number), name.data()) != nullptr;
  return ::if_nametoindex(zone.c_str()) != 0;
}

void heed_machine(Memory& memory, Files& files) {
  std::string id = files.observe("/etc/machine-id").bytes.substr(0, 64);
  while (!id.empty() && (id.back() == '\n' || id.back() == ' ')) id.pop_back();
  if (memory.machine_id != id) {
    // An image that was cloned with our state knows nothing of the network it wakes up in.
    memory.nameservers = {};
    memory.search = {};
    memory.options = {};
  }
  memory.machine_id = id;
}

Offline::Offline(SharedDescriptor root, std::string state_dir)
    : files_(std::make_unique<DiskFiles>(root, selinux_enabled())), locks_(root), state_(std::move(state_dir)) {}

Result<Offline> Offline::open(const std::string& root, const std::string& state_dir) {
  auto opened = open_root(root);
  if (!opened) return opened.error();
  return Offline(*opened, state_dir);
}

void Offline::load(const Policy& policy) {
  guarded_ = Guarded{};
  guarded_.policy = policy;
  guarded_.memory = state_.load_memory(policy.path).value;
  heed_machine(guarded_.memory, *files_);
  forget_denied(guarded_.memory, policy);
}

PassOptions Offline::options() {
  PassOptions options;
  options.how = How::start;
  options.clock = [] { return std::chrono::system_clock::now(); };
  options.interface_exists = interface_exists;
  options.intend = [this](const std::string& digest) { (void)state_.save_intent(guarded_.policy.path, digest); };
  return options;
}

Outcome Offline::bring_to_hold(const Policy& policy, bool paused) {
  using Clock = std::chrono::steady_clock;
  load(policy);
  PassOptions pass = options();
  pass.gate = [&](const Decision& decision) -> std::optional<Held> {
    if (paused) return Held{State::paused, "paused: it drifts and is left so"};
    if (!policy.enforce) return Held{State::observing, "enforce = false: it drifts and is left so"};
    (void)decision;
    return std::nullopt;
  };
  take_in_leftover(guarded_, *files_, pass);
  const auto begun = Clock::now();
  Outcome outcome = reconcile(guarded_, *files_, pass);
  std::vector<Event> events = std::move(outcome.events);
  const auto unfinished = [&] {
    const auto* held = std::get_if<Held>(&outcome.result);
    return std::holds_alternative<Overtaken>(outcome.result) || (held != nullptr && held->why == State::settling);
  };
  while (unfinished() && Clock::now() - begun < policy.deadline) {
    (void)::poll(nullptr, 0, 10);  // the writer is given time; without a watch there is nothing else to wait for
    pass.force = Clock::now() - begun >= policy.settle;
    outcome = reconcile(guarded_, *files_, pass);
    for (Event& event : outcome.events) events.push_back(std::move(event));
  }
  outcome.events = std::move(events);
  if (outcome.holds() && guarded_.seen.chain.complete) make_durable(guarded_.seen.target());
  (void)state_.save_memory(policy.path, guarded_.memory);
  return outcome;
}

Decision Offline::look(const Policy& policy) {
  load(policy);
  return look_and_decide(guarded_, *files_, options());
}

Result<Released> Offline::release(const Policy& policy) {
  load(policy);
  auto released = rg::release(guarded_, *files_);
  if (auto saved = state_.save_memory(policy.path, guarded_.memory); !saved && released) return saved.error();
  return released;
}

}  // namespace rg
