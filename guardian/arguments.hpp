// The command line, sorted: which argument is whose value. What the values mean is read in options.cpp.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "guardian/options.hpp"

namespace rg {

/// The values as they stand there, each time that they do.
struct Raw {
  std::optional<Command> command;
  std::vector<std::string> config, root, state_dir, runtime_dir, log_format, log_level;
  std::vector<std::string> path, first, last, only, deny, fallback, search_first, set, max, link;
  std::vector<std::string> pause_for, target, wait_holds, count;
  bool observe = false, json = false, alive = false, diff = false, help = false, version = false;
};

/// Or what is to be said instead: help, the version, or what could not be placed.
[[nodiscard]] std::variant<Raw, Stop> sort_arguments(int argc, const char* const* argv);

[[nodiscard]] bool guard_given(const Raw& raw);

/// Says how to get help, too.
[[nodiscard]] Stop usage_error(std::string text);

}  // namespace rg
