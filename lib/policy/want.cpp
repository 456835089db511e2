#include "lib/policy/want.hpp"

#include <algorithm>

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

void prefer(const std::vector<Prefix>& prefixes, std::vector<Nameserver>& servers) {
  if (prefixes.empty()) return;
  const auto rank = [&](const Nameserver& server) {
    return std::find_if(prefixes.begin(), prefixes.end(), [&](const Prefix& p) { return p.contains(server); });
  };
  std::stable_sort(servers.begin(), servers.end(),
                   [&](const Nameserver& a, const Nameserver& b) { return rank(a) < rank(b); });
}

void add(const std::vector<Nameserver>& servers, Origin origin, Wanted& wanted) {
  auto& list = wanted.lists.nameservers;
  for (const Nameserver& server : servers) {
    if (std::find(list.begin(), list.end(), server) != list.end()) continue;
    list.push_back(server);
    wanted.servers.push_back({server, origin});
  }
}

Filler fill_servers(const ContentInput& input, std::vector<Nameserver>& middle) {
  const NameserverPolicy& policy = input.policy.nameservers;
  return fill(middle, policy.when_empty, input.memory.nameservers.values, policy.fallback,
              [&](const Nameserver& server) {
                // A link-local server is reached through its interface only; last good may be older than that.
                const bool gone = server.is_link_local() && !server.zone().empty() && input.interface_exists &&
                                  !input.interface_exists(server.zone());
                return !gone && !is_denied(policy, server) && !is_ours(policy, server) &&
                       std::find(middle.begin(), middle.end(), server) == middle.end();
              });
}

void want_servers(const ContentInput& input, const Learned& learned, Wanted& wanted) {
  const NameserverPolicy& policy = input.policy.nameservers;
  if (policy.only) return add(*policy.only, Origin::only, wanted);
  std::vector<Nameserver> middle = learned.lists.nameservers;
  const Filler filler = fill_servers(input, middle);
  if (filler != Filler::fallback) prefer(policy.prefer, middle);  // the fallback's order is the owner's
  const std::size_t limit = room(policy.max, policy.first.size() + policy.last.size());
  for (; middle.size() > limit; middle.pop_back()) wanted.over_max.push_back({middle.back().text(), Why::over_max});
  std::reverse(wanted.over_max.begin(), wanted.over_max.end());

  const bool upstream = learned.source == Source::upstream;
  Origin origin = upstream ? Origin::upstream : Origin::writer;
  Source source = upstream ? Source::upstream : Source::writer;
  if (filler != Filler::none) {
    origin = filler == Filler::last_good ? Origin::last_good : Origin::fallback;
    source = filler == Filler::last_good ? Source::last_good : Source::fallback;
  }
  wanted.source = middle.empty() ? Source::policy : source;
  wanted.filled |= filler != Filler::none && !middle.empty();
  add(policy.first, Origin::first, wanted);
  add(middle, origin, wanted);
  add(policy.last, Origin::last, wanted);
}

/// glibc aborts the program (2.36 and HEAD, measured) where one of the first six entries doesn't fit into 256 bytes
/// with those before it and these take 56 bytes or less: it compares with the wrong sizeof. Whosever it is, such an
/// entry is worth less than every program on the host.
void spare_glibc(std::vector<std::string>& domains) {
  constexpr std::size_t kEntries = 6, kCompared = 56, kBuffer = 256;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < std::min(kEntries, domains.size());) {
    const std::size_t size = domains[i].size() + 1;
    if (taken + size > kBuffer) {
      if (taken > kCompared) return;
      domains.erase(domains.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    taken += size;
    ++i;
  }
}

void add_domains(const std::vector<std::string>& domains, std::vector<std::string>& list) {
  for (const std::string& domain : domains) {
    if (std::any_of(list.begin(), list.end(), [&](const auto& one) { return same_domain(one, domain); })) continue;
    list.push_back(domain);
  }
}

void want_search(const ContentInput& input, const Learned& learned, const ResolvConf& document, Wanted& wanted) {
  const SearchPolicy& policy = input.policy.search;
  std::vector<std::string>& list = wanted.lists.search;
  if (!search_is_ours(input.policy)) {
    list = search(document);
    return;
  }
  if (policy.only) {
    add_domains(*policy.only, list);
    return spare_glibc(list);
  }
  std::vector<std::string> middle = learned.lists.search;
  const Filler filler =
      fill(middle, policy.when_empty, input.memory.search.values, policy.fallback, [&](const std::string& domain) {
        return is_searchable(domain) && !is_denied(policy, domain) && !is_ours(policy, domain);
      });
  wanted.filled |= filler != Filler::none;
  middle.resize(std::min(middle.size(), room(policy.max, policy.first.size() + policy.last.size())));
  add_domains(policy.first, list);
  add_domains(middle, list);
  add_domains(policy.last, list);
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
  const auto keep = [&](const std::string& option) {
    return !is_denied(policy, option) && !is_ours(policy, option) &&
           std::none_of(list.begin(), list.end(),
                        [&](const auto& one) { return option_name(one) == option_name(option); });
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
