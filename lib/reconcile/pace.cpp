#include "lib/reconcile/pace.hpp"

#include <algorithm>

namespace rg {
namespace {

constexpr milliseconds kPatience{1000}, kFirst{100}, kMost{5000}, kQuiet{10000};
constexpr std::size_t kRounds = 8;  // contents remembered at once: two writers in turn are a fight too
constexpr std::chrono::nanoseconds kBurst = milliseconds{250};

// xorshift64: jitter needs no more.
std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13U;
  state ^= state >> 7U;
  state ^= state << 17U;
  return state;
}

// `delay` plus up to a fifth of it.
milliseconds jittered(milliseconds delay, std::uint64_t& random) {
  const auto most = static_cast<std::uint64_t>(delay.count()) / 5 + 1;
  return delay + milliseconds(static_cast<std::int64_t>(next_random(random) % most));
}

}  // namespace

Pace::Round& Pace::round(const std::string& key, Time now) {
  auto found = std::find_if(rounds_.begin(), rounds_.end(), [&](const Round& r) { return r.key == key; });
  if (found == rounds_.end()) {
    if (rounds_.size() == kRounds) {
      rounds_.erase(std::min_element(rounds_.begin(), rounds_.end(),
                                     [](const Round& a, const Round& b) { return a.last < b.last; }));
    }
    rounds_.push_back({key, now, now, now, milliseconds{0}});
    return rounds_.back();
  }
  if (now - found->last > kQuiet) *found = {key, now, now, now, milliseconds{0}};
  return *found;
}

Time Pace::due(const std::string& key, Time now) {
  Round& r = round(key, now);
  r.last = now;
  if (now - r.first <= kPatience) return now;
  return std::max(now, r.not_before);
}

void Pace::restored(const std::string& key, Time now) {
  Round& r = round(key, now);
  r.last = now;
  if (now - r.first <= kPatience && r.delay.count() == 0) {
    r.not_before = now + kFirst;  // what comes back within the first second is still restored at once
    return;
  }
  r.delay = std::clamp(r.delay * 2, kFirst, kMost);
  r.not_before = now + jittered(r.delay, random_);
}

milliseconds BackOff::next() {
  delay_ = delay_.count() == 0 ? first_ : std::min(delay_ * 2, most_);
  return jittered(delay_, random_);
}

void Budget::decay(Time now) {
  if (at_ == Time{}) at_ = now;
  used_ = std::max(std::chrono::nanoseconds{0}, used_ - (now - at_) / 2);
  at_ = now;
}

void Budget::spent(std::chrono::nanoseconds work, Time now) {
  decay(now);
  used_ += work;
}

std::chrono::nanoseconds Budget::wait(Time now) {
  decay(now);
  return used_ <= kBurst ? std::chrono::nanoseconds{0} : (used_ - kBurst) * 2;
}

}  // namespace rg
