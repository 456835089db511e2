// Writing into the file that stands there: where a rename can't work, and where the inode must stay. For lib/tree
// alone.
#pragma once

#include "lib/tree/files.hpp"

namespace rg {

/// The new bytes over the old ones. On an Error the old ones stand there as they were, unless even that write fails.
[[nodiscard]] Result<Swap> write_in_place(const Replacement& wanted);

/// Mode and label alone.
[[nodiscard]] Result<Swap> set_attributes_only(const Replacement& wanted);

}  // namespace rg
