#include "guardian/offline.hpp"

#include <poll.h>

#include <chrono>
#include <set>

#include "guardian/machine.hpp"
#include "lib/config/values.hpp"
#include "lib/reconcile/surroundings.hpp"
#include "lib/report/reasons.hpp"

namespace rg {

Offline::Offline(SharedDescriptor root, std::string state_dir)
    : files_(std::make_unique<DiskFiles>(root, selinux_enabled())),
      root_(std::move(root)),
      state_(std::move(state_dir)) {}

Result<Offline> Offline::open(const std::string& root, const std::string& state_dir) {
  auto opened = open_root(root);
  if (!opened) return opened.error();
  return Offline(*opened, state_dir);
}

Result<void> Offline::lock(const std::vector<Policy>& guards) {
  auto locks = lock_all(root_, guards);
  if (!locks) return locks.error();
  locks_ = std::move(*locks);
  return {};
}

Result<std::vector<FilePolicy>> Offline::files(const std::vector<Policy>& guards) {
  std::set<std::string> explicit_paths;
  for (const Policy& policy : guards) explicit_paths.insert(comparable_path(policy.path));
  std::vector<FilePolicy> all;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    if (!has_glob(guards[i].path)) all.push_back({guards[i], i});
    if (!has_glob(guards[i].path)) continue;
    const GlobMatch match = files_->expand(guards[i].path, [](const Chain&) {});
    if (match.error != 0) return Error{match.error, "list", guards[i].path};
    for (const std::string& path : match.paths) {
      if (!explicit_paths.insert(path).second) continue;  // an explicit path beats a glob, the first glob a later one
      all.push_back({guards[i], i});
      all.back().policy.path = path;
    }
  }
  return all;
}

void Offline::load(const Policy& policy, StateDirectory::Access access) {
  warnings_.clear();
  guarded_ = Guarded{};
  guarded_.policy = policy;
  auto loaded = StateDirectory(state_.path(), access).load_memory(policy.path);
  guarded_.memory = std::move(loaded.value);
  if (!loaded.warning.empty()) warnings_.push_back(std::move(loaded.warning));
  heed_machine(guarded_.memory, *files_);
  forget_denied(guarded_.memory, policy);
  note_source_addresses(guarded_.memory, policy.nameservers);
}

PassOptions Offline::options() {
  PassOptions options;
  options.how = How::start;
  options.clock = [] { return std::chrono::system_clock::now(); };
  options.now = std::chrono::steady_clock::now;
  options.interface_exists = interface_exists;
  options.taken = [this](const Seen& seen) { return taken_by_another(seen); };
  options.intend = [this](const std::string& digest) { (void)state_.save_intent(guarded_.policy.path, digest); };
  return options;
}

Outcome Offline::bring_to_hold(const Policy& policy, bool paused) {
  using Clock = std::chrono::steady_clock;
  load(policy, StateDirectory::Access::full);
  PassOptions pass = options();
  pass.gate = [&](const Decision& decision) -> std::optional<Held> {
    if (paused) return Held{State::paused, paused_reason()};
    if (!policy.enforce) return Held{State::observing, observing_reason()};
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
  save();
  warn_of_mount();
  take(guarded_.seen);
  return outcome;
}

Decision Offline::look(const Policy& policy) {
  load(policy, StateDirectory::Access::read_only);
  Decision decision = look_and_decide(guarded_, *files_, options());
  if (std::string taken = taken_by_another(guarded_.seen); !taken.empty()) {
    decision.kind = Decision::Kind::refuse;
    decision.refusal = std::move(taken);
  }
  warn_of_refusal(decision);
  warn_of_mount();
  const bool no_upstream = !policy.upstream.empty() && !guarded_.upstream_read;
  if (no_upstream) warnings_.push_back(no_upstream_reason(policy.upstream, has_glob));
  take(guarded_.seen);
  return decision;
}

void Offline::warn_of_refusal(const Decision& decision) {
  if (decision.kind != Decision::Kind::rewrite) return;
  const std::string refusal = files_->foreseen_refusal(replacement_for(guarded_, decision));
  if (!refusal.empty()) warnings_.push_back("blocked: " + refusal);
}

void Offline::warn_of_mount() {
  const Seen& seen = guarded_.seen;
  if (seen.kind == NodeKind::file && is_mount_point(seen.target())) warnings_.push_back(single_file_reason());
}

void Offline::save() {
  if (auto saved = state_.save_memory(guarded_.policy.path, guarded_.memory); !saved) {
    warnings_.push_back("what was learned can't be kept: " + saved.error().text());
  }
}

// As in a lane: the earlier guard in the configuration has the target.
std::string Offline::taken_by_another(const Seen& seen) const {
  if (!seen.chain.complete) return {};
  const Step& mine = seen.chain.steps.back();
  for (const auto& [guard, theirs] : targets_) {
    if (guard != guarded_.policy.path && same_name(theirs, mine)) return same_file_reason(guard);
  }
  return {};
}

void Offline::take(const Seen& seen) {
  if (!seen.chain.complete) return;
  targets_.push_back({guarded_.policy.path, seen.chain.steps.back()});
  targets_.back().step.place.directory.reset();  // one descriptor a guard would be too many
}

Result<Released> Offline::release(const Policy& policy) {
  load(policy, StateDirectory::Access::full);
  auto released = rg::release(guarded_, *files_);
  if (auto saved = state_.save_memory(policy.path, guarded_.memory); !saved && released) return saved.error();
  return released;
}

}  // namespace rg
