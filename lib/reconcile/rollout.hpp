// Updating and reconciling: a pure state machine over what the passes came to. Nothing but a verified pass over every
// guard, in the configured order and within one generation, leaves `updating`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/reconcile/state.hpp"

namespace rg {

class Rollout {
 public:
  struct Guard {
    std::string path;
    bool holds_back = true;  ///< false: optional, or only observed: those behind it don't wait for it
  };

  Rollout(std::uint64_t generation, std::vector<Guard> guards);

  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  /// The guards that may be brought to hold now and haven't been told to yet, in order. They count as told afterwards.
  [[nodiscard]] std::vector<std::size_t> take_next();
  /// What the latest pass over a guard said. `verified`: read back and judged to hold.
  void said(const std::string& path, bool verified);
  /// A pause lifts a guard out of the order, `resume` puts it back.
  void paused(const std::string& path, bool is_paused);
  /// The first guard that keeps the others waiting; nullopt: none does.
  [[nodiscard]] std::optional<std::size_t> waits_for() const;
  [[nodiscard]] bool told(std::size_t index) const { return places_[index].told; }

 private:
  struct Place {
    Guard guard;
    bool told = false, verified = false, paused = false;
    [[nodiscard]] bool keeps_back() const { return guard.holds_back && !paused && !verified; }
  };
  void advance();
  std::uint64_t generation_;
  Phase phase_ = Phase::updating;
  std::vector<Place> places_;
};

}  // namespace rg
