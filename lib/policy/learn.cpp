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
  explicit Servers(const NameserverPolicy& policy) : rules_(policy), known_(seen_) {
    taken.reserve(kFew);
    seen_.reserve(kFew);
  }

  /// As if they had been seen and were ours: nothing is told of them.
  void skip(const std::vector<Nameserver>& servers) { skipped_ = servers; }

  void take(const Nameserver& server, const std::string& as_it_stood) {
    if (known_.contains(server)) return drop(as_it_stood, Why::duplicate);
    seen_.push_back(server);
    if (rules_.ours(server) || std::find(skipped_.begin(), skipped_.end(), server) != skipped_.end()) return;
    if (rules_.denied(server)) return drop(as_it_stood, Why::denied);
    taken.push_back(server);
  }

  void take(const ResolvConf& conf) {
    for (const Line& line : conf.lines) {
      if (line.kind != Line::Kind::nameserver || line.values.empty()) continue;
      if (line.server) {
        take(*line.server, line.values.front());
      } else {
        drop(line.values.front(), Why::invalid);
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
  std::vector<Nameserver> skipped_;  // a few
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

struct FromUpstream {
  std::vector<Nameserver> servers;
  std::vector<std::string> said;  ///< domains
  std::string writer;
};

FromUpstream read_upstream(const ContentInput& input, Learned& learned) {
  FromUpstream read;
  if (input.policy.upstream.empty()) return read;
  Servers servers(input.policy.nameservers);
  for (const Upstream& upstream : input.upstream) {
    const std::size_t before = servers.taken.size();
    if (upstream.netif) {
      Netif netif = parse_netif(upstream.bytes, upstream.name);
      for (const Nameserver& server : netif.servers) servers.take(server, server.text());
      std::move(netif.search.begin(), netif.search.end(), std::back_inserter(read.said));
    } else {
      const ResolvConf conf = parse(upstream.bytes);
      servers.take(conf);
      for (std::string& domain : search_of(input.policy.search, conf)) read.said.push_back(std::move(domain));
    }
    if (before == 0 && !servers.taken.empty()) {
      read.writer = upstream.netif ? "systemd-networkd" : apparent_writer(upstream.bytes);
    }
  }
  std::move(servers.dropped.begin(), servers.dropped.end(), std::back_inserter(learned.dropped));
  read.servers = std::move(servers.taken);
  return read;
}

Learned& take_upstream(const ContentInput& input, FromUpstream read, Learned& learned) {
  learned.source = Source::upstream;
  learned.writer = std::move(read.writer);
  learned.lists.nameservers = std::move(read.servers);
  learn_search(input.policy.search, read.said, learned);
  return learned;
}

}  // namespace

Learned learn(const ContentInput& input, const ResolvConf& document) {
  Learned learned;
  learn_options(input.policy.options, document, learned.lists.options);
  FromUpstream upstream;
  const bool upstream_first = input.policy.upstream_when == UpstreamWhen::always;
  if (upstream_first) upstream = read_upstream(input, learned);
  if (!upstream.servers.empty()) return take_upstream(input, std::move(upstream), learned);

  Servers servers(input.policy.nameservers);
  if (input.policy.nameservers.written) servers.skip(input.memory.source_addresses);
  servers.take(document);
  std::move(servers.dropped.begin(), servers.dropped.end(), std::back_inserter(learned.dropped));
  const bool none_left = servers.taken.empty();
  if (none_left && !upstream_first) upstream = read_upstream(input, learned);
  if (!upstream.servers.empty()) return take_upstream(input, std::move(upstream), learned);

  learned.lists.nameservers = std::move(servers.taken);
  learned.writer = apparent_writer(input.document.value_or(std::string_view{}));
  // Neither has a server: networkd between two leases, NetworkManager without a carrier. The domains stay those of the
  // files that they are learned from when all is well, or they would flip to and fro.
  const bool of_upstream = none_left && !input.policy.upstream.empty() && !input.upstream.empty();
  learn_search(input.policy.search, of_upstream ? upstream.said : search_of(input.policy.search, document), learned);
  return learned;
}

}  // namespace rg
