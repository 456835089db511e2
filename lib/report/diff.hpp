// Unified diffs, as diff(1) -u prints them.
#pragma once

#include <string>
#include <string_view>

namespace rg {

/// Empty where both are equal. `old_name` and `new_name` go into the --- and +++ lines; three lines of context; a
/// missing final newline is marked as diff(1) does. Bounded: past 4,000 lines a side, the middle is one replaced block.
[[nodiscard]] std::string unified_diff(std::string_view old_bytes, std::string_view new_bytes,
                                       const std::string& old_name, const std::string& new_name);

}  // namespace rg
