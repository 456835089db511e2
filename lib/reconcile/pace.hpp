// When a drift is restored: at once, unless it is a fight. Pure: time is an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rg {

using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

/// A fight is the same violations and the same learned lists coming back for over 1 s. Only that is delayed: 100 ms,
/// doubling to 5 s, with jitter, quick again after 10 s of quiet; never given up. New content is never delayed.
class Pace {
 public:
  explicit Pace(std::uint64_t seed) : random_(seed | 1U) {}
  /// When a drift with this key may be restored: `now`, or later in a fight.
  [[nodiscard]] Time due(const std::string& key, Time now);
  /// No fight goes on: the policy is another one.
  void forget() { rounds_.clear(); }
  /// It was restored.
  void restored(const std::string& key, Time now);

 private:
  struct Round {
    std::string key;
    Time first, last;  // drift seen
    Time not_before;
    milliseconds delay{0};
  };
  Round& round(const std::string& key, Time now);
  std::vector<Round> rounds_;  // the newest few
  std::uint64_t random_;
};

/// Tries again with back-off: `first`, doubling to `most`, with jitter; a success resets it.
class BackOff {
 public:
  BackOff(milliseconds first, milliseconds most, std::uint64_t seed) : first_(first), most_(most), random_(seed | 1U) {}
  [[nodiscard]] milliseconds next();
  void reset() { delay_ = milliseconds{0}; }

 private:
  milliseconds first_, most_, delay_{0};
  std::uint64_t random_;
};

/// A share of CPU that passes may take: at most half of it over the long run, with bursts of 250 ms.
class Budget {
 public:
  void spent(std::chrono::nanoseconds work, Time now);
  /// How long to wait until there is something left; 0: go on.
  [[nodiscard]] std::chrono::nanoseconds wait(Time now);

 private:
  void decay(Time now);
  std::chrono::nanoseconds used_{0};
  Time at_{};
};

}  // namespace rg
