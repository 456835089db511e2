// Any configuration that is valid, for properties.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/config/config_file.hpp"
#include "lib/policy/resolve.hpp"

namespace rg_gen {

inline rc::Gen<std::string> address() {
  const auto octet = rc::gen::inRange(0, 256);
  const auto group = rc::gen::inRange(0, 0x10000);
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::tuple(octet, octet, octet, octet),
                   [](const auto& o) {
                     return std::to_string(std::get<0>(o)) + '.' + std::to_string(std::get<1>(o)) + '.' +
                            std::to_string(std::get<2>(o)) + '.' + std::to_string(std::get<3>(o));
                   }),
      rc::gen::map(rc::gen::tuple(group, rc::gen::element<std::string>("", "%eth0", "%a\"b\\", "%1")),
                   [](const auto& g) { return "fe80::" + std::to_string(std::get<0>(g) % 10000) + std::get<1>(g); }));
}

inline rg::Nameserver server() { return *rg::Nameserver::parse(*address()); }

inline rg::SourceAddressOf source() {
  const std::string text = *address();
  const bool linked = text.starts_with("fe80") && text.find('%') == text.npos;  // a link-local one needs its zone
  const rg::Nameserver host = *rg::Nameserver::parse(linked ? text + "%eth0" : text);
  return {host.is_unspecified() || host.is_multicast() ? *rg::Nameserver::parse("192.0.2.5") : host};
}
inline rg::Address written() { return *rc::gen::inRange(0, 4) == 0 ? rg::Address{source()} : rg::Address{server()}; }

inline rg::Prefix prefix() {
  const std::string text = *address();
  const bool bare = text.find('%') != text.npos || *rc::gen::arbitrary<bool>();
  return *rg::Prefix::parse(bare ? text : text + '/' + std::to_string(*rc::gen::inRange(0, 33)));
}

/// Words of printable ASCII and, where a value may hold them, anything else that UTF-8 can say.
inline rc::Gen<std::string> word(const std::string& more = {}) {
  const std::string plain = "abcXYZ019-_\"\\'[]=.$}";
  return rc::gen::map(rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
                          rc::gen::map(rc::gen::elementOf(plain + more), [](char c) { return std::string(1, c); }))),
                      [](const std::vector<std::string>& parts) {
                        std::string text = "a";
                        for (std::size_t i = 0; i < parts.size() && i < 20; ++i) text += parts[i];
                        return text + "\xc3\xa4";
                      });
}

inline std::string path() { return "/" + *word(" #;/,") + "x"; }

inline std::string domain() {
  std::string text = *word();
  std::erase_if(text, [](char c) { return c == '.' || static_cast<unsigned char>(c) >= 0x80; });
  return text + *rc::gen::element<std::string>("", ".", ".example");
}

template <class F>
auto list(int most, F one) {
  std::vector<decltype(one())> values(static_cast<std::size_t>(*rc::gen::inRange(0, most + 1)));
  for (auto& value : values) value = one();
  return values;
}

template <class E>
E any(std::initializer_list<E> values) {
  return *rc::gen::elementOf(std::vector<E>(values));
}

inline rg::WhenEmpty when_empty() {
  return any({rg::WhenEmpty::last_good, rg::WhenEmpty::fallback, rg::WhenEmpty::leave});
}

inline rg::NameserverPolicy nameservers() {
  rg::NameserverPolicy policy;
  policy.max = *rc::gen::inRange<std::size_t>(0, 9);
  if (*rc::gen::arbitrary<bool>()) {
    policy.written.emplace().only = list(3, written);
    rg::take_written(policy);
    return policy;
  }
  auto& lists = policy.written.emplace();
  lists.first = list(2, written);
  lists.last = list(2, written);
  lists.deny = list(2, [] {
    const auto words = {rg::DenyWord::loopback, rg::DenyWord::unspecified, rg::DenyWord::link_local};
    if (*rc::gen::inRange(0, 8) == 0) return rg::Deny{source()};
    return *rc::gen::arbitrary<bool>() ? rg::Deny{prefix()} : rg::Deny{any(words)};
  });
  policy.prefer = list(2, prefix);
  policy.when_empty = when_empty();
  lists.fallback = list(2, written);
  rg::take_written(policy);
  return policy;
}

inline rg::SearchPolicy search() {
  rg::SearchPolicy policy;
  policy.max = *rc::gen::inRange<std::size_t>(0, 9);
  if (*rc::gen::arbitrary<bool>()) {
    policy.only = list(3, domain);
    return policy;
  }
  policy.first = list(2, domain);
  policy.last = list(2, domain);
  policy.deny = list(2, domain);
  policy.when_empty = when_empty();
  policy.fallback = list(2, domain);
  policy.merge_lines = *rc::gen::arbitrary<bool>();
  return policy;
}

inline rg::OptionsPolicy options() {
  rg::OptionsPolicy policy;
  const auto option = [] {
    return *rc::gen::element<std::string>("edns0", "timeout:2", "ndots:\"5\\", "x", "trust-ad");
  };
  policy.max = *rc::gen::inRange<std::size_t>(0, 9);
  if (*rc::gen::arbitrary<bool>()) {
    policy.only = list(3, option);
    return policy;
  }
  policy.set = list(3, option);
  policy.deny = list(2, [] { return *rc::gen::element<std::string>("rotate", "a\"\\b"); });
  policy.when_empty = when_empty();
  policy.fallback = list(2, option);
  return policy;
}

inline std::chrono::milliseconds duration(std::int64_t least) {
  const std::int64_t unit = any<std::int64_t>({1, 1000, 60'000, 3'600'000});
  return std::chrono::milliseconds{unit * *rc::gen::inRange<std::int64_t>(least, 8760)};
}

inline rg::Requirement requirement() {
  rg::Requirement one{server(), domain(), std::chrono::milliseconds{*rc::gen::inRange(1, 60'001)}};
  if (!*rc::gen::arbitrary<bool>()) return one;
  one.nameserver = {};
  one.source = source();
  return one;
}

/// One guard; it may still break a rule that no single key shows (check_policy).
inline rg::Policy policy() {
  rg::Policy policy;
  policy.path = path();
  policy.enforce = *rc::gen::arbitrary<bool>();
  policy.optional = *rc::gen::arbitrary<bool>();
  policy.link = any({rg::LinkMode::follow, rg::LinkMode::file});
  policy.write = any({rg::WriteMode::automatic, rg::WriteMode::in_place});
  if (policy.write == rg::WriteMode::automatic && *rc::gen::arbitrary<bool>()) policy.link_to = *word(" /*");
  policy.write_within = list(3, path);
  policy.mode = *rc::gen::inRange<std::uint32_t>(0, 01000);
  policy.selinux_label = any<std::string>({"auto", "a:b:c", "a:b:c:s0-s1:c0.c9"});
  policy.comment = *rc::gen::arbitrary<bool>();
  policy.upstream = list(3, [] { return path() + "*?[a]"; });
  policy.upstream_when = any({rg::UpstreamWhen::always, rg::UpstreamWhen::none_left});
  policy.settle = duration(0);
  policy.deadline = duration(1);
  policy.on_exit = any({rg::OnExit::leave, rg::OnExit::restore});
  policy.requirements = list(3, requirement);
  policy.nameservers = nameservers();
  policy.search = search();
  policy.options = options();
  return policy;
}

/// Guards of different paths that pass the checks.
inline rg::Settings settings() {
  rg::Settings settings;
  settings.ready_within.reset();
  if (*rc::gen::arbitrary<bool>()) settings.ready_within = duration(0);
  settings.reload = any({rg::ReloadMode::automatic, rg::ReloadMode::sighup});
  const int count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count; ++i) {
    rg::Policy one = policy();
    while (!rg::check_policy(one, "").empty()) one = policy();
    std::erase(one.path, '[');  // a glob; upstream has them
    one.path += std::to_string(i);
    settings.guards.push_back(one);
  }
  return settings;
}

}  // namespace rg_gen
