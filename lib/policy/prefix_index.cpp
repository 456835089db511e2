#include "lib/policy/prefix_index.hpp"

#include <algorithm>

namespace rg {

PrefixIndex::Network PrefixIndex::network(const Nameserver& server, unsigned length) {
  Network network{server.is_ipv6(), length, server.bytes(), {}};
  std::size_t whole = length / 8;
  if (length % 8 != 0) {
    const unsigned cut = 8 - length % 8;
    network.bytes[whole] = static_cast<std::uint8_t>((network.bytes[whole] >> cut) << cut);
    ++whole;
  }
  std::fill(network.bytes.begin() + static_cast<std::ptrdiff_t>(whole), network.bytes.end(), std::uint8_t{0});
  return network;
}

void PrefixIndex::add(const Prefix& prefix, std::size_t rank) {
  Network key = network(prefix.base(), prefix.length());
  key.zone = prefix.base().zone();
  ranks_.emplace(std::move(key), rank);
  lengths_.emplace(prefix.base().is_ipv6(), prefix.length());
}

std::optional<std::size_t> PrefixIndex::find(const Nameserver& server) const {
  std::optional<std::size_t> lowest;
  const auto look = [&](const Network& key) {
    const auto found = ranks_.find(key);
    if (found != ranks_.end()) lowest = std::min(lowest.value_or(found->second), found->second);
  };
  for (const auto& [ipv6, length] : lengths_) {
    if (ipv6 != server.is_ipv6()) continue;
    Network key = network(server, length);
    look(key);
    if (server.zone().empty()) continue;
    key.zone = server.zone();  // a single address with a zone means that one alone
    look(key);
  }
  return lowest;
}

}  // namespace rg
