#include "lib/report/text.hpp"

#include <fmt/format.h>

namespace rg {
namespace {

std::string escaped(std::string_view bytes, std::string_view kept) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if ((c >= ' ' && c <= '~') || kept.find(c) != std::string_view::npos) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

// The length of the UTF-8 sequence that `bytes` begin with, 0 if they begin with none (RFC 3629, section 4: no
// surrogates, nothing above U+10FFFF, no longer form than needed).
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return 0;
  }
  if (lead == 0xe0 && at(1) < 0xa0) return 0;
  if (lead == 0xed && at(1) > 0x9f) return 0;
  if (lead == 0xf0 && at(1) < 0x90) return 0;
  if (lead == 0xf4 && at(1) > 0x8f) return 0;
  return length;
}

}  // namespace

std::string printable(std::string_view bytes) { return escaped(bytes, ""); }

std::string printable_lines(std::string_view bytes) { return escaped(bytes, "\n\t"); }

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most < 3 ? 0 : most - 3)) + "...";
}

std::string utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    text += length == 0 ? "\xef\xbf\xbd" : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::string utf8_excerpt(std::string_view bytes, std::size_t most) {
  if (bytes.size() <= most) {
    std::string text = utf8(bytes);
    if (text.size() <= most) return text;
  }
  constexpr std::size_t kMarker = 48;  // enough for the marker with any number
  std::size_t room = most > kMarker ? most - kMarker : 0;
  std::string text;
  std::size_t taken = 0;
  std::size_t line_text = 0, line_taken = 0;  // up to the last line end
  while (taken < bytes.size()) {
    const std::string_view rest = bytes.substr(taken);
    const std::size_t length = sequence_length(rest);
    const std::string_view piece = length == 0 ? "\xef\xbf\xbd" : rest.substr(0, length);
    if (text.size() + piece.size() > room) break;
    text += piece;
    taken += length == 0 ? 1 : length;
    if (piece == "\n") line_text = text.size(), line_taken = taken;
  }
  if (line_text != 0) {
    text.resize(line_text);
    taken = line_taken;
  } else if (!text.empty()) {
    text += '\n';
  }
  return text + fmt::format("[{} more bytes]\n", bytes.size() - taken);
}

}  // namespace rg
