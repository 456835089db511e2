// A descriptor table of a thread's own. A process with a thread that is stuck in the kernel can't die, and what is open
// in the table of that thread stays open: locks and sockets must not be there.
#pragma once

#include <vector>

namespace rg {

/// Gives the calling thread a descriptor table of its own, in which nothing is open but standard input, output, error
/// and `keep`. Threads that it makes afterwards share it. False: the kernel or a seccomp filter doesn't allow it, and
/// the table stays shared. A descriptor that was opened in one table is a mere number in another.
bool own_descriptors(std::vector<int> keep);

}  // namespace rg
