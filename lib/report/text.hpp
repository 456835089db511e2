// Bytes that somebody else chose (contents, file names, addresses) as text that can do no harm where it is printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rg {

/// For one line of a terminal or a log: every byte but printable ASCII as \xNN.
[[nodiscard]] std::string printable(std::string_view bytes);
/// The same, but for the line ends and tabs of a text of several lines.
[[nodiscard]] std::string printable_lines(std::string_view bytes);
/// At most `most` bytes of `text`, with "..." for what was cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// Valid UTF-8 (RFC 3629) as it is, U+FFFD for every byte that is no part of it.
[[nodiscard]] std::string utf8(std::string_view bytes);
/// utf8(), at most `most` bytes: past that whole lines from the front and a last line "[N more bytes]".
[[nodiscard]] std::string utf8_excerpt(std::string_view bytes, std::size_t most);

}  // namespace rg
