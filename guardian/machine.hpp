// The machine that it runs on: its interfaces and its identity.
#pragma once

#include <string>

#include "lib/policy/memory.hpp"
#include "lib/tree/files.hpp"

namespace rg {

/// if_nametoindex(3), or a number that is an interface's.
[[nodiscard]] bool interface_exists(const std::string& zone);

/// The text of root/etc/machine-id; last good lists of another machine are dropped from `memory`.
void heed_machine(Memory& memory, Files& files);

}  // namespace rg
