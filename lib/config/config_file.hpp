// TOML text -> Settings: every mistake with its file, line and column. Pure: the environment is an argument.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/policy/policy.hpp"

namespace rg {

/// One configuration file as it was read.
struct ConfigText {
  std::string path;
  std::string bytes;
};

struct ConfigError {
  std::string file;
  unsigned line = 0, column = 0;  ///< from 1; 0 where there is none (no guard at all)
  std::string found;              ///< what stands there
  std::string expected;           ///< what was expected, with the nearest valid word for a misspelt one
  /// "config.toml:3:1: found `pth`, expected one of ... (did you mean `path`?)"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

/// So many mistakes of a file are reported.
inline constexpr std::size_t kMaxErrors = 100;

struct ParsedConfig {
  std::optional<Settings> settings;  ///< set exactly where there are no errors
  std::vector<ConfigError> errors;
  std::vector<ConfigError> warnings;  ///< what is legal and hardly meant; of the files whose TOML can be read
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The files in the order they were read in: config.toml, then config.d/*.toml; a guard of a later file replaces an
/// earlier one of the same path (in its place in the order).
[[nodiscard]] ParsedConfig parse_config(const std::vector<ConfigText>& files, const Environment& environment);

/// Checks what no single key shows: only beside another verb, more of ours than max, an address both required and
/// denied, link_to beside write = "in-place"..., for guards that came from the command line too. Positions are 0 there.
[[nodiscard]] std::vector<ConfigError> check_policy(const Policy& policy, const std::string& file);

/// What of such a guard is legal and hardly meant.
[[nodiscard]] std::vector<ConfigError> policy_warnings(const Policy& policy, const std::string& file);

/// The whole configuration with all defaults filled in: valid TOML that parses to equal Settings.
[[nodiscard]] std::string print_config(const Settings& settings);

}  // namespace rg
