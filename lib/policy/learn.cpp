#include "lib/policy/learn.hpp"

#include <algorithm>

#include "lib/policy/netif.hpp"
#include "lib/policy/verbs.hpp"
#include "lib/resolv/owner.hpp"

namespace rg {
namespace {

/// Takes the servers of one source after another. `seen` spans them, ours included: a second time is a duplicate.
class Servers {
 public:
  explicit Servers(const NameserverPolicy& policy) : rules_(policy), known_(seen_) {}

  void take(const Nameserver& server, const std::string& as_it_stood) {
    if (known_.contains(server)) return drop(as_it_stood, Why::duplicate);
    seen_.push_back(server);
    if (rules_.ours(server)) return;
    if (rules_.denied(server)) return drop(as_it_stood, Why::denied);
    taken.push_back(server);
  }

  void take(const ResolvConf& conf) {
    for (const Line& line : conf.lines) {
      if (line.kind != Line::Kind::nameserver || line.values.empty()) continue;
      const std::string& word = line.values.front();
      if (const auto server = Nameserver::parse(word)) {
        take(*server, word);
      } else {
        drop(word, Why::invalid);
      }
    }
  }

  std::vector<Nameserver> taken;
  std::vector<DroppedServer> dropped;

 private:
  void drop(const std::string& as_it_stood, Why why) {
    if (dropped.size() < kMaxDropped) dropped.push_back({as_it_stood.substr(0, kMaxDroppedText), why});
  }

  ServerRules rules_;
  std::vector<Nameserver> seen_;
  Finder<SameServer> known_;
};

std::vector<std::string> search_of(const SearchPolicy& policy, const ResolvConf& conf) {
  return policy.merge_lines ? all_search(conf) : search(conf);
}

void learn_search(const SearchPolicy& policy, const std::vector<std::string>& said, Learned& learned) {
  auto& taken = learned.lists.search;
  DomainRules rules(policy);
  Finder<SameDomain> known(taken);
  for (const std::string& domain : said) {
    if (rules.denied(domain)) continue;
    // systemd-resolved writes `search .` when it has no domain: that is to say none.
    if (domain == ".") learned.root = true;
    if (!is_searchable(domain) || rules.ours(domain) || known.contains(domain)) continue;
    taken.push_back(domain);
  }
}

/// One value an option, in the place of its first: readers differ in which of two counts, libcs take the last.
void learn_options(const OptionsPolicy& policy, const ResolvConf& document, std::vector<std::string>& taken) {
  OptionRules rules(policy);
  Finder<SameOption> known(taken);
  for (std::string& option : options(document)) {
    if (rules.ours(option) || rules.denied(option)) continue;
    const std::size_t same = known.find(option);
    if (same == taken.size()) {
      taken.push_back(std::move(option));
    } else {
      taken[same] = std::move(option);
    }
  }
}

/// False, and nothing learned, where no upstream file has a server for us.
bool learn_upstream(const ContentInput& input, Learned& learned) {
  Servers servers(input.policy.nameservers);
  std::vector<std::string> said;
  std::string writer;
  for (const Upstream& upstream : input.upstream) {
    const std::size_t before = servers.taken.size();
    if (upstream.netif) {
      Netif netif = parse_netif(upstream.bytes, upstream.name);
      for (const Nameserver& server : netif.servers) servers.take(server, server.text());
      std::move(netif.search.begin(), netif.search.end(), std::back_inserter(said));
    } else {
      const ResolvConf conf = parse(upstream.bytes);
      servers.take(conf);
      for (std::string& domain : search_of(input.policy.search, conf)) said.push_back(std::move(domain));
    }
    if (before == 0 && !servers.taken.empty()) {
      writer = upstream.netif ? "systemd-networkd" : apparent_writer(upstream.bytes);
    }
  }
  std::move(servers.dropped.begin(), servers.dropped.end(), std::back_inserter(learned.dropped));
  if (servers.taken.empty()) return false;
  learned.source = Source::upstream;
  learned.writer = std::move(writer);
  learned.lists.nameservers = std::move(servers.taken);
  learn_search(input.policy.search, said, learned);
  return true;
}

}  // namespace

Learned learn(const ContentInput& input, const ResolvConf& document) {
  Learned learned;
  learn_options(input.policy.options, document, learned.lists.options);
  const bool has_upstream = !input.policy.upstream.empty();
  const bool upstream_first = has_upstream && input.policy.upstream_when == UpstreamWhen::always;
  if (upstream_first && learn_upstream(input, learned)) return learned;

  Servers servers(input.policy.nameservers);
  servers.take(document);
  std::move(servers.dropped.begin(), servers.dropped.end(), std::back_inserter(learned.dropped));
  if (has_upstream && !upstream_first && servers.taken.empty() && learn_upstream(input, learned)) return learned;
  learned.lists.nameservers = std::move(servers.taken);
  learned.writer = apparent_writer(input.document.value_or(std::string_view{}));
  learn_search(input.policy.search, search_of(input.policy.search, document), learned);
  return learned;
}

}  // namespace rg
