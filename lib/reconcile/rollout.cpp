#include "lib/reconcile/rollout.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rg {

Rollout::Rollout(std::uint64_t generation, std::vector<Guard> guards, std::uint64_t seed)
    : generation_(generation), tickets_(generation << 32U), seed_(seed) {  // tickets of an older one never come again
  for (Guard& guard : guards) places_.emplace_back(std::move(guard), this->seed());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].guard.glob) add(i, places_[i].guard.path);
  }
}

void Rollout::add(std::size_t index, const std::string& path) {
  if (place_of_.emplace(path, index).second) places_[index].members.emplace(path, seed());
}

std::optional<std::size_t> Rollout::guard_of(const std::string& path) const {
  if (const auto place = place_of_.find(path); place != place_of_.end()) return place->second;
  const auto is_it = [&](const Place& place) { return place.guard.path == path; };
  const auto glob = std::find_if(places_.begin(), places_.end(), is_it);
  if (glob == places_.end()) return std::nullopt;
  return static_cast<std::size_t>(glob - places_.begin());
}

Rollout::Member* Rollout::member(const std::string& path) {
  const auto place = place_of_.find(path);
  return place == place_of_.end() ? nullptr : &places_[place->second].members.at(path);
}

const Rollout::Member* Rollout::find(const std::string& path) const {
  const auto place = place_of_.find(path);
  if (place == place_of_.end()) return nullptr;
  return &places_[place->second].members.at(path);
}

// A pause lifts a guard out of the order: nobody waits for it.
bool Rollout::lifted(const Place& place) { return !place.guard.glob && place.members.begin()->second.paused; }

// All that it has to bring to hold was verified in this attempt.
bool Rollout::settled(const Place& place) {
  if (lifted(place)) return true;
  if (place.guard.gated && place.gate.stand != Stand::holds) return false;
  if (place.guard.glob && place.list.stand != Stand::holds) return false;
  return std::all_of(place.members.begin(), place.members.end(),
                     [](const auto& file) { return file.second.paused || file.second.stand == Stand::holds; });
}

std::optional<std::size_t> Rollout::waits_for() const {
  if (phase_ == Phase::reconciling) return std::nullopt;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (keeps_back(i)) return i;
  }
  return std::nullopt;
}

bool Rollout::keeps_back(std::size_t index) const {
  const Place& place = places_[index];
  return place.guard.holds_back && (!settled(place) || (again_at_ && index == failed_at_));
}

std::vector<Rollout::Order> Rollout::next(Time now) {
  std::vector<Order> orders = std::exchange(drops_, {});
  wake(now);
  bool free = true;  // nothing before it keeps it waiting
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool in_turn = phase_ == Phase::reconciling || (free && (!again_at_ || !places_[i].guard.holds_back));
    if (in_turn) bring(i, orders);
    if (!free && phase_ == Phase::updating) hold_back(i, orders);
    if (keeps_back(i)) free = false;
  }
  if (phase_ == Phase::updating && free) phase_ = Phase::reconciling;
  return orders;
}

// Asks for what isn't known yet: first the gate, then the list, then the files.
void Rollout::bring(std::size_t index, std::vector<Order>& orders) {
  Place& place = places_[index];
  if (place.guard.gated && place.gate.stand != Stand::holds) {
    if (!lifted(place) && ask(place.gate)) orders.push_back({Order::Kind::probe, index, {}, place.gate.ticket, false});
    return;
  }
  if (place.guard.glob && ask(place.list)) orders.push_back({Order::Kind::list, index, {}, place.list.ticket, false});
  for (auto& [path, file] : place.members) {
    if (!ask(file)) continue;
    orders.push_back({Order::Kind::look, index, path, file.ticket, !std::exchange(file.told, true)});
    file.held_back = false;
  }
}

void Rollout::hold_back(std::size_t index, std::vector<Order>& orders) {
  Place& place = places_[index];
  const auto forget = [](Trial& trial) {
    if (trial.stand == Stand::unanswered) return;
    trial.stand = Stand::unknown;
    trial.next_try.reset();
  };
  forget(place.gate);
  for (auto& [path, file] : place.members) {
    if (!file.told || file.held_back) continue;
    file.held_back = true;
    forget(file);
    orders.push_back({Order::Kind::hold_back, index, path, 0, false});
  }
}

bool Rollout::ask(Trial& trial) {
  if (trial.stand != Stand::unknown) return false;
  trial.stand = Stand::asked;
  trial.ticket = ++tickets_;
  return true;
}

void Rollout::succeeded(std::size_t index, Trial& trial, Time now) {
  // What the next attempt was put off for is there.
  if (trial.stand == Stand::failed && again_at_ && index == failed_at_) again_at_ = now;
  trial.stand = Stand::holds;
  trial.attempt = 0;
  trial.next_try.reset();
  trial.back_off.reset();
}

void Rollout::failed(std::size_t index, Trial& trial, bool is_paused, Time now) {
  ++trial.attempt;
  trial.stand = Stand::failed;
  trial.next_try = now + trial.back_off.next();
  if (!is_paused) fail_attempt(index, *trial.next_try);
}

// What comes after its deadline is no success, whatever it says. It was counted when that passed, and the attempt that
// failed by it is over: this is no failure of the present one.
void Rollout::came_late(Trial& trial, Time now) {
  trial.stand = Stand::failed;
  trial.ticket = 0;
  trial.next_try = now + trial.back_off.next();
}

void Rollout::fail_attempt(std::size_t index, Time again) {
  if (phase_ != Phase::updating || !places_[index].guard.holds_back) return;
  if (!again_at_) ++attempt_;
  failed_at_ = again_at_ ? std::min(failed_at_, index) : index;
  again_at_ = again_at_ ? std::min(*again_at_, again) : again;  // what goes on failing puts nobody off
}

// It is tried again at its own time, not with all others in the next attempt.
bool Rollout::by_itself(const Place& place) const { return !again_at_ || !place.guard.holds_back; }

// Times that have come: a guard by itself, or the next attempt from the first one on.
void Rollout::wake(Time now) {
  if (again_at_ && *again_at_ <= now) start_again();
  for (Place& place : places_) {
    if (!by_itself(place)) continue;
    const auto look = [&](Trial& trial) {
      if (!trial.next_try || *trial.next_try > now) return;
      trial.next_try.reset();
      trial.stand = Stand::unknown;
    };
    look(place.gate);
    look(place.list);
    for (auto& [path, file] : place.members) look(file);
  }
}

void Rollout::start_again() {
  again_at_.reset();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (!place.guard.holds_back) continue;
    const auto forget = [](Trial& trial) {
      trial.next_try.reset();
      if (trial.stand != Stand::unanswered) trial.stand = Stand::unknown;
    };
    // Files of one glob don't hold each other back: where one of them failed the others go on.
    const bool only_failed = place.guard.glob && i == failed_at_;
    forget(place.gate);
    for (auto& [path, file] : place.members) {
      if (!only_failed || file.stand == Stand::failed) forget(file);
    }
  }
}

std::optional<Time> Rollout::wakes() const {
  std::optional<Time> earliest = again_at_;
  const auto look = [&](const Trial& trial) {
    if (trial.next_try && (!earliest || *trial.next_try < *earliest)) earliest = trial.next_try;
  };
  for (const Place& place : places_) {
    if (!by_itself(place)) continue;
    look(place.gate);
    look(place.list);
    for (const auto& [path, file] : place.members) look(file);
  }
  return earliest;
}

void Rollout::said(const std::string& path, std::uint64_t ticket, Said what, Time now) {
  Member* file = member(path);
  if (file == nullptr || ticket == 0 || file->ticket != ticket) return;  // of another generation, or another question
  const std::size_t index = place_of_.at(path);
  file->heard = true;
  if (file->held_back) {  // it came back, out of its turn
    file->stand = Stand::unknown;
    file->ticket = 0;
    return;
  }
  if (file->stand == Stand::unanswered) return came_late(*file, now);
  if (what == Said::failed) return failed(index, *file, file->paused, now);
  if (what == Said::holds) return succeeded(index, *file, now);
  file->stand = Stand::unfinished;
  if (!file->paused) look_again_behind(index);
}

// It doesn't hold any more: what was verified behind it was so before its turn.
void Rollout::look_again_behind(std::size_t index) {
  if (phase_ == Phase::reconciling || !places_[index].guard.holds_back) return;
  for (std::size_t i = index + 1; i < places_.size(); ++i) {
    for (auto& [path, file] : places_[i].members) {
      if (file.stand == Stand::holds) file.stand = Stand::unknown;
    }
  }
}

void Rollout::unanswered(const std::string& path, Time now) {
  const auto fail = [&](std::size_t index, Trial& trial, bool is_paused) {
    if (trial.ticket == 0 || trial.stand == Stand::unanswered) return;  // it wasn't asked, or everybody knows
    trial.stand = Stand::unanswered;
    ++trial.attempt;
    trial.next_try.reset();
    if (!is_paused) fail_attempt(index, now);
  };
  if (Member* file = member(path)) return fail(place_of_.at(path), *file, file->paused);
  if (const auto glob = guard_of(path)) fail(*glob, places_[*glob].list, false);
}

void Rollout::probed(std::size_t guard, std::uint64_t ticket, bool answered, Time now) {
  Trial& gate = places_.at(guard).gate;
  if (gate.ticket != ticket || gate.stand != Stand::asked) return;
  if (answered) return succeeded(guard, gate, now);
  failed(guard, gate, lifted(places_[guard]), now);
}

void Rollout::listed(std::size_t guard, std::uint64_t ticket, const std::vector<std::string>& matches, Time now) {
  Place& place = places_.at(guard);
  if (ticket == 0 || place.list.ticket != ticket) return;
  if (place.list.stand == Stand::unanswered) return came_late(place.list, now);
  succeeded(guard, place.list, now);
  const std::set<std::string> there(matches.begin(), matches.end());
  std::erase_if(place.members, [&](const auto& file) {
    if (there.contains(file.first)) return false;
    drops_.push_back({Order::Kind::drop, guard, file.first, 0, false});
    place_of_.erase(file.first);
    return true;
  });
  for (const std::string& path : matches) add(guard, path);
}

void Rollout::not_listed(std::size_t guard, std::uint64_t ticket, Time now) {
  Trial& list = places_.at(guard).list;
  if (ticket == 0 || list.ticket != ticket) return;
  if (list.stand == Stand::unanswered) return came_late(list, now);
  failed(guard, list, false, now);
}

void Rollout::paused(const std::string& path, bool is_paused) {
  Member* file = member(path);
  if (file == nullptr) return;
  const bool resumed = std::exchange(file->paused, is_paused) && !is_paused;
  // It is in the order again: verified in its turn, and those behind it after it.
  if (resumed && file->stand == Stand::holds) file->stand = Stand::unknown;
  if (resumed) look_again_behind(place_of_.at(path));
}

}  // namespace rg
