#include "guardian/settings_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "lib/store/sha256.hpp"
#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

std::string absolute(const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  std::array<char, PATH_MAX> here{};
  return ::getcwd(here.data(), here.size()) == nullptr ? path : std::string(here.data()) + "/" + path;
}

std::string all_texts(const std::vector<ConfigError>& errors) {
  std::string text;
  for (const ConfigError& error : errors) text.append(text.empty() ? "" : "\n").append(error.text());
  return text;
}

}  // namespace

SettingsSource::SettingsSource(const Options& options, Environment environment)
    : path_(absolute(options.config)),
      guard_(options.guard),
      warnings_(options.warnings),
      environment_(std::move(environment)) {}

LoadedSettings SettingsSource::load() const {
  LoadedSettings loaded;
  if (guard_) {
    loaded.settings.emplace().guards.push_back(*guard_);
    loaded.sha256 = sha256_hex(print_config(*loaded.settings));
    loaded.warnings = warnings_;
    return loaded;
  }
  auto bytes = read_config(path_);
  if (!bytes) {
    loaded.error = bytes.error().text();
    loaded.missing = bytes.error().code == ENOENT;
    return loaded;
  }
  loaded.sha256 = bytes->sha256;
  ParsedConfig parsed = parse_config(bytes->files, environment_);
  loaded.settings = std::move(parsed.settings);
  loaded.error = all_texts(parsed.errors);
  for (const ConfigError& warning : parsed.warnings) loaded.warnings.push_back(warning.text());
  return loaded;
}

LoadedSettings SettingsSource::load_or_last_verified(const StateDirectory& state) const {
  LoadedSettings loaded = load();
  if (loaded.settings || guard_) return loaded;
  const auto kept = state.load_verified_config();
  if (!kept.value) return loaded;
  const auto nothing = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  loaded.settings = parse_config({{state.path() + "/verified.toml", *kept.value}}, nothing).settings;
  return loaded;
}

bool SettingsSource::being_written() const {
  const auto bytes = guard_ ? Result<ConfigBytes>(ConfigBytes{}) : read_config(path_);
  if (!bytes) return false;
  for (const ConfigText& file : bytes->files) {
    const FileDescriptor fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd && probe_writer(fd.get()) == WriterOpen::yes) return true;
  }
  return false;
}

}  // namespace rg
