#include "lib/reconcile/rollout.hpp"

#include <algorithm>

namespace rg {

Rollout::Rollout(std::uint64_t generation, std::vector<Guard> guards) : generation_(generation) {
  for (Guard& guard : guards) places_.push_back({std::move(guard)});
}

std::optional<std::size_t> Rollout::waits_for() const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].keeps_back()) return i;
  }
  return std::nullopt;
}

std::vector<std::size_t> Rollout::take_next() {
  std::vector<std::size_t> next;
  const std::size_t last = waits_for().value_or(places_.size());
  for (std::size_t i = 0; i < places_.size() && i <= last; ++i) {
    if (places_[i].told) continue;
    places_[i].told = true;
    next.push_back(i);
  }
  return next;
}

void Rollout::said(const std::string& path, bool verified) {
  for (Place& place : places_) {
    if (place.guard.path == path && place.told) place.verified = verified;
  }
  advance();
}

void Rollout::paused(const std::string& path, bool is_paused) {
  for (Place& place : places_) {
    if (place.guard.path == path) place.paused = is_paused;
  }
  advance();
}

void Rollout::advance() {
  const bool all_told = std::all_of(places_.begin(), places_.end(), [](const Place& place) { return place.told; });
  if (phase_ == Phase::updating && all_told && !waits_for()) phase_ = Phase::reconciling;
}

}  // namespace rg
