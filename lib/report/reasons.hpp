// Reasons of states: what stands behind `paused`, `blocked` and so on in status, log and history.
#pragma once

#include <string>

namespace rg {

[[nodiscard]] std::string paused_reason();
[[nodiscard]] std::string observing_reason();
/// `guard`: the path of the guard that has this target.
[[nodiscard]] std::string same_file_reason(const std::string& guard);
/// Its own file system doesn't answer.
[[nodiscard]] std::string unanswered_reason();
/// It waits behind `guard`, whose file system doesn't answer.
[[nodiscard]] std::string not_looked_at_reason(const std::string& guard);

}  // namespace rg
