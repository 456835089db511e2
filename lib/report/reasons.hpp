// Reasons of states: what stands behind `paused`, `blocked` and so on in status, log and history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/policy/resolve.hpp"

namespace rg {

[[nodiscard]] std::string paused_reason();
[[nodiscard]] std::string observing_reason();
/// `guard`: the path of the guard that has this target.
[[nodiscard]] std::string same_file_reason(const std::string& guard);
/// A pass took longer than `deadline`.
[[nodiscard]] std::string late_reason();
/// No write begins any more: SIGTERM.
[[nodiscard]] std::string stopping_reason();
/// A glob doesn't match it any more.
[[nodiscard]] std::string vanished_reason();
/// The file itself is a mount point.
[[nodiscard]] std::string single_file_reason();
/// Its own file system doesn't answer.
[[nodiscard]] std::string unanswered_reason();
/// An earlier guard in the order doesn't hold.
[[nodiscard]] std::string waits_reason(const std::string& guard);
/// `requires`: why its servers don't let it pass.
[[nodiscard]] std::string requires_reason(const std::string& why_not);
/// `requires`: its servers haven't answered yet.
[[nodiscard]] std::string asking_reason();
/// source-address-of: there is no address, or it can't stand where it should.
[[nodiscard]] std::string unresolved_reason(const Unresolved& unresolved);
/// How it begins where there is no address, and where it can't stand.
[[nodiscard]] std::string unresolved_reason();
[[nodiscard]] std::string misplaced_reason();
/// Why there is no source address, where the kernel has no error for it.
[[nodiscard]] std::string no_interface_reason(const std::string& zone);
[[nodiscard]] std::string no_address_reason();
/// What stands came from `upstream`, which has no server now.
[[nodiscard]] std::string upstream_lost_reason();
/// None of the files of `upstream` can be read; at boot they may be yet to come.
[[nodiscard]] std::string no_upstream_reason(const std::vector<std::string>& upstream,
                                             bool (*has_glob)(const std::string& path));
/// A glob some of whose directories can't be looked into.
[[nodiscard]] std::string not_listed_reason(const std::string& error);
/// A glob without a match.
[[nodiscard]] std::string no_match_reason();
/// An update to which the generation `next` put an end, when so many of its guards had been brought to hold.
[[nodiscard]] std::string cancelled_reason(std::uint64_t next, std::size_t done, std::size_t of);
/// It waits behind `guard`, whose file system doesn't answer.
[[nodiscard]] std::string not_looked_at_reason(const std::string& guard);
/// No event would tell of a change.
[[nodiscard]] std::string looked_at_often_reason(const std::string& why);

}  // namespace rg
