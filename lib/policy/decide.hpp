// The heart: what must change so that the policy holds. Pure. The same function finds the drift and judges what was
// read back after a restore.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/policy/content.hpp"

namespace rg {

/// What stands at the guarded path, as values.
struct Node {
  enum class Kind { absent, file, directory, other, unreadable, no_directory, loop };
  Kind kind = Kind::absent;  ///< of the final target
  int error = 0;             ///< kind unreadable: the errno of the look
  bool linked = false;       ///< the guarded name itself is a symbolic link
  std::string_view link_text;
  std::string_view path;    ///< of the final target inside the root, without links; empty where there is none
  std::string_view bytes;   ///< kind file
  std::uint32_t mode = 0;   ///< permission bits
  std::uint64_t links = 1;  ///< hard links; 0: the name is gone (a single-file mount whose source was renamed over)
  std::string_view label;
};

struct Circumstances {
  std::optional<std::string_view> document;     ///< the last writer's bytes; nullopt: none
  std::optional<std::string_view> link_target;  ///< what the target of link_to holds; nullopt: it can't be read
  const std::vector<Upstream>& upstream;
  const Memory& memory;
  bool selinux = false;
  const std::function<bool(const std::string& zone)>& interface_exists;
};

struct Decision {
  enum class Kind { keep, rewrite, refuse };
  Kind kind = Kind::keep;
  std::vector<Violation> violations;
  Content content;
  std::string refusal;  ///< kind refuse: begins with the state's word (immutable, permission, ...), says what to do
  bool failed = false;  ///< kind refuse: by an I/O error or a limit, and not by what stands there
  // kind rewrite:
  bool at_name = false;          ///< the guarded name itself is replaced, not the target of its link
  bool make_link = false;        ///< by a link to policy.link_to
  bool kind_alone = false;       ///< what a resolver reads stays the same: it waits for quiet
  bool only_attributes = false;  ///< mode or label alone
  std::string bytes;             ///< to be written
  std::string label;             ///< security.selinux to be set; empty: none
};

[[nodiscard]] Decision decide(const Policy& policy, const Node& node, const Circumstances& circumstances);

/// Whether an errno tells of our own limits (descriptors, memory) and nothing of what was looked at: no node is
/// replaced for that.
[[nodiscard]] bool is_limit(int error);

/// Whether a server in `bytes` is neither ours nor denied: the target of link_to is good for a link then.
[[nodiscard]] bool shows_foreign_server(const Policy& policy, std::string_view bytes);

}  // namespace rg
