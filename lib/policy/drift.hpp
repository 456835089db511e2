// In which ways what is read misses what is wanted.
#pragma once

#include <vector>

#include "lib/policy/content.hpp"
#include "lib/policy/learn.hpp"
#include "lib/policy/want.hpp"

namespace rg {

/// Sorted, each once; empty: `disk`, which reads as `read`, holds.
[[nodiscard]] std::vector<Violation> find_drift(const Policy& policy, const ResolvConf& disk, const Lists& read,
                                                const Wanted& wanted, const Learned& learned);

}  // namespace rg
