// Configurations as the tests write them: one file, a small environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/config/config_file.hpp"

inline rg::ParsedConfig parse_text(const std::string& toml,
                                   const std::map<std::string, std::string>& environment = {}) {
  return rg::parse_config({{"config.toml", toml}}, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

inline std::vector<std::string> error_texts(const rg::ParsedConfig& parsed) {
  std::vector<std::string> texts;
  for (const rg::ConfigError& error : parsed.errors) texts.push_back(error.text());
  return texts;
}

/// The texts of all errors of one configuration.
inline std::vector<std::string> errors_of(const std::string& toml) { return error_texts(parse_text(toml)); }
