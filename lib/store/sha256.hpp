// SHA-256 (FIPS 180-4), pure.
#pragma once

#include <string>
#include <string_view>

namespace rg {

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace rg
