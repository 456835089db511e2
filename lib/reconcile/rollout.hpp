// Updating and reconciling: a pure state machine over what the passes came to. Nothing but a verified pass over every
// guard, in the configured order, within one attempt of one generation, leaves `updating`; an attempt in which a guard
// failed, was cancelled or passed its deadline is a failure, and the next one starts from the first guard (bug 1843526:
// an update that was cancelled at 0 of 573 was taken for done). Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/reconcile/pace.hpp"
#include "lib/reconcile/state.hpp"

namespace rg {

class Rollout {
 public:
  struct Guard {
    std::string path;
    bool holds_back = true;  ///< false: optional, or only observed: those behind it don't wait for it
    bool gated = false;      ///< `requires`: its servers must answer before it is brought to hold
    bool glob = false;       ///< it stands for every file that matches
  };

  /// What shall be done now.
  struct Order {
    enum class Kind {
      probe,      ///< ask the servers that the guard requires, then probed()
      list,       ///< find the files that its glob matches, then listed(), and again whenever they change
      look,       ///< bring this file to hold, then said(), and again whenever it changes
      hold_back,  ///< write nothing to this file until the next `look`: a guard before it doesn't hold any more
      drop,       ///< the glob doesn't match it any more
    };
    Kind kind{};
    std::size_t guard = 0;
    std::string path;          ///< look, hold_back, drop
    std::uint64_t ticket = 0;  ///< goes back with the answer: an answer to an older question is none
    bool adopt = false;        ///< look: with the policy of this generation, which hasn't reached this file yet
    friend bool operator==(const Order&, const Order&) = default;
  };

  enum class Said {
    holds,       ///< read back from disk and judged
    unfinished,  ///< it doesn't hold, and its lane goes on by itself: settling, contested, paused, overtaken
    failed,      ///< blocked, failed, cancelled or too late
  };

  /// Something that is tried until it succeeds.
  struct Trial {
    enum class Stand { unknown, asked, holds, unfinished, failed, unanswered };
    explicit Trial(std::uint64_t seed) : back_off(milliseconds{100}, milliseconds{2000}, seed) {}
    Stand stand = Stand::unknown;
    std::uint64_t ticket = 0;
    std::uint64_t attempt = 0;  ///< failures since it last succeeded
    std::optional<Time> next_try;
    BackOff back_off;
  };
  struct Member : Trial {  ///< a file: the guard's own, or one that its glob matches
    using Trial::Trial;
    bool told = false;       ///< the policy of this generation is in force for it
    bool heard = false;      ///< and it has answered since
    bool held_back = false;  ///< it was told, and must wait again
    bool paused = false;     ///< out of the order until it is resumed
  };
  struct Place {
    Place(Guard guard_, std::uint64_t seed) : guard(std::move(guard_)), gate(seed), list(seed) {}
    Guard guard;
    Trial gate, list;
    std::map<std::string, Member> members;  // by path
  };

  Rollout(std::uint64_t generation, std::vector<Guard> guards, std::uint64_t seed);

  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  /// How many attempts of this update failed.
  [[nodiscard]] std::uint64_t attempt() const { return attempt_; }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] const Member* find(const std::string& path) const;
  /// Whose this file or glob is.
  [[nodiscard]] std::optional<std::size_t> guard_of(const std::string& path) const;
  /// The first guard that keeps the others waiting; nullopt: none does.
  [[nodiscard]] std::optional<std::size_t> waits_for() const;

  /// What is to be done now: to be asked after every input, and when wakes() says so.
  [[nodiscard]] std::vector<Order> next(Time now);
  [[nodiscard]] std::optional<Time> wakes() const;

  void said(const std::string& path, std::uint64_t ticket, Said what, Time now);
  /// Its deadline has passed and no answer came: a failure, once, whatever comes later. It is asked nothing until
  /// something does, and again after its back-off then.
  void unanswered(const std::string& path, Time now);
  void probed(std::size_t guard, std::uint64_t ticket, bool answered, Time now);
  void listed(std::size_t guard, std::uint64_t ticket, const std::vector<std::string>& matches, Time now);
  void not_listed(std::size_t guard, std::uint64_t ticket, Time now);  ///< which files match can't be told
  void paused(const std::string& path, bool is_paused);

 private:
  using Stand = Trial::Stand;
  [[nodiscard]] static bool lifted(const Place& place);
  [[nodiscard]] static bool settled(const Place& place);
  [[nodiscard]] bool keeps_back(std::size_t index) const;
  void bring(std::size_t index, std::vector<Order>& orders);
  void look_again_behind(std::size_t index);
  void hold_back(std::size_t index, std::vector<Order>& orders);
  bool ask(Trial& trial);
  void succeeded(std::size_t index, Trial& trial, Time now);
  void failed(std::size_t index, Trial& trial, bool is_paused, Time now);
  static void came_late(Trial& trial, Time now);
  [[nodiscard]] bool by_itself(const Place& place) const;
  void fail_attempt(std::size_t index, Time again);
  void wake(Time now);
  void start_again();
  void add(std::size_t index, const std::string& path);
  [[nodiscard]] Member* member(const std::string& path);
  [[nodiscard]] std::uint64_t seed() { return seed_ += 0x9E3779B97F4A7C15U; }

  std::uint64_t generation_;
  Phase phase_ = Phase::updating;
  std::uint64_t attempt_ = 0, tickets_ = 0, seed_;
  std::vector<Place> places_;
  std::map<std::string, std::size_t> place_of_;  // of each file
  std::optional<Time> again_at_;                 // the attempt has failed: when the next one starts
  std::size_t failed_at_ = 0;                    // and at which guard
  std::vector<Order> drops_;
};

}  // namespace rg
