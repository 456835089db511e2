// What the history says of a person's commands.
#pragma once

#include <string>

#include "lib/reconcile/state.hpp"

namespace rg {

/// `until`: WallTime::max() is until `resume`.
[[nodiscard]] Event paused_event(const std::string& path, WallTime until);
[[nodiscard]] Event resumed_event(const std::string& path);
/// Given back, and paused until `resume`.
[[nodiscard]] Event released_event(const std::string& path);

}  // namespace rg
