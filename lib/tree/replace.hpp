// Steps of the one writer, for replace.cpp and what cleans up after it.
#pragma once

#include <optional>

#include "lib/tree/disk_files.hpp"

namespace rg {

/// What a killed guardian left beside `place`: removed by discard_leftover().
[[nodiscard]] std::optional<std::string> read_leftover(const Place& place, struct stat& info);
void discard_leftover(const Place& place);

/// fsync(2) of what was made visible and of its directory: the durable half of a write, off the hot path.
void make_durable(const SharedDescriptor& directory, const std::string& name);

}  // namespace rg
