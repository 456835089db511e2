// The configuration as it lies on disk: config.toml and config.d/*.toml beside it.
#pragma once

#include <string>
#include <vector>

#include "lib/config/config_file.hpp"
#include "lib/result.hpp"

namespace rg {

struct ConfigBytes {
  std::vector<ConfigText> files;  ///< config.toml first, then config.d/*.toml in the order of their names' bytes
  std::string sha256;             ///< over all their paths and bytes: equal if and only if the configuration is
};

/// Reads regular files and links to them, of at most 1 MiB each, at most 1000 of them; names in config.d that begin
/// with a dot are ignored. A missing file at `path` is fine beside a config.d that has one; ENOENT if there is none at
/// all.
[[nodiscard]] Result<ConfigBytes> read_config(const std::string& path);

/// getenv(3), for `${NAME}` in the configuration.
[[nodiscard]] Environment process_environment();

}  // namespace rg
