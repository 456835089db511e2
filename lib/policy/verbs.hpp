// What the verbs of a policy say of one entry, and of a list that is left empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/policy/memory.hpp"
#include "lib/policy/policy.hpp"

namespace rg {

/// Named by first, last, only or set: never learned.
[[nodiscard]] bool is_ours(const NameserverPolicy& policy, const Nameserver& server);
[[nodiscard]] bool is_ours(const SearchPolicy& policy, std::string_view domain);
/// `timeout:9` is ours where `timeout:2` is set: one value an option.
[[nodiscard]] bool is_ours(const OptionsPolicy& policy, std::string_view option);

[[nodiscard]] bool is_denied(const NameserverPolicy& policy, const Nameserver& server);
[[nodiscard]] bool is_denied(const SearchPolicy& policy, std::string_view domain);
[[nodiscard]] bool is_denied(const OptionsPolicy& policy, std::string_view option);

/// Whether the lines of that kind are ours to change; otherwise they stay, but for what is misread.
[[nodiscard]] bool search_is_ours(const Policy& policy);
[[nodiscard]] bool options_are_ours(const OptionsPolicy& policy);

/// Labels of 1 to 63 bytes and 253 bytes in all, a final dot not counted. `.` alone is no domain to search.
[[nodiscard]] bool is_searchable(std::string_view domain);

}  // namespace rg
