#include "lib/report/words.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <type_traits>

namespace rg {
namespace {

using namespace std::string_view_literals;

// In the order of the enumerators.
template <class T>
constexpr void* kWords = nullptr;
template <>
constexpr std::array kWords<State> = {"holds"sv,  "settling"sv,  "restoring"sv, "waiting"sv, "contested"sv,
                                      "paused"sv, "observing"sv, "blocked"sv,   "failed"sv};
template <>
constexpr std::array kWords<Phase> = {"updating"sv, "reconciling"sv};
template <>
constexpr std::array kWords<How> = {"start"sv,    "renamed"sv,    "written"sv, "removed"sv,
                                    "relinked"sv, "attributes"sv, "mounted"sv, "unknown"sv};
template <>
constexpr std::array kWords<Event::Kind> = {"rewrite"sv, "restore"sv, "would-restore"sv,
                                            "failure"sv, "state"sv,   "reload"sv};
template <>
constexpr std::array kWords<Violation> = {"absent"sv,  "empty"sv,     "required"sv, "order"sv,  "foreign"sv,
                                          "denied"sv,  "duplicate"sv, "over-max"sv, "search"sv, "options"sv,
                                          "misread"sv, "link"sv,      "mode"sv,     "label"sv,  "unreadable"sv};
template <>
constexpr std::array kWords<Origin> = {"first"sv,    "last"sv,      "only"sv,    "writer"sv,
                                       "upstream"sv, "last-good"sv, "fallback"sv};
template <>
constexpr std::array kWords<Why> = {"denied"sv, "duplicate"sv, "over-max"sv, "invalid"sv};
template <>
constexpr std::array kWords<Source> = {"writer"sv, "upstream"sv, "last-good"sv, "fallback"sv, "policy"sv};

// A new enumerator without a word stops the build here.
static_assert(kWords<State>.size() == std::size_t(State::failed) + 1);
static_assert(kWords<Phase>.size() == std::size_t(Phase::reconciling) + 1);
static_assert(kWords<How>.size() == std::size_t(How::unknown) + 1);
static_assert(kWords<Event::Kind>.size() == std::size_t(Event::Kind::reload) + 1);
static_assert(kWords<Violation>.size() == std::size_t(Violation::unreadable) + 1);
static_assert(kWords<Origin>.size() == std::size_t(Origin::fallback) + 1);
static_assert(kWords<Why>.size() == std::size_t(Why::invalid) + 1);
static_assert(kWords<Source>.size() == std::size_t(Source::policy) + 1);

template <class T>
std::string_view word_of(T value) {
  return kWords<T>.at(static_cast<std::size_t>(value));
}

// system_clock counts nanoseconds in 64 bits: its max is in the year 2262. "Until `resume`" needs a time that every
// reader of RFC 3339 accepts and takes for never.
constexpr std::string_view kNever = "9999-12-31T23:59:59Z";

// Reads exactly `digits` decimal digits off the front of `text`, and `after` behind them where it isn't 0.
bool take(std::string_view& text, std::size_t digits, char after, unsigned& value) {
  if (text.size() < digits) return false;
  value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  text.remove_prefix(digits);
  if (after == 0) return true;
  if (!text.starts_with(after)) return false;
  text.remove_prefix(1);
  return true;
}

// The fraction of a second with its dot, or nothing; what is finer than a microsecond is cut.
bool take_fraction(std::string_view& text, std::chrono::microseconds& fraction) {
  fraction = {};
  if (!text.starts_with('.')) return true;
  text.remove_prefix(1);
  int unit = 100'000;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits, unit /= 10) {
    fraction += std::chrono::microseconds{(text[digits] - '0') * unit};
  }
  text.remove_prefix(digits);
  return digits != 0;
}

}  // namespace

std::string_view word(State value) { return word_of(value); }
std::string_view word(Phase value) { return word_of(value); }
std::string_view word(How value) { return word_of(value); }
std::string_view word(Event::Kind value) { return word_of(value); }
std::string_view word(Violation value) { return word_of(value); }
std::string_view word(Origin value) { return word_of(value); }
std::string_view word(Why value) { return word_of(value); }
std::string_view word(Source value) { return word_of(value); }

template <class T>
std::optional<T> from_word(std::string_view text) {
  for (std::size_t i = 0; i < kWords<T>.size(); ++i) {
    if (kWords<T>[i] == text) return static_cast<T>(i);
  }
  return std::nullopt;
}
template std::optional<State> from_word(std::string_view);
template std::optional<Phase> from_word(std::string_view);
template std::optional<How> from_word(std::string_view);
template std::optional<Event::Kind> from_word(std::string_view);
template std::optional<Violation> from_word(std::string_view);
template std::optional<Origin> from_word(std::string_view);
template std::optional<Why> from_word(std::string_view);
template std::optional<Source> from_word(std::string_view);

std::string rfc3339(WallTime time) {
  using namespace std::chrono;
  if (time == WallTime::max()) return std::string(kNever);
  const auto whole = floor<microseconds>(time);
  const auto day = floor<days>(whole);
  const year_month_day date{day};
  const hh_mm_ss clock{whole - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int{date.year()}, unsigned{date.month()},
                     unsigned{date.day()}, clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  if (text == kNever) return WallTime::max();
  unsigned y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  microseconds fraction{};
  const bool read = take(text, 4, '-', y) && take(text, 2, '-', mo) && take(text, 2, 'T', d) && take(text, 2, ':', h) &&
                    take(text, 2, ':', mi) && take(text, 2, 0, s) && take_fraction(text, fraction) && text == "Z";
  const year_month_day date{year{static_cast<int>(y)}, month{mo}, day{d}};
  if (!read || !date.ok() || h > 23 || mi > 59 || s > 59) return std::nullopt;
  const sys_time<microseconds> time = sys_days{date} + hours{h} + minutes{mi} + seconds{s} + fraction;
  if (time > floor<microseconds>(WallTime::max()) || time < ceil<microseconds>(WallTime::min())) return std::nullopt;
  return time_point_cast<WallTime::duration>(time);
}

}  // namespace rg
