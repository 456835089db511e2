// The text of the state files: JSON with a version. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/policy/memory.hpp"

namespace rg::store {

/// What a state file held, or why it is not to be believed.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string mistake;  ///< empty exactly where there is a value
};

[[nodiscard]] std::string memory_json(const std::string& guard_path, const Memory& memory);
[[nodiscard]] Parsed<Memory> parse_memory(std::string_view json, const std::string& guard_path);

[[nodiscard]] std::string intent_json(const std::string& guard_path, const std::string& digest);
[[nodiscard]] Parsed<std::string> parse_intent(std::string_view json, const std::string& guard_path);

[[nodiscard]] std::string generation_json(std::uint64_t generation);
[[nodiscard]] Parsed<std::uint64_t> parse_generation(std::string_view json);

}  // namespace rg::store
