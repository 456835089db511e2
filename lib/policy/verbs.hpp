// What the verbs of a policy say of one entry, and of a list that is left empty.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/policy/finder.hpp"
#include "lib/policy/memory.hpp"
#include "lib/policy/policy.hpp"
#include "lib/policy/prefix_index.hpp"

namespace rg {

/// Whether an entry of deny means this server: a prefix that holds it, or its word. An IPv4 address that is mapped into
/// IPv6 is the same server to a resolver, which sends IPv4 to it.
[[nodiscard]] bool matches(const Deny& deny, const Nameserver& server);

/// Named by first, last, only or set: never learned.
[[nodiscard]] bool is_ours(const NameserverPolicy& policy, const Nameserver& server);
[[nodiscard]] bool is_ours(const SearchPolicy& policy, std::string_view domain);
/// `timeout:9` is ours where `timeout:2` is set: one value an option.
[[nodiscard]] bool is_ours(const OptionsPolicy& policy, std::string_view option);

[[nodiscard]] bool is_denied(const NameserverPolicy& policy, const Nameserver& server);
[[nodiscard]] bool is_denied(const SearchPolicy& policy, std::string_view domain);
[[nodiscard]] bool is_denied(const OptionsPolicy& policy, std::string_view option);

// The same for many entries: long lists of the policy are indexed once. The policy must outlive them.
class ServerRules {
 public:
  explicit ServerRules(const NameserverPolicy& policy);
  [[nodiscard]] bool ours(const Nameserver& server);
  [[nodiscard]] bool denied(const Nameserver& server);

 private:
  void index_deny();

  const NameserverPolicy& policy_;
  Finder<SameServer> first_, last_, only_;
  std::array<bool, 3> words_{};  // of DenyWord, of a long `deny`
  std::unique_ptr<PrefixIndex> denied_;
};
class DomainRules {
 public:
  explicit DomainRules(const SearchPolicy& policy);
  [[nodiscard]] bool ours(std::string_view domain);
  [[nodiscard]] bool denied(std::string_view domain) { return deny_.contains(domain); }

 private:
  Finder<SameDomain> first_, last_, only_, deny_;
};
class OptionRules {
 public:
  explicit OptionRules(const OptionsPolicy& policy);
  [[nodiscard]] bool ours(std::string_view option) { return set_.contains(option) || only_.contains(option); }
  [[nodiscard]] bool denied(std::string_view option) { return deny_.contains(option); }

 private:
  Finder<SameOption> set_, only_, deny_;
};

/// Whether the lines of that kind are ours to change; otherwise they stay, but for what is misread.
[[nodiscard]] bool search_is_ours(const Policy& policy);
[[nodiscard]] bool options_are_ours(const OptionsPolicy& policy);

/// Labels of 1 to 63 bytes and 253 bytes in all, a final dot not counted. `.` alone is no domain to search.
[[nodiscard]] bool is_searchable(std::string_view domain);

}  // namespace rg
