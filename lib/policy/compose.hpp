// The bytes of a resolv.conf: the wanted lists in the writer's document.
#pragma once

#include <string>

#include "lib/policy/content.hpp"

namespace rg {

/// The document with its nameserver lines, and its search and options lines where they are ours, replaced by those that
/// `want` asks for; comments and unknown lines where they stood; nothing in it that is misread. A document past
/// kMaxFileBytes keeps what is read of it; one that leaves no room for ours keeps no comments and unknown lines.
[[nodiscard]] std::string compose(const Policy& policy, const ResolvConf& document, const Lists& want);

}  // namespace rg
