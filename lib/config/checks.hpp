// What no single key of a guard shows: whether its values can hold together.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lib/config/config_file.hpp"
#include "lib/config/toml_source.hpp"
#include "lib/policy/policy.hpp"

namespace rg {

/// Where a key was given, and where each element of its list that was read stands. Keys as `nameservers.first`; a key
/// that is not here was not given.
struct Mark {
  Position key;
  std::vector<Position> elements;
};
using Marks = std::map<std::string, Mark>;

/// Where element `index` of the list `key` stands; line 0 where the key was not given.
[[nodiscard]] Position place_of(const Marks& marks, const std::string& key, std::size_t index);

void check_guard(const Policy& policy, const Marks& marks, const std::string& file, std::vector<ConfigError>& errors);

}  // namespace rg
