// The command line: arguments -> Options, or what is to be said instead.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/config/config_file.hpp"
#include "lib/policy/policy.hpp"

namespace rg {

inline constexpr const char* kDefaultConfig = "/etc/resolv-guardian/config.toml";

enum class Command { run, apply, check, pause, resume, release, status, history, config };
enum class LogFormat { text, json };
enum class LogLevel { debug, info, warning, error };

struct Options {
  Command command{};

  std::string config = kDefaultConfig;
  bool config_given = false;
  std::string root = "/";
  std::string state_dir, runtime_dir;  ///< empty: not given (resolve_directories)
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  std::optional<Policy> guard;        ///< said on the command line, in place of any configuration file; already checked
  std::vector<std::string> warnings;  ///< of that guard

  std::optional<std::string> path;                      ///< pause, resume, release: this guard alone
  std::optional<std::chrono::milliseconds> pause;       ///< pause --for
  bool json = false;                                    ///< status, history
  std::optional<std::chrono::milliseconds> wait_holds;  ///< status --wait-holds; 0: for ever
  bool alive = false;                                   ///< status --alive
  std::size_t count = 20;                               ///< history -n; 0: all
  bool diff = false;                                    ///< history --diff
};

/// The program ends here: with help or its version (0, on `out`), or with what is wrong (2, on `err`).
struct Stop {
  int status = 0;
  std::string out, err;
};

[[nodiscard]] std::variant<Options, Stop> parse_command_line(int argc, const char* const* argv);

struct Directories {
  std::string state, runtime;
};
/// Those given, else the first of $STATE_DIRECTORY and $RUNTIME_DIRECTORY, else /var/lib and /run.
[[nodiscard]] Directories resolve_directories(const Options& options, const Environment& environment);

}  // namespace rg
