// Where the configuration comes from: files, or a single guard on the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guardian/config_source.hpp"
#include "guardian/options.hpp"
#include "lib/store/state_file.hpp"

namespace rg {

struct LoadedSettings {
  std::optional<Settings> settings;  ///< nullopt: `error` says why
  std::string sha256;                ///< of the files, or of the command line's guard as `config` prints it
  std::string error;                 ///< every mistake, one a line
  std::vector<std::string> warnings;
  bool missing = false;  ///< there is no configuration file at all
};

class SettingsSource {
 public:
  SettingsSource(const Options& options, Environment environment);
  [[nodiscard]] LoadedSettings load() const;
  /// At start: a bad configuration is replaced by the last one that was verified as a whole; `error` stays set then.
  [[nodiscard]] LoadedSettings load_or_last_verified(const StateDirectory& state) const;
  [[nodiscard]] bool from_file() const { return !guard_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// True while somebody has one of the files open for writing: a half-saved configuration is never taken.
  [[nodiscard]] bool being_written() const;

 private:
  std::string path_;  // absolute
  std::optional<Policy> guard_;
  std::vector<std::string> warnings_;  // of that guard
  Environment environment_;
};

}  // namespace rg
