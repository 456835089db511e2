// A replacement of what was judged, in one line.
#pragma once

#include <string>

#include "test/support/temp_root.hpp"

namespace rg::test {

inline constexpr const char* kGuarded = "/etc/resolv.conf";

/// What stands at `name` is what was judged; change the tree after it for a race.
inline Replacement replacing(const Seen& judged, std::string_view content) {
  Replacement wanted;
  wanted.place = judged.name();
  const bool linked = judged.linked();
  wanted.judged_kind = linked ? NodeKind::link : judged.kind;
  if (linked) wanted.judged_link = judged.chain.name_step().link_text;
  if (!linked) wanted.judged_bytes = judged.bytes;
  if (!linked && judged.kind == NodeKind::file) wanted.judged = &judged;
  wanted.content = content;
  return wanted;
}

/// The only thing in /etc is the guarded file: no temporary name was left.
inline bool nothing_left_beside(const TempRoot& root) {
  for (const std::string& name : root.names("/etc")) {
    if (name == temporary_name("resolv.conf")) return false;
  }
  return true;
}

}  // namespace rg::test
