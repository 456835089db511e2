#include "lib/policy/kept_line.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include "lib/policy/content.hpp"

namespace rg {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kUnwanted("\r\0", 2);

bool is_plain(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_mask(char c) { return c == '/' || c == '&'; }

bool is_ipv4(std::string_view text) {
  in_addr address{};
  return text.size() < 64 && inet_aton(std::string(text).c_str(), &address) != 0;
}

/// glibc's sortlist loop (resolv/res_init.c, res_vinit_1()) goes on only from a blank or TAB, and takes a mask only
/// behind a valid address: from any other end of a word it never moves again. Each turn here is one of its turns.
bool sortlist_loops(std::string_view line) {
  constexpr std::string_view kKeyword = "sortlist";
  if (!line.starts_with(kKeyword)) return false;
  line.remove_prefix(kKeyword.size());
  if (line.empty() || (line.front() != ' ' && line.front() != '\t')) return false;
  while (true) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (line.empty() || line.front() == '\n' || line.front() == ';') return false;
    const auto ends = [](char c) { return c == ';' || !is_plain(c) || is_space(c); };
    const auto word = std::find_if(line.begin(), line.end(), [&](char c) { return is_mask(c) || ends(c); });
    const auto size = static_cast<std::size_t>(word - line.begin());
    if (size == 0) return true;
    auto rest = word;
    if (word != line.end() && is_mask(*word) && is_ipv4(line.substr(0, size))) {
      rest = std::find_if(word + 1, line.end(), ends);
    }
    line.remove_prefix(static_cast<std::size_t>(rest - line.begin()));
  }
}

/// What the line says once nothing in it is misread. Inner CRs and NULs become blanks: gone, they would join two words
/// to one that nobody wrote (`name\0server`).
std::string without_flaws(std::string_view body) {
  while (body.starts_with('\0') || body.starts_with(kByteOrderMark)) {
    body.remove_prefix(body.front() == '\0' ? 1 : kByteOrderMark.size());
  }
  body = body.substr(0, body.find_last_not_of(kUnwanted) + 1);
  std::string text(body);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return kUnwanted.find(c) != std::string_view::npos; }, ' ');
  return text;
}

bool may_stand(std::string_view body) { return !body.starts_with(kCommentPrefix) && !sortlist_loops(body); }

}  // namespace

void append_kept_line(const Line& line, std::string& bytes) {
  std::string_view body = line.text;
  if (body.ends_with('\n')) body.remove_suffix(1);
  if (body.find_first_of(kUnwanted) == std::string_view::npos && !body.starts_with(kByteOrderMark)) {
    if (may_stand(body)) bytes.append(body).append("\n");
    return;
  }
  const std::string clean = without_flaws(body);
  if (clean.empty() && body.find('\0') != std::string_view::npos) return;  // fallocate(2) padding, no line of anybody's
  const ResolvConf again = parse(clean);
  const bool same =
      again.lines.empty() || (again.lines.front().kind == Line::Kind::other && again.lines.front().flaws.empty());
  if (same && may_stand(clean)) bytes.append(clean).append("\n");
}

}  // namespace rg
