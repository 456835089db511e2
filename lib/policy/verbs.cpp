#include "lib/policy/verbs.hpp"

#include <algorithm>
#include <optional>

#include "lib/resolv/resolv_conf.hpp"

namespace rg {
namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool has_domain(const std::vector<std::string>& list, std::string_view domain) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) { return same_domain(one, domain); });
}

bool has_option(const std::vector<std::string>& list, std::string_view option) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return option_name(one) == option_name(option); });
}

bool matches(DenyWord word, const Nameserver& server) {
  switch (word) {
    case DenyWord::loopback:
      return server.is_loopback();
    case DenyWord::unspecified:
      return server.is_unspecified();
    case DenyWord::link_local:
      return server.is_link_local();
  }
  return false;
}

/// The list of `only`, or an empty one that stays.
template <class T>
const std::vector<T>& listed(const std::optional<std::vector<T>>& only) {
  static const std::vector<T> none;
  return only ? *only : none;
}

}  // namespace

bool matches(const Deny& deny, const Nameserver& server) {
  if (const Prefix* prefix = std::get_if<Prefix>(&deny)) {
    if (prefix->contains(server)) return true;
    const auto ipv4 = server.unmapped();
    return ipv4 && prefix->contains(*ipv4);
  }
  const DenyWord* word = std::get_if<DenyWord>(&deny);
  return word != nullptr && matches(*word, server);
}

ServerRules::ServerRules(const NameserverPolicy& policy)
    : policy_(policy), first_(policy.first), last_(policy.last), only_(listed(policy.only)) {}

bool ServerRules::ours(const Nameserver& server) {
  return first_.contains(server) || last_.contains(server) || only_.contains(server);
}

bool ServerRules::denied(const Nameserver& server) {
  if (policy_.deny.size() <= kFew) return is_denied(policy_, server);
  if (!denied_) index_deny();
  const auto ipv4 = server.unmapped();
  if (denied_->find(server) || (ipv4 && denied_->find(*ipv4))) return true;
  for (const DenyWord word : {DenyWord::loopback, DenyWord::unspecified, DenyWord::link_local}) {
    if (words_[static_cast<std::size_t>(word)] && matches(word, server)) return true;
  }
  return false;
}

void ServerRules::index_deny() {
  denied_ = std::make_unique<PrefixIndex>();
  for (std::size_t i = 0; i < policy_.deny.size(); ++i) {
    if (const Prefix* prefix = std::get_if<Prefix>(&policy_.deny[i])) {
      denied_->add(*prefix, i);
    } else if (const DenyWord* word = std::get_if<DenyWord>(&policy_.deny[i])) {
      words_[static_cast<std::size_t>(*word)] = true;
    }
  }
}

DomainRules::DomainRules(const SearchPolicy& policy)
    : first_(policy.first), last_(policy.last), only_(listed(policy.only)), deny_(policy.deny) {}

bool DomainRules::ours(std::string_view domain) {
  return first_.contains(domain) || last_.contains(domain) || only_.contains(domain);
}

OptionRules::OptionRules(const OptionsPolicy& policy)
    : set_(policy.set), only_(listed(policy.only)), deny_(policy.deny) {}

bool is_ours(const NameserverPolicy& policy, const Nameserver& server) {
  return contains(policy.first, server) || contains(policy.last, server) ||
         (policy.only && contains(*policy.only, server));
}

bool is_ours(const SearchPolicy& policy, std::string_view domain) {
  return has_domain(policy.first, domain) || has_domain(policy.last, domain) ||
         (policy.only && has_domain(*policy.only, domain));
}

bool is_ours(const OptionsPolicy& policy, std::string_view option) {
  return has_option(policy.set, option) || (policy.only && has_option(*policy.only, option));
}

bool is_denied(const NameserverPolicy& policy, const Nameserver& server) {
  return std::any_of(policy.deny.begin(), policy.deny.end(), [&](const Deny& deny) { return matches(deny, server); });
}

bool is_denied(const SearchPolicy& policy, std::string_view domain) { return has_domain(policy.deny, domain); }

bool is_denied(const OptionsPolicy& policy, std::string_view option) { return has_option(policy.deny, option); }

bool search_is_ours(const Policy& policy) { return !policy.upstream.empty() || policy.search != SearchPolicy{}; }

bool options_are_ours(const OptionsPolicy& policy) { return policy != OptionsPolicy{}; }

bool is_searchable(std::string_view domain) {
  // One illegal entry, and musl sends no query at all for a name that uses the list; `.` makes its queries malformed.
  if (domain.ends_with('.')) domain.remove_suffix(1);
  if (domain.empty() || domain.size() > 253) return false;
  while (true) {
    const std::size_t dot = domain.find('.');
    const std::size_t label = std::min(dot, domain.size());
    if (label == 0 || label > 63) return false;
    if (dot == std::string_view::npos) return true;
    domain.remove_prefix(dot + 1);
  }
}

}  // namespace rg
