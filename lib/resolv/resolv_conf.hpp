// The file format of resolv.conf(5), lossless: render(parse(x)) == x for any bytes. Read as glibc reads it (2.36,
// resolv/res_init.c), but a CR, a byte order mark, NUL bytes, a comment behind a value and a missing final newline are
// forgiven, and an IPv4 address needs its four parts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/resolv/nameserver.hpp"

namespace rg {

/// Only this much of a file is read; a line cut there doesn't count. Bytes.
inline constexpr std::size_t kMaxFileBytes = 1U << 20U;

/// What makes some resolver read a line in another way than we do ("misread is drift"):
/// a byte order mark at the file's start, whatever its line is; a CR anywhere but at the end of a comment or a blank
/// line; a NUL anywhere (musl swallows the line behind it); a comment behind a value that counts, or that glibc would
/// take for one; a nameserver's value that isn't usable here and that some resolver asks all the same (`127.1`,
/// `[2001:db8::1]`).
enum class Flaw { byte_order_mark, carriage_return, nul, trailing_comment, address_form };

struct Line {
  enum class Kind { other, nameserver, search, domain, options };  // other: comments, blank and unknown lines
  Kind kind = Kind::other;
  std::string text;                  ///< exactly as it stands in the file, its line end included
  std::vector<std::string> values;   ///< the words that count: one at most for nameserver (usable or not) and domain
  std::optional<Nameserver> server;  ///< kind nameserver: its value, where it is usable
  std::vector<Flaw> flaws;           ///< sorted, each once
  bool beyond = false;               ///< all that stands past kMaxFileBytes and the line that is cut there: one line of
                                     ///< kind other without values and flaws, so that nothing reads it
};

struct ResolvConf {
  std::vector<Line> lines;
};

[[nodiscard]] ResolvConf parse(std::string_view bytes);
[[nodiscard]] std::string render(const ResolvConf& conf);

/// The servers in the file's order, duplicates kept, lines without a usable address left out.
[[nodiscard]] std::vector<Nameserver> nameservers(const ResolvConf& conf);
/// The domains of the last search or domain line that has a value.
[[nodiscard]] std::vector<std::string> search(const ResolvConf& conf);
/// The domains of every search and domain line, in order.
[[nodiscard]] std::vector<std::string> all_search(const ResolvConf& conf);
/// The words of all options lines, in order.
[[nodiscard]] std::vector<std::string> options(const ResolvConf& conf);

/// Domains are compared without case and without a final dot; `.` alone stays `.`.
[[nodiscard]] bool same_domain(std::string_view a, std::string_view b);
/// An order in which domains that are the same are equal.
[[nodiscard]] bool domain_less(std::string_view a, std::string_view b);
/// `timeout` of `timeout:2`; a flag is its own name.
[[nodiscard]] std::string_view option_name(std::string_view option);

}  // namespace rg
