// A generation in the supervisor: what its rollout orders is carried out, and what comes of it is told to it.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <set>

#include "guardian/supervisor.hpp"
#include "lib/config/values.hpp"
#include "lib/report/reasons.hpp"
#include "lib/report/status.hpp"
#include "lib/report/words.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kQuickPump{500};

WallTime wall_now() { return std::chrono::system_clock::now(); }

Event failure_event(const std::string& path, std::uint64_t generation, const char* outcome, std::string reason) {
  Event event;
  event.at = wall_now();
  event.kind = Event::Kind::failure;
  event.path = path;
  event.generation = generation;
  event.outcome = outcome;
  event.reason = std::move(reason);
  return event;
}

void set_state(GuardStatus& guard, State state, std::string reason) {
  if (guard.state != state) guard.since = wall_now();
  guard.state = state;
  guard.reason = std::move(reason);
}

}  // namespace

void Supervisor::begin_generation(std::uint64_t generation) {
  const Settings& settings = *setup_.loaded.settings;
  cancel_update(generation);
  std::vector<Rollout::Guard> order;
  for (const Policy& policy : settings.guards) {
    const bool gated = !policy.requirements.empty() || has_source(policy);
    order.push_back({policy.path, policy.enforce && !policy.optional, gated, has_glob(policy.path)});
  }
  status_.generation = generation;
  status_.phase = Phase::updating;  // also where nothing has to be waited for: that it ends is what is acted on
  closed_.clear();
  unresolved_.clear();
  rollout_.emplace(generation, std::move(order), static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()));
  for (const Policy& policy : settings.guards) rollout_->paused(policy.path, pauses_.of(policy.path).has_value());
  watch_routes();
  list_guards();
  ready_said_ = false;
  ready_timer_.cancel();
  if (settings.ready_within) {
    ready_timer_.expires_after(*settings.ready_within);
    ready_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error || ready_said_) return;
      ready_said_ = true;
      notify_.ready();
    });
  }
  pump();
}

// What an attempt has brought to hold when the next configuration comes is no success of the former one.
void Supervisor::cancel_update(std::uint64_t next) {
  if (!rollout_ || rollout_->phase() == Phase::reconciling) return;
  const std::size_t at = rollout_->waits_for().value_or(0);
  const std::string& path = rollout_->places()[at].guard.path;
  record({failure_event(path, rollout_->generation(), "cancelled",
                        cancelled_reason(next, at, rollout_->places().size()))});
  if (GuardStatus* guard = find(path)) ++guard->failures;
}

void Supervisor::list_guards() {
  std::vector<GuardStatus> guards;
  const auto add = [&](const std::string& path) {
    const GuardStatus* known = find(path);
    guards.push_back(known != nullptr ? *known : GuardStatus{});
    guards.back().path = path;
    if (known == nullptr) guards.back().since = wall_now();
  };
  for (const Rollout::Place& place : rollout_->places()) {
    for (const auto& [path, file] : place.members) add(path);
    if (place.members.empty()) add(place.guard.path);
  }
  status_.guards = std::move(guards);
  places_.clear();
  for (std::size_t i = 0; i < status_.guards.size(); ++i) places_[status_.guards[i].path] = i;
}

GuardStatus* Supervisor::find(const std::string& path) {
  const auto place = places_.find(path);
  return place == places_.end() ? nullptr : &status_.guards[place->second];
}

// A glob that is paused pauses the files that it matches later, too.
std::optional<WallTime> Supervisor::pause_of(std::size_t guard, const std::string& path) const {
  const auto own = pauses_.of(path);
  return own ? own : pauses_.of(rollout_->places()[guard].guard.path);
}

Policy Supervisor::policy_of(std::size_t guard, const std::string& path) const {
  Policy policy = setup_.loaded.settings->guards.at(guard);
  policy.path = path;
  return policy;
}

// Many reports may come at once: what they mean together is asked once. Where there are thousands of guards that takes
// its time, and may take half of it.
void Supervisor::pump_soon() {
  if (std::exchange(pump_pending_, true)) return;
  if (pump_took_ < kQuickPump) return boost::asio::post(io_, [this] { pump(); });
  pump_timer_.expires_after(pump_took_);
  pump_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) pump();
  });
}

void Supervisor::pump() {
  pump_pending_ = false;
  if (stopping_ || !rollout_) return;
  const auto begun = Clock::now();
  const auto pause_ends = end_pauses();
  for (const Rollout::Order& order : rollout_->next(Clock::now())) {
    carry_out(order);
    note_late(order);
  }
  rollout_timer_.cancel();
  auto wakes = rollout_->wakes();
  if (pause_ends && (!wakes || *pause_ends < *wakes)) wakes = pause_ends;
  if (wakes) {
    rollout_timer_.expires_at(*wakes);
    rollout_timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) pump();
    });
  }
  refresh();
  pump_took_ = Clock::now() - begun;
}

// Of guards that no lane has taken up: nobody else notices. When the next one is over.
std::optional<Time> Supervisor::end_pauses() {
  std::optional<WallTime> next;
  for (std::size_t i = 0; i < rollout_->places().size(); ++i) {
    for (const auto& [path, file] : rollout_->places()[i].members) {
      if (file.told || !file.paused) continue;
      const auto until = pause_of(i, path);
      if (!until) rollout_->paused(path, false);
      if (until && *until != WallTime::max() && (!next || *until < *next)) next = until;
    }
  }
  if (!next) return std::nullopt;
  return Clock::now() + std::chrono::ceil<milliseconds>(*next - wall_now());
}

// Its lane is stuck since before it was asked: no deadline passes any more that would tell so.
void Supervisor::note_late(const Rollout::Order& order) {
  using Kind = Rollout::Order::Kind;
  if (order.kind != Kind::look && order.kind != Kind::list) return;
  const std::string& path = order.kind == Kind::list ? rollout_->places()[order.guard].guard.path : order.path;
  if (!lanes_->is_late(path)) return;
  fail_unanswered(path, unanswered_reason());
  pump_soon();
}

void Supervisor::carry_out(const Rollout::Order& order) {
  using Kind = Rollout::Order::Kind;
  const std::string& path = order.path;
  switch (order.kind) {
    case Kind::probe:
      return ask_gate(order);
    case Kind::list: {
      const Policy& policy = setup_.loaded.settings->guards.at(order.guard);
      Lister lister;
      lister.policy = policy;
      lister.generation = rollout_->generation();
      lister.ticket = order.ticket;
      lister.order = order.guard;
      return lanes_->list(std::move(lister));
    }
    case Kind::look: {
      if (!order.adopt) {
        lanes_->tell(path, [path, ticket = order.ticket](LaneLoop& loop) { loop.look(path, ticket); });
        return;
      }
      const std::string& pattern = rollout_->places()[order.guard].guard.path;
      return lanes_->adopt({policy_of(order.guard, path), rollout_->generation(), order.ticket, order.guard,
                            pattern != path, pause_of(order.guard, path)},
                           pattern);
    }
    case Kind::hold_back: {
      const auto first = rollout_->waits_for();
      const std::string reason = waits_reason(rollout_->places()[first.value_or(0)].guard.path);
      lanes_->tell(path, [path, reason](LaneLoop& loop) { loop.hold_back(path, reason); });
      return;
    }
    case Kind::drop:
      return lanes_->drop(path, false);
  }
}

void Supervisor::on_report(Report report) {
  if (!report.warning.empty()) setup_.log.warning(report.warning);
  const std::string& path = report.status.path;
  const bool known = report.generation != 0 && rollout_;
  const Rollout::Member* file = known ? rollout_->find(path) : nullptr;
  // It was late, and that was told and counted when it was.
  const bool told = file != nullptr && file->stand == Rollout::Trial::Stand::unanswered;
  if (told) std::erase_if(report.events, [](const Event& event) { return event.kind == Event::Kind::failure; });
  record(std::move(report.events));
  if (stopping_ || !known) return;
  lanes_->lies_on(path, report.file_systems);
  if (report.moved) take_locks();
  GuardStatus* guard = find(path);
  if (guard == nullptr) return;
  const std::uint64_t failures = guard->failures + (report.failed && !told ? 1 : 0);
  *guard = report.status;
  guard->failures = failures;
  if (report.observed) unlooked_.erase(path);
  if (report.generation == rollout_->generation()) {
    if (report.pause_ended) stored(pauses_.set(path, std::nullopt));
    guard->paused_until = pause_of(*rollout_->guard_of(path), path);  // what was asked for since isn't in the report
    rollout_->paused(path, guard->paused_until.has_value());
    rollout_->said(path, report.ticket, report.said, Clock::now());
  }
  pump_soon();
}

void Supervisor::on_late(const std::string& path) {
  if (stopping_) return lanes_->stop([this] { finish(); });
  fail_unanswered(path, unanswered_reason());
  for (const std::string& other : lanes_->behind(path)) fail_unanswered(other, not_looked_at_reason(path));
  pump_soon();
}

void Supervisor::fail_unanswered(const std::string& path, const std::string& reason) {
  if (rollout_) rollout_->unanswered(path, Clock::now());
  lanes_->tell(path, [path](LaneLoop& loop) { loop.report_again(path); });  // once it is back
  record({failure_event(path, status_.generation, "failed", reason)});
  GuardStatus* guard = find(path);
  if (guard == nullptr) return;
  ++guard->failures;
  set_state(*guard, State::failed, reason);
}

void Supervisor::on_listed(std::size_t guard, std::uint64_t generation, std::uint64_t ticket, GlobMatch match) {
  if (stopping_ || !rollout_ || generation != rollout_->generation()) return;
  if (match.error != 0) {  // what can't be looked at isn't gone, and isn't known to be none
    keep_closed(guard, not_listed_reason(Error{match.error, "look into", "a directory"}.text()));
    rollout_->not_listed(guard, ticket, Clock::now());
    return pump_soon();
  }
  closed_.erase(guard);
  std::set<std::string> others;
  for (const Policy& policy : setup_.loaded.settings->guards) others.insert(comparable_path(policy.path));
  std::erase_if(match.paths, [&](const std::string& path) { return others.contains(path); });  // it beats a glob
  rollout_->listed(guard, ticket, match.paths, Clock::now());
  for (const std::string& path : match.paths) rollout_->paused(path, pause_of(guard, path).has_value());
  list_guards();
  pump_soon();
}

// A gate that doesn't open, a glob that can't be listed: told once for each reason, counted each time.
void Supervisor::keep_closed(std::size_t index, const std::string& reason) {
  const std::string& path = rollout_->places()[index].guard.path;
  if (std::exchange(closed_[index], reason) != reason) {
    record({failure_event(path, rollout_->generation(), "failed", reason)});
  }
  if (GuardStatus* guard = find(path)) ++guard->failures;
}

// For an address that the kernel has yet to tell: nothing has failed.
void Supervisor::keep_waiting(std::size_t index, const std::string& reason) {
  closed_[index] = reason;
  Event event;
  event.at = wall_now();
  event.kind = Event::Kind::state;
  event.path = rollout_->places()[index].guard.path;
  event.generation = rollout_->generation();
  event.outcome = std::string(word(State::waiting));
  event.reason = reason;
  record({std::move(event)});
}

std::string Supervisor::why_waiting(std::size_t guard) const {
  const auto first = rollout_->waits_for();
  if (first && *first < guard) return waits_reason(rollout_->places()[*first].guard.path);
  if (const auto closed = closed_.find(guard); closed != closed_.end()) return closed->second;
  return rollout_->places()[guard].gate.stand == Rollout::Trial::Stand::asked ? asking_reason() : "";
}

// What no lane can say: that the order, a gate or a list is waited for.
void Supervisor::show_waiting(GuardStatus& guard) const {
  const auto index = rollout_->guard_of(guard.path);
  if (!index) return;
  const Rollout::Place& place = rollout_->places()[*index];
  const Rollout::Member* file = rollout_->find(guard.path);
  if (file == nullptr) {  // a glob that matches nothing
    const bool listed = place.list.stand == Rollout::Trial::Stand::holds;
    guard.paused_until = pause_of(*index, guard.path);
    if (listed && guard.paused_until) return set_state(guard, State::paused, no_match_reason());
    if (place.list.stand == Rollout::Trial::Stand::unanswered) return;
    if (place.list.stand == Rollout::Trial::Stand::failed) return set_state(guard, State::failed, why_waiting(*index));
    return set_state(guard, listed ? State::holds : State::waiting, listed ? no_match_reason() : why_waiting(*index));
  }
  guard.attempt = file->attempt + place.gate.attempt;
  if (file->stand == Rollout::Trial::Stand::unanswered) return;
  const bool waits = !file->told || file->held_back;
  if (waits) guard.paused_until = pause_of(*index, guard.path);  // no lane says so
  if (waits && guard.paused_until) return set_state(guard, State::paused, {});
  if (waits) return set_state(guard, State::waiting, why_waiting(*index));
  if (!file->heard) set_state(guard, State::restoring, {});  // what held under the former policy says nothing
}

void Supervisor::refresh() {
  if (pump_pending_) return;  // what was reported isn't the rollout's yet: READY would come before its phase
  for (GuardStatus& guard : status_.guards) show_waiting(guard);
  const bool done = status_.phase != Phase::reconciling && rollout_->phase() == Phase::reconciling;
  status_.phase = rollout_->phase();
  if (done && !stopping_) reconciled();
  if (status_.phase == Phase::reconciling) lanes_->tidy();
  check_ready();
  notify_.status(status_line(status_));
  std::vector<WaiterId> over;
  for (const auto& [id, waiter] : waiters_) {
    if (waiter.done()) over.push_back(id);
  }
  for (const WaiterId id : over) finish_waiter(id);
}

// Every guard was verified: this configuration works, and nothing of an older one is left.
void Supervisor::reconciled() {
  if (setup_.source.from_file() && status_.config_error.empty()) {
    recorder_.post([this, state = state_, toml = print_config(*setup_.loaded.settings)] {
      stored(state.save_verified_config(toml));
    });
  }
  for (const std::string& path : lanes_->paths()) {
    if (!rollout_->guard_of(path)) lanes_->drop(path, false);
  }
  watch_routes();
}

}  // namespace rg
