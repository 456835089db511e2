// Which setting of a writer ends a fight with it.
#pragma once

#include <string>
#include <string_view>

namespace rg {

/// The reason of the state `contested`: by whom, and the writer's own setting that ends it. `writer` as
/// apparent_writer().
[[nodiscard]] std::string contested_reason(std::string_view writer);

}  // namespace rg
