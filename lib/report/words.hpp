// The words of every enumeration, in one place: JSON, log and status use these and no others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/reconcile/state.hpp"

namespace rg {

[[nodiscard]] std::string_view word(State);
[[nodiscard]] std::string_view word(Phase);
[[nodiscard]] std::string_view word(How);
[[nodiscard]] std::string_view word(Event::Kind);
[[nodiscard]] std::string_view word(Violation);
[[nodiscard]] std::string_view word(Origin);
[[nodiscard]] std::string_view word(Why);
[[nodiscard]] std::string_view word(Source);

/// The value of a word; nullopt if it is none of T's.
template <class T>
[[nodiscard]] std::optional<T> from_word(std::string_view text);

/// RFC 3339 in UTC with microseconds: 2026-11-30T19:25:06.000001Z. WallTime::max() is 9999-12-31T23:59:59Z, both ways.
[[nodiscard]] std::string rfc3339(WallTime time);
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace rg
