// One value of the configuration or the command line: text -> value, or what was expected instead. Pure.
//
// No value may hold control characters (most end up in a file of lines, or in a log line), bytes that are not UTF-8
// (TOML knows no others), or `${` (print_config() writes what parse_config() must read again, and that expands it).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/config/keywords.hpp"
#include "lib/config/nearest.hpp"
#include "lib/policy/policy.hpp"
#include "lib/resolv/nameserver.hpp"

namespace rg {

/// What was expected, worded to follow "expected ".
struct Expected {
  std::string text;
  friend bool operator==(const Expected&, const Expected&) = default;
};

template <class T>
using Read = std::variant<T, Expected>;

[[nodiscard]] Read<Nameserver> read_address(std::string_view text);
/// An address, or `source-address-of:` with one behind it.
[[nodiscard]] Read<Address> read_server(std::string_view text);
[[nodiscard]] Read<Prefix> read_prefix(std::string_view text);
[[nodiscard]] Read<Deny> read_deny(std::string_view text);
/// As it is written.
[[nodiscard]] std::string deny_text(const Deny& deny);
/// A legal domain name: labels of 1 to 63 bytes, at most 253 in all; `.` alone too.
[[nodiscard]] Read<std::string> read_domain(std::string_view text);
/// One word of an `options` line: `edns0`, `timeout:2`.
[[nodiscard]] Read<std::string> read_option(std::string_view text);
/// The name of an option, without a value.
[[nodiscard]] Read<std::string> read_option_name(std::string_view text);

[[nodiscard]] Read<std::string> read_absolute_path(std::string_view text);
/// An absolute path that can name a file; a glob(7) stands for every file that matches.
[[nodiscard]] Read<std::string> read_guard_path(std::string_view text);
[[nodiscard]] Read<std::string> read_link_text(std::string_view text);
/// `auto`, or user:role:type with an optional level.
[[nodiscard]] Read<std::string> read_selinux_label(std::string_view text);
/// Permission bits as an octal number: 0644.
[[nodiscard]] Read<std::uint32_t> read_mode(std::string_view text);
/// A whole number and its unit: 200ms, 2s, 1m, 1h. At most a year.
[[nodiscard]] Read<std::chrono::milliseconds> read_duration(std::string_view text);
[[nodiscard]] Read<std::chrono::milliseconds> read_deadline(std::string_view text);  ///< longer than nothing
[[nodiscard]] Read<std::chrono::milliseconds> read_timeout(std::string_view text);   ///< 1ms to 1m
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

template <class E>
[[nodiscard]] std::vector<std::string_view> all_keywords() {
  std::vector<std::string_view> words;
  for (const auto& pair : Keywords<E>::kAll) words.push_back(pair.first);
  return words;
}

template <class E>
[[nodiscard]] Read<E> read_keyword(std::string_view text) {
  for (const auto& [word, value] : Keywords<E>::kAll) {
    if (word == text) return value;
  }
  const auto words = all_keywords<E>();
  return Expected{one_of(words) + did_you_mean(text, words)};
}

/// For a message: control characters and what is no UTF-8 escaped as \xNN, cut with "..." before `most` bytes are
/// passed.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

/// "`text`" for a message: one line, control characters escaped, long ones cut.
[[nodiscard]] std::string ticked(std::string_view text);

/// Two paths are the same guard's if these are equal: no duplicate slashes, no `.` components, no final slash.
[[nodiscard]] std::string comparable_path(std::string_view path);

}  // namespace rg
