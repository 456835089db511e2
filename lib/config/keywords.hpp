// The words that stand for the values of an enumeration in the configuration and on the command line, in one place.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "lib/policy/policy.hpp"

namespace rg {

template <class E>
struct Keywords;  // kAll: every word with its value

template <>
struct Keywords<WhenEmpty> {
  static constexpr std::array<std::pair<std::string_view, WhenEmpty>, 3> kAll{
      {{"last-good", WhenEmpty::last_good}, {"fallback", WhenEmpty::fallback}, {"leave", WhenEmpty::leave}}};
};
template <>
struct Keywords<DenyWord> {
  static constexpr std::array<std::pair<std::string_view, DenyWord>, 3> kAll{
      {{"loopback", DenyWord::loopback}, {"unspecified", DenyWord::unspecified}, {"link-local", DenyWord::link_local}}};
};
template <>
struct Keywords<LinkMode> {
  static constexpr std::array<std::pair<std::string_view, LinkMode>, 2> kAll{
      {{"follow", LinkMode::follow}, {"file", LinkMode::file}}};
};
template <>
struct Keywords<WriteMode> {
  static constexpr std::array<std::pair<std::string_view, WriteMode>, 2> kAll{
      {{"auto", WriteMode::automatic}, {"in-place", WriteMode::in_place}}};
};
template <>
struct Keywords<UpstreamWhen> {
  static constexpr std::array<std::pair<std::string_view, UpstreamWhen>, 2> kAll{
      {{"always", UpstreamWhen::always}, {"none-left", UpstreamWhen::none_left}}};
};
template <>
struct Keywords<OnExit> {
  static constexpr std::array<std::pair<std::string_view, OnExit>, 2> kAll{
      {{"leave", OnExit::leave}, {"restore", OnExit::restore}}};
};
template <>
struct Keywords<ReloadMode> {
  static constexpr std::array<std::pair<std::string_view, ReloadMode>, 2> kAll{
      {{"auto", ReloadMode::automatic}, {"sighup", ReloadMode::sighup}}};
};

/// The word of a value.
template <class E>
[[nodiscard]] constexpr std::string_view keyword(E value) {
  for (const auto& [word, meant] : Keywords<E>::kAll) {
    if (meant == value) return word;
  }
  return {};
}

}  // namespace rg
