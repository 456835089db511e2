#include "lib/policy/resolve.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "lib/policy/finder.hpp"
#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

const SourceAddressOf* source_in(const Address& entry) { return std::get_if<SourceAddressOf>(&entry); }
const SourceAddressOf* source_in(const Deny& entry) { return std::get_if<SourceAddressOf>(&entry); }

Deny denial_of(const Nameserver& server) { return Prefix::parse(server.text()).value_or(Prefix{}); }

// The answers of one pass: each destination is asked once, and the first that isn't known is told.
class Answers {
 public:
  explicit Answers(const AskSource& ask) : ask_(ask) {}

  std::optional<Nameserver> of(const SourceAddressOf& source) {
    const auto [answer, fresh] = answers_.try_emplace(source);
    if (fresh) answer->second = ask_(source);
    if (const auto* server = std::get_if<Nameserver>(&answer->second)) return *server;
    if (!problem) problem = {source, std::nullopt, std::get<std::string>(answer->second)};
    return std::nullopt;
  }
  std::optional<Unresolved> problem;

 private:
  const AskSource& ask_;
  std::map<SourceAddressOf, SourceAnswer> answers_;
};

const Nameserver& plain(const Address& entry) { return std::get<Nameserver>(entry); }
const Deny& plain(const Deny& entry) { return entry; }

// What is known of the entries: those written plainly, and those that have an answer, as `make` has them.
template <class Known, class Entry>
std::vector<Known> known(const std::vector<Entry>& entries, Answers& answers, Known (*make)(const Nameserver&)) {
  std::vector<Known> all;
  all.reserve(entries.size());
  for (const Entry& entry : entries) {
    const SourceAddressOf* source = source_in(entry);
    if (source == nullptr) {
      all.push_back(plain(entry));
    } else if (const auto server = answers.of(*source)) {
      all.push_back(make(*server));
    }
  }
  return all;
}

std::vector<Nameserver> addresses(const std::vector<Address>& entries, Answers& answers) {
  return known<Nameserver>(entries, answers, [](const Nameserver& server) { return server; });
}

std::vector<Deny> denials(const std::vector<Deny>& entries, Answers& answers) {
  return known<Deny>(entries, answers, denial_of);
}

// The addresses that stand in a file because of us. What is only denied does not.
std::vector<Nameserver> told(const WrittenAddresses& written, Answers& answers) {
  std::vector<Nameserver> all;
  const auto add = [&](const std::vector<Address>& entries) {
    for (const Address& entry : entries) {
      const SourceAddressOf* source = source_in(entry);
      const auto server = source != nullptr ? answers.of(*source) : std::nullopt;
      if (server && std::find(all.begin(), all.end(), *server) == all.end()) all.push_back(*server);
    }
  };
  for (const auto* entries : {&written.first, &written.last, &written.fallback}) add(*entries);
  if (written.only) add(*written.only);
  return all;
}

// The lists of `written` with what is known, in a policy of which nothing else is used.
NameserverPolicy lists_of(const WrittenAddresses& written, Answers& answers) {
  NameserverPolicy lists;
  lists.first = addresses(written.first, answers);
  lists.last = addresses(written.last, answers);
  if (written.only) lists.only = addresses(*written.only, answers);
  lists.deny = denials(written.deny, answers);
  lists.fallback = addresses(written.fallback, answers);
  return lists;
}

void put(NameserverPolicy& policy, NameserverPolicy lists) {
  policy.first = std::move(lists.first);
  policy.last = std::move(lists.last);
  policy.only = std::move(lists.only);
  policy.deny = std::move(lists.deny);
  policy.fallback = std::move(lists.fallback);
}

bool same_lists(const NameserverPolicy& a, const NameserverPolicy& b) {
  return a.first == b.first && a.last == b.last && a.only == b.only && a.deny == b.deny && a.fallback == b.fallback;
}

// One of ours, with where it is written.
struct Ours {
  const SourceAddressOf* source;  // nullptr: it is written as an address
  const char* list;
};

// What only the addresses show: one that stands there twice, one that is denied. All of them are known.
class Conflicts {
 public:
  Conflicts(const WrittenAddresses& written, const NameserverPolicy& lists, Answers& answers)
      : written_(written), rules_(lists), answers_(answers), finder_(servers_) {
    add(written.first, "first");
    add(written.last, "last");
    if (written.only) add(*written.only, "only");
  }

  std::optional<Unresolved> first() {
    for (std::size_t i = 0; i < ours_.size(); ++i) {
      const std::size_t other = finder_.find(servers_[i]);
      if (other != i) return twice(i, other);
      if (rules_.denied(servers_[i])) return denied(i);
    }
    return std::nullopt;
  }

 private:
  void add(const std::vector<Address>& entries, const char* list) {
    for (const Nameserver& server : addresses(entries, answers_)) servers_.push_back(server);
    for (const Address& entry : entries) ours_.push_back({source_in(entry), list});
  }

  // Two that are written alike were found before anything was asked: one of them is no address.
  std::optional<Unresolved> twice(std::size_t i, std::size_t other) {
    const bool later = ours_[i].source != nullptr;
    const SourceAddressOf* source = later ? ours_[i].source : ours_[other].source;
    if (source == nullptr) return std::nullopt;
    return Unresolved{*source, servers_[i], ours_[later ? other : i].list};
  }

  std::optional<Unresolved> denied(std::size_t i) {
    if (ours_[i].source != nullptr) return Unresolved{*ours_[i].source, servers_[i], "deny"};
    for (const Deny& deny : written_.deny) {
      const SourceAddressOf* source = source_in(deny);
      if (source == nullptr || answers_.of(*source) != servers_[i]) continue;
      return Unresolved{*source, servers_[i], ours_[i].list, true};
    }
    return std::nullopt;
  }

  const WrittenAddresses& written_;
  ServerRules rules_;
  Answers& answers_;
  std::vector<Ours> ours_;
  std::vector<Nameserver> servers_;
  Finder<SameServer> finder_;
};

}  // namespace

std::string address_text(const Address& address) {
  const SourceAddressOf* source = source_in(address);
  return source != nullptr ? source->text() : std::get<Nameserver>(address).text();
}

WrittenAddresses as_written(const NameserverPolicy& policy) {
  if (policy.written) return *policy.written;
  const auto plain = [](const std::vector<Nameserver>& servers) {
    return std::vector<Address>(servers.begin(), servers.end());
  };
  WrittenAddresses written{plain(policy.first), plain(policy.last), {}, policy.deny, plain(policy.fallback), {}};
  if (policy.only) written.only = plain(*policy.only);
  return written;
}

void take_written(NameserverPolicy& policy) {
  if (!policy.written) return;
  const AskSource nobody = [](const SourceAddressOf&) { return SourceAnswer{std::string()}; };
  Answers none(nobody);
  put(policy, lists_of(*policy.written, none));
  if (!none.problem) policy.written.reset();
}

Resolved resolve(NameserverPolicy& policy, const AskSource& ask) {
  if (!policy.written) return {};
  Answers answers(ask);
  NameserverPolicy lists = lists_of(*policy.written, answers);
  Resolved resolved;
  resolved.problem = answers.problem;
  if (!resolved.problem) resolved.problem = Conflicts(*policy.written, lists, answers).first();
  if (resolved.problem || same_lists(policy, lists)) return resolved;
  resolved.changed = true;
  policy.written->told = told(*policy.written, answers);
  put(policy, std::move(lists));
  return resolved;
}

std::optional<Unresolved> resolve(std::vector<Requirement>& requirements, const AskSource& ask) {
  Answers answers(ask);
  for (Requirement& requirement : requirements) {
    if (!requirement.source) continue;
    if (const auto server = answers.of(*requirement.source)) requirement.nameserver = *server;
  }
  return answers.problem;
}

bool has_source(const Policy& policy) {
  return policy.nameservers.written || std::any_of(policy.requirements.begin(), policy.requirements.end(),
                                                   [](const Requirement& one) { return one.source.has_value(); });
}

}  // namespace rg
