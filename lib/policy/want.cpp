#include "lib/policy/want.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

enum class Filler { none, last_good, fallback };

/// What stands between ours: the learned entries, or what when_empty puts in their place. `keep` judges each of those.
template <class T, class Keep>
Filler fill(std::vector<T>& middle, WhenEmpty when_empty, const std::vector<T>& last_good,
            const std::vector<T>& fallback, Keep keep) {
  if (!middle.empty() || when_empty == WhenEmpty::leave) return Filler::none;
  if (when_empty == WhenEmpty::last_good) {
    std::copy_if(last_good.begin(), last_good.end(), std::back_inserter(middle), keep);
    if (!middle.empty()) return Filler::last_good;
  }
  std::copy_if(fallback.begin(), fallback.end(), std::back_inserter(middle), keep);
  return middle.empty() ? Filler::none : Filler::fallback;
}

/// How many of the middle stand beside `ours`.
std::size_t room(std::size_t max, std::size_t ours) {
  if (max == 0) return static_cast<std::size_t>(-1);
  return max > ours ? max - ours : 0;
}

/// The first of the prefixes that a server matches; their number if it matches none.
class Preference {
 public:
  explicit Preference(const std::vector<Prefix>& prefixes) : prefixes_(prefixes) {
    if (prefixes.size() <= kFew) return;
    for (std::size_t i = 0; i < prefixes.size(); ++i) index_.add(prefixes[i], i);
  }
  [[nodiscard]] std::size_t rank(const Nameserver& server) const {
    if (prefixes_.size() > kFew) return index_.find(server).value_or(prefixes_.size());
    const auto first =
        std::find_if(prefixes_.begin(), prefixes_.end(), [&](const auto& p) { return p.contains(server); });
    return static_cast<std::size_t>(first - prefixes_.begin());
  }

 private:
  const std::vector<Prefix>& prefixes_;
  PrefixIndex index_;
};

void prefer(const std::vector<Prefix>& prefixes, std::vector<Nameserver>& servers) {
  if (prefixes.empty() || servers.size() < 2) return;
  const Preference preference(prefixes);
  std::vector<std::pair<std::size_t, Nameserver>> ranked;
  ranked.reserve(servers.size());
  for (Nameserver& server : servers) {
    const std::size_t rank = preference.rank(server);
    ranked.emplace_back(rank, std::move(server));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(ranked.begin(), ranked.end(), servers.begin(), [](auto& one) { return std::move(one.second); });
}

/// Adds to the wanted servers, each once.
class Adder {
 public:
  explicit Adder(Wanted& wanted) : wanted_(wanted), known_(wanted.lists.nameservers) {}
  void add(const std::vector<Nameserver>& servers, Origin origin) {
    for (const Nameserver& server : servers) {
      if (known_.contains(server)) continue;
      wanted_.lists.nameservers.push_back(server);
      wanted_.servers.push_back({server, origin});
    }
  }

  void make_room(std::size_t servers) {
    wanted_.lists.nameservers.reserve(servers);
    wanted_.servers.reserve(servers);
  }

 private:
  Wanted& wanted_;
  Finder<SameServer> known_;
};

Filler fill_servers(const ContentInput& input, std::vector<Nameserver>& middle) {
  const NameserverPolicy& policy = input.policy.nameservers;
  ServerRules rules(policy);
  Finder<SameServer> taken(middle);
  return fill(middle, policy.when_empty, input.memory.nameservers.values, policy.fallback,
              [&](const Nameserver& server) {
                // A link-local server is reached through its interface only; last good may be older than that.
                const bool gone = server.is_link_local() && !server.zone().empty() && input.interface_exists &&
                                  !input.interface_exists(server.zone());
                return !gone && !rules.denied(server) && !rules.ours(server) && !taken.contains(server);
              });
}

/// Cuts the list to `limit` servers and tells of what has no place.
void cut(std::vector<Nameserver>& middle, std::size_t limit, std::vector<DroppedServer>& over_max) {
  for (std::size_t i = limit; i < middle.size() && over_max.size() < kMaxDropped; ++i) {
    over_max.push_back({middle[i].text().substr(0, kMaxDroppedText), Why::over_max});
  }
  middle.resize(std::min(middle.size(), limit));
}

void want_servers(const ContentInput& input, const Learned& learned, Wanted& wanted) {
  const NameserverPolicy& policy = input.policy.nameservers;
  Adder adder(wanted);
  if (policy.only) return adder.add(*policy.only, Origin::only);
  std::vector<Nameserver> middle = learned.lists.nameservers;
  const Filler filler = fill_servers(input, middle);
  if (filler != Filler::fallback) prefer(policy.prefer, middle);  // the fallback's order is the owner's
  cut(middle, room(policy.max, policy.first.size() + policy.last.size()), wanted.over_max);

  const bool upstream = learned.source == Source::upstream;
  Origin origin = upstream ? Origin::upstream : Origin::writer;
  Source source = upstream ? Source::upstream : Source::writer;
  if (filler != Filler::none) {
    origin = filler == Filler::last_good ? Origin::last_good : Origin::fallback;
    source = filler == Filler::last_good ? Source::last_good : Source::fallback;
  }
  wanted.source = middle.empty() ? Source::policy : source;
  wanted.filled |= filler != Filler::none && !middle.empty();
  adder.make_room(policy.first.size() + middle.size() + policy.last.size());
  adder.add(policy.first, Origin::first);
  adder.add(middle, origin);
  adder.add(policy.last, Origin::last);
}

/// glibc aborts the program (2.36 and HEAD, measured) where one of the first six entries doesn't fit into 256 bytes
/// with those before it and these take 56 bytes or less: it compares with the wrong sizeof. Whosever it is, such an
/// entry is worth less than every program on the host.
void spare_glibc(std::vector<std::string>& domains) {
  constexpr std::size_t kEntries = 6, kCompared = 56, kBuffer = 256;
  std::size_t taken = 0, entries = 0;
  auto kept = domains.begin();
  for (auto domain = domains.begin(); domain != domains.end(); ++domain) {
    const std::size_t size = domain->size() + 1;
    const bool overflows = entries < kEntries && taken + size > kBuffer;
    if (overflows && taken <= kCompared) continue;
    entries = overflows ? kEntries : entries + 1;  // the first that it sees to overflow ends its list
    taken += size;
    if (kept != domain) *kept = std::move(*domain);
    ++kept;
  }
  domains.erase(kept, domains.end());
}

/// One list behind the other, each domain once.
std::vector<std::string> joined(std::initializer_list<const std::vector<std::string>*> lists) {
  std::vector<std::string> all;
  Finder<SameDomain> known(all);
  for (const auto* domains : lists) {
    for (const std::string& domain : *domains) {
      if (!known.contains(domain)) all.push_back(domain);
    }
  }
  return all;
}

void want_search(const ContentInput& input, const Learned& learned, const ResolvConf& document, Wanted& wanted) {
  const SearchPolicy& policy = input.policy.search;
  std::vector<std::string>& list = wanted.lists.search;
  if (!search_is_ours(input.policy)) {
    list = search(document);
    return;
  }
  if (policy.only) {
    list = joined({&*policy.only});
    return spare_glibc(list);
  }
  std::vector<std::string> middle = learned.lists.search;
  DomainRules rules(policy);
  const Filler filler = fill(
      middle, policy.when_empty, input.memory.search.values, policy.fallback,
      [&](const std::string& domain) { return is_searchable(domain) && !rules.denied(domain) && !rules.ours(domain); });
  wanted.filled |= filler != Filler::none;
  middle.resize(std::min(middle.size(), room(policy.max, policy.first.size() + policy.last.size())));
  list = joined({&policy.first, &middle, &policy.last});
  spare_glibc(list);
  // Without any line a resolver searches the host name's domain: the writer's `search .` said that it must not.
  if (list.empty() && learned.root) list.emplace_back(".");
}

void want_options(const ContentInput& input, const Learned& learned, const ResolvConf& document, Wanted& wanted) {
  const OptionsPolicy& policy = input.policy.options;
  std::vector<std::string>& list = wanted.lists.options;
  if (!options_are_ours(policy)) {
    list = options(document);
    return;
  }
  if (policy.only) {
    list = *policy.only;
    return;
  }
  list = learned.lists.options;
  OptionRules rules(policy);
  Finder<SameOption> known(list);
  const auto keep = [&](const std::string& option) {
    return !rules.denied(option) && !rules.ours(option) && !known.contains(option);
  };
  const Filler filler = fill(list, policy.when_empty, input.memory.options.values, policy.fallback, keep);
  wanted.filled |= filler != Filler::none;
  list.resize(std::min(list.size(), room(policy.max, policy.set.size())));
  list.insert(list.end(), policy.set.begin(), policy.set.end());
}

}  // namespace

Wanted want(const ContentInput& input, const Learned& learned, const ResolvConf& document) {
  Wanted wanted;
  want_servers(input, learned, wanted);
  want_search(input, learned, document, wanted);
  want_options(input, learned, document, wanted);
  return wanted;
}

}  // namespace rg
