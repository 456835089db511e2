// One guard's pass in its lane: when it may write, and what its outcome means.
#include <algorithm>
#include <chrono>

#include "guardian/lane_loop.hpp"
#include "guardian/machine.hpp"
#include "lib/report/knobs.hpp"
#include "lib/report/reasons.hpp"
#include "lib/report/words.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr milliseconds kMostCounted{50};
// An fsync makes the whole file system commit, and writers wait for it: not while they are at it.
constexpr milliseconds kDurableQuiet{1000}, kDurableMost{30000};

// networkd has no server for some 30 ms at each reconfigure: what it said before stands that long.
bool waits_for_upstream(const LaneGuard& guard, const Decision& decision) {
  const Guarded& guarded = guard.guarded;
  const bool lost = guard.from_upstream && decision.content.source != Source::upstream;
  return lost && !guard.forced && guarded.seen.kind == NodeKind::file && guarded.known == guarded.seen.bytes;
}

// What may write now, and when. Fights alone are delayed; content that changes nothing for a resolver waits for quiet.
std::optional<Held> gate(LaneGuard& guard, const Decision& decision) {
  const Policy& policy = guard.guarded.policy;
  const Time now = Clock::now();
  const Seen& seen = guard.guarded.seen;
  if (guard.matched && seen.kind == NodeKind::absent && !seen.linked()) return Held{State::settling, vanished_reason()};
  if (!guard.held_back.empty()) return Held{State::waiting, guard.held_back};
  if (!guard.unresolved.empty()) return Held{State::waiting, guard.unresolved};
  if (guard.status.paused_until) return Held{State::paused, paused_reason()};
  if (!policy.enforce) return Held{State::observing, observing_reason()};
  if (decision.kind_alone && !guard.forced && now - guard.last_change < policy.settle) {
    guard.settle_at = guard.last_change + policy.settle;
    return Held{State::settling, "the kind of file alone is wrong: it waits for quiet"};
  }
  if (waits_for_upstream(guard, decision)) return Held{State::settling, upstream_lost_reason()};
  guard.fight = fight_key(decision);
  // A write in place that fails is an event itself: it must not be the reason for the next one.
  if (guard.fight == guard.failed_drift) return Held{State::failed, guard.last_failure};
  const Time due = guard.pace.due(guard.fight, now);
  if (due <= now) return std::nullopt;
  guard.fight_at = due;
  return Held{State::contested, contested_reason(guard.last_writer)};
}

bool is_worth_an_event(State before, State after) {
  const auto notable = [](State s) {
    return s == State::blocked || s == State::contested || s == State::failed || s == State::paused ||
           s == State::observing;
  };
  return before != after &&
         (notable(after) || (after == State::holds && (notable(before) || before == State::waiting)));
}

}  // namespace

PassOptions LaneLoop::options_for(LaneGuard& guard) {
  PassOptions options;
  const bool held = !guard.armed.steps.empty() && guard.armed.steps.back().place.directory;
  options.quick = !guard.structure && (held || guard.armed.linked());
  options.finished = !guard.unfinished_since;
  options.sure = guard.sure;
  options.force = guard.forced;
  options.was_refused = guard.was_refused;
  options.how = guard.how;
  options.clock = [] { return std::chrono::system_clock::now(); };
  options.now = Clock::now;
  options.interface_exists = interface_exists;
  options.gate = [&guard](const Decision& decision) { return gate(guard, decision); };
  options.intend = [this, &guard](const std::string& digest) {
    world_.stored(world_.state.save_intent(guard.guarded.policy.path, digest));
  };
  options.taken = [this, &guard](const Seen& seen) {
    const std::string other = world_.targets->earlier(guard.guarded.policy.path, guard.order, seen.chain);
    return other.empty() ? other : same_file_reason(other);
  };
  options.interrupted = [this, until = Clock::now() + guard.guarded.policy.deadline]() -> std::string {
    if (lane_.is_stopping()) return stopping_reason();
    return Clock::now() > until ? late_reason() : std::string{};
  };
  return options;
}

void LaneLoop::pass_over_due() {
  for (auto id = busy_.begin(); id != busy_.end();) {
    LaneGuard& guard = *guards_.at(*id);
    if (guard.due && budget_.wait(Clock::now()).count() > 0) return;  // it stays due
    if (guard.due) pass(guard);  // while it is stuck in there, others may be taken from the lane
    id = guard.is_busy() ? std::next(id) : busy_.erase(id);
  }
  bury();
  for (auto& [id, lister] : listers_) {
    if (lister.due && lister.not_before <= Clock::now()) list_again(lister);
  }
}

void LaneLoop::pass(LaneGuard& guard) {
  const Time begun = Clock::now();
  guard.due = false;
  guard.settle_at.reset();
  guard.begun_at.reset();
  guard.fight.clear();
  const auto here = at(guard.guarded.policy);
  if (ask_addresses(guard)) keep_memory_now(guard);
  Outcome outcome = reconcile(guard.guarded, files_, options_for(guard));
  settle_outcome(guard, outcome, begun);
  // A disk that lets us wait takes no CPU: of a long pass only so much counts.
  budget_.spent(std::min<std::chrono::nanoseconds>(Clock::now() - begun, kMostCounted), Clock::now());
}

// What the kernel says of each source-address-of, before anything is judged by it. Where it says nothing, what it said
// last tells what isn't the writer's, and nothing is written.
bool LaneLoop::ask_addresses(LaneGuard& guard) {
  Guarded& guarded = guard.guarded;
  if (!guarded.policy.nameservers.written) return false;
  const Resolved resolved = world_.addresses->resolve(guarded.policy);
  guard.unresolved = resolved.problem ? unresolved_reason(*resolved.problem) : std::string{};
  if (resolved.changed) guard.forget_drift();
  const bool forgot = resolved.changed && forget_denied(guarded.memory, guarded.policy);
  return note_source_addresses(guarded.memory, guarded.policy.nameservers) || forgot;
}

// The state that an outcome means, and when to look again.
struct Verdict {
  State state{};
  std::string reason;
};

static Verdict verdict_of(LaneGuard& guard, const Outcome& outcome, Time now) {
  const milliseconds settle = guard.guarded.policy.settle;
  const auto* held = std::get_if<Held>(&outcome.result);
  const bool settling = held != nullptr && held->why == State::settling;
  if (!settling) guard.held_since.reset();
  if (held != nullptr) {
    if (settling && !outcome.decision.kind_alone) {
      if (!guard.held_since) guard.held_since = guard.unfinished_since.value_or(now);
      if (!guard.unfinished_since) guard.unfinished_since = guard.held_since;
      guard.settle_at = *guard.held_since + settle;
      guard.skip_until_settled = true;
    }
    return {held->why, held->reason};
  }
  if (const auto* refused = std::get_if<Refused>(&outcome.result)) return {State::blocked, refused->reason};
  const auto* failed = std::get_if<Failed>(&outcome.result);
  const auto* interrupted = std::get_if<Interrupted>(&outcome.result);
  if (failed != nullptr || interrupted != nullptr) {
    return {State::failed, failed != nullptr ? failed->reason : interrupted->reason};
  }
  if (!outcome.holds()) {  // Overtaken
    guard.due = guard.structure = true;
    return {State::restoring, "writers are faster: going again"};
  }
  guard.fight_at.reset();
  if (guard.unfinished_since) guard.settle_at = *guard.unfinished_since + settle;
  const Content& content = outcome.decision.content;
  const bool nothing_known = content.source == Source::policy && !guard.guarded.policy.nameservers.only;
  std::string reason = nothing_known ? "no other nameserver is known" : "";
  const auto add = [&](const std::string& more) { reason += (reason.empty() ? "" : "; ") + more; };
  if (guard.mounted) add(single_file_reason());
  const auto& upstream = guard.guarded.policy.upstream;
  if (!upstream.empty() && !guard.guarded.upstream_read) add(no_upstream_reason(upstream, has_glob));
  return {State::holds, std::move(reason)};
}

void LaneLoop::settle_outcome(LaneGuard& guard, Outcome& outcome, Time begun) {
  const Time now = Clock::now();
  const bool forced = std::exchange(guard.forced, false);
  if (forced) {
    guard.unfinished_since.reset();
    guard.skip_until_settled = false;
  }
  if (guard.structure) note_mount(guard);
  guard.structure = guard.sure = false;
  if (outcome.holds() && now - begun > guard.guarded.policy.deadline) outcome.result = Interrupted{late_reason()};
  const bool restored = std::holds_alternative<Restored>(outcome.result);
  if (restored) guard.pace.restored(guard.fight, now);
  Verdict verdict = verdict_of(guard, outcome, now);
  const bool unresolved = !guard.unresolved.empty() && verdict.state == State::holds;
  if (unresolved) verdict = {State::waiting, guard.unresolved};  // it holds by an address that may be another one now
  if (guard.status.paused_until) verdict.state = State::paused;
  if (!guard.status.paused_until && !guard.guarded.policy.enforce) verdict.state = State::observing;
  guard.was_refused = std::holds_alternative<Refused>(outcome.result);
  const bool waits = std::holds_alternative<Held>(outcome.result);
  if (!waits) guard.failed_drift = std::holds_alternative<Failed>(outcome.result) ? guard.fight : std::string{};

  Report report;
  report.events = std::move(outcome.events);
  const auto wall = std::chrono::system_clock::now();
  note_events(guard, report.events);
  if (!waits || verdict.state != State::failed) note_failure(guard, verdict.state, verdict.reason, report);
  if (verdict.state != State::settling) guard.how = How::unknown;
  const State before = guard.status.state;
  const bool changed = guard.set_state(verdict.state, verdict.reason, wall);
  const bool lost = before != State::waiting && verdict.state == State::waiting && !guard.unresolved.empty();
  if (lost || is_worth_an_event(before, verdict.state)) {
    Event event;
    event.at = wall;
    event.kind = Event::Kind::state;
    event.path = guard.guarded.policy.path;
    event.outcome = std::string(word(verdict.state));
    event.reason = verdict.reason;
    report.events.push_back(std::move(event));
  }
  const Lists read_before = guard.status.read;
  guard.describe(outcome.decision);
  if (outcome.holds()) guard.from_upstream = guard.status.source == Source::upstream;
  keep_open(guard, outcome);
  if (restored) {
    const Place place = outcome.decision.at_name ? guard.guarded.seen.name() : guard.guarded.seen.target();
    keeper_.later("durable " + guard.guarded.policy.path, kDurableQuiet, kDurableMost,
                  [place] { make_durable(place); });
  }
  arm(guard, report);
  if (outcome.memory_changed) keep_memory(guard);
  report.said = report.failed ? Rollout::Said::failed : Rollout::Said::unfinished;
  if (verdict.state == State::holds) report.said = Rollout::Said::holds;
  report.observed = !std::holds_alternative<Overtaken>(outcome.result);
  if (!changed && report.events.empty() && !guard.must_report && read_before == guard.status.read) return;
  guard.must_report = false;
  post(guard, std::move(report));
}

// Mounts come and go with an event of their own, after which everything is walked afresh: asked behind such a look, and
// behind what it restored.
void LaneLoop::note_mount(LaneGuard& guard) {
  const Seen& seen = guard.guarded.seen;
  const bool before = std::exchange(guard.mounted, seen.kind == NodeKind::file && is_mount_point(seen.target()));
  if (!guard.mounted || before) return;
  Report report;
  report.warning = guard.guarded.policy.path + ": " + single_file_reason();
  post(std::move(report));
}

void LaneLoop::note_events(LaneGuard& guard, const std::vector<Event>& events) {
  for (const Event& event : events) {
    guard.status.rewrites += event.kind == Event::Kind::rewrite ? 1 : 0;
    guard.documents += event.kind == Event::Kind::rewrite ? 1 : 0;
    guard.from_upstream = guard.from_upstream && event.kind != Event::Kind::rewrite;
    if (event.kind == Event::Kind::rewrite) guard.last_writer = event.writer.apparent;
    if (event.kind != Event::Kind::restore) continue;
    ++guard.status.restores;
    guard.status.last_restore_us = event.took_us;
  }
}

// A failure is recorded once for each reason; each try counts.
void LaneLoop::note_failure(LaneGuard& guard, State state, const std::string& reason, Report& report) {
  if (state != State::blocked && state != State::failed) {
    guard.last_failure.clear();
    return;
  }
  report.failed = guard.must_report = true;
  if (guard.last_failure == reason) return;
  guard.last_failure = reason;
  Event event;
  event.at = std::chrono::system_clock::now();
  event.kind = Event::Kind::failure;
  event.path = guard.guarded.policy.path;
  event.how = guard.how;
  event.outcome = std::string(word(state));
  event.reason = reason;
  report.events.push_back(std::move(event));
}

void LaneLoop::post(LaneGuard& guard, Report report) {
  report.generation = guard.generation;
  report.ticket = guard.ticket;
  report.pause_ended = std::exchange(guard.pause_ended, false);
  report.status = guard.status;
  report.file_systems = guard.file_systems;
  for (Event& event : report.events) event.generation = guard.generation;
  post(std::move(report));
}

void LaneLoop::post(Report report) {
  world_.mailbox->post([tell = world_.report, report = std::move(report)]() mutable { tell(std::move(report)); });
}

}  // namespace rg
