// systemd-networkd's own state of one link, /run/systemd/netif/links/N: what it really knows, whatever resolved has
// read back from a resolv.conf of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/resolv/nameserver.hpp"

namespace rg {

struct Netif {
  std::vector<Nameserver> servers;  ///< DNS=, less those with a port other than 53
  std::vector<std::string> search;  ///< DOMAINS=, less the routing-only ones (`~example`)
};

/// `number` becomes the zone of a link-local server that has none.
[[nodiscard]] Netif parse_netif(std::string_view bytes, const std::string& number);

}  // namespace rg
