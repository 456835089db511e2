// A content judged in one line: the inputs with their defaults, lists as texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/policy/content.hpp"

namespace rg::test {

using Texts = std::vector<std::string>;
using Violations = std::vector<Violation>;

inline std::vector<Nameserver> servers(const Texts& texts) {
  std::vector<Nameserver> list;
  for (const std::string& text : texts) list.push_back(Nameserver::parse(text).value());
  return list;
}

inline Texts texts(const std::vector<Nameserver>& servers) {
  Texts list;
  for (const Nameserver& server : servers) list.push_back(server.text());
  return list;
}

inline std::vector<Prefix> prefixes(const Texts& texts) {
  std::vector<Prefix> list;
  for (const std::string& text : texts) list.push_back(Prefix::parse(text).value());
  return list;
}

inline std::vector<Deny> denies(const Texts& texts) {
  std::vector<Deny> list;
  for (const Prefix& prefix : prefixes(texts)) list.emplace_back(prefix);
  return list;
}

struct Judging {
  Policy policy;
  Memory memory;
  std::vector<Upstream> upstream;
  std::function<bool(const std::string&)> interface_exists = [](const std::string& zone) { return zone == "eth0"; };

  /// `on_disk` is the writer's.
  [[nodiscard]] Content of(std::string_view on_disk) const { return of(on_disk, on_disk); }
  [[nodiscard]] Content of(std::optional<std::string_view> on_disk, std::optional<std::string_view> document) const {
    return judge_content({policy, on_disk, document, upstream, memory, interface_exists});
  }
  [[nodiscard]] Content absent() const { return of(std::nullopt, std::nullopt); }
};

/// With `first` required and everything else by default.
inline Judging with_first(const Texts& first) {
  Judging judging;
  judging.policy.nameservers.first = servers(first);
  return judging;
}

}  // namespace rg::test
