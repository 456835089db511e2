// Files that no writer should write and some do: for property tests.
#pragma once

#include <rapidcheck.h>

#include <string>

namespace rg::test {

/// Keywords in pieces, blanks of every kind, line ends of every kind, byte order marks, NULs, comments, addresses in
/// every form, long words.
inline rc::Gen<std::string> nasty_file() {
  using namespace std::string_literals;
  const auto piece = rc::gen::element(
      "nameserver "s, "nameserver "s, "nameserver\t"s, "nameserver"s, "name"s, "server"s, "search "s, "search\t"s,
      "search"s, "domain "s, "options "s, "options "s, "sortlist "s, "\n"s, "\n"s, "\n"s, "\n"s, "\r\n"s, "\r"s, "\0"s,
      "\0\0\0"s, "\xEF\xBB\xBF"s, "\f"s, "\v"s, "\xC2\xA0"s, "\x85"s, " "s, "\t"s, "#"s, ";"s, "# comment"s,
      "# resolv-guardian"s, "192.0.2.1"s, "192.0.2.2"s, "192.0.2.3"s, "198.51.100.1"s, "2001:db8::1"s, "2001:DB8:0::1"s,
      "fe80::1%eth0"s, "127.0.0.1"s, "127.1"s, "[::1]:53"s, "010.0.0.1"s, "300.1.1.1"s, "invalid"s, "a.example"s,
      "A.Example."s, "b.example"s, "c.example"s, "."s, "a..example"s, "ndots:2"s, "ndots:5"s, "timeout:1"s, "edns0"s,
      "trust-ad"s, "198.51.100.0/24"s, "bogus/24"s, std::string(64, 'l'), std::string(250, 'n'), std::string(600, 'x'));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const std::vector<std::string>& pieces) {
    std::string bytes;
    for (const std::string& one : pieces) bytes += one;
    return bytes;
  });
}

}  // namespace rg::test
