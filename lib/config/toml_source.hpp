// A TOML text as a tree of our own whose every node knows where it stands. toml++ is included behind this header alone.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lib/config/config_file.hpp"

namespace rg {

struct Position {
  unsigned line = 0, column = 0;  ///< from 1; 0: nowhere
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct TomlNode;
struct Member;
using Array = std::vector<TomlNode>;
using Table = std::vector<Member>;  // in the order of the text

/// What is neither of the types that a configuration uses: a float, a date, a time.
struct OtherValue {};

struct TomlNode {
  Position at;
  std::variant<OtherValue, bool, std::int64_t, std::string, Array, Table> value;
  std::string text;  ///< what stands there, worded for a message: `"0644"`, `12`, a list, a table
};

struct Member {
  std::string key;
  Position at;  ///< of the key
  TomlNode value;
};

/// The table of the whole file, or the first place that is no TOML.
[[nodiscard]] std::variant<Table, ConfigError> read_toml(const ConfigText& file);

}  // namespace rg
