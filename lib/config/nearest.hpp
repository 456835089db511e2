// The valid word that a misspelt one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rg {

/// The word of `words` that `text` was probably meant to be: at most two wrong, missing, additional or swapped
/// characters (one in words of up to four), without case, `-` and `_` being the same. nullopt: none is near.
[[nodiscard]] std::optional<std::string> nearest(std::string_view text, const std::vector<std::string_view>& words);

/// " (did you mean `word`?)" for the nearest word, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& words);

/// "`a`, `b` or `c`".
[[nodiscard]] std::string one_of(const std::vector<std::string_view>& words);

}  // namespace rg
