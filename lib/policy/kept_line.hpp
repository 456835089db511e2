// The writer's comments and unknown lines, as far as they may be written again.
#pragma once

#include <string>

#include "lib/resolv/resolv_conf.hpp"

namespace rg {

/// Appends a line of kind other with a final LF: byte for byte, or without its CRs, NULs and byte order mark. Not what
/// would become another line by that, not a comment of ours, and no `sortlist` that makes glibc loop for ever.
void append_kept_line(const Line& line, std::string& bytes);

}  // namespace rg
