#include "lib/policy/netif.hpp"

#include <algorithm>
#include <optional>

namespace rg {
namespace {

/// `value` without what follows the address: networkd writes `address[%zone][:port][#name]`, IPv6 in brackets where a
/// port follows (in_addr_port_ifindex_name_to_string()). nullopt for a port other than 53: no resolv.conf can name it.
std::optional<std::string_view> bare_address(std::string_view value) {
  value = value.substr(0, value.find('#'));
  std::string_view port;
  if (value.starts_with('[')) {
    const std::size_t end = value.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    port = value.substr(end + 1);
    value = value.substr(1, end - 1);
  } else if (std::count(value.begin(), value.end(), ':') == 1) {
    port = value.substr(value.find(':'));
    value = value.substr(0, value.find(':'));
  }
  if (!port.empty() && port != ":53") return std::nullopt;
  return value;
}

void add_server(std::string_view word, const std::string& number, std::vector<Nameserver>& servers) {
  const auto address = bare_address(word);
  if (!address) return;
  auto server = Nameserver::parse(*address);
  if (server && server->is_ipv6() && server->is_link_local() && server->zone().empty()) {
    server = Nameserver::parse(std::string(*address) + "%" + number);
  }
  if (server) servers.push_back(*std::move(server));
}

template <class Take>
void each_word(std::string_view words, Take take) {
  constexpr std::string_view kBlanks = " \t\r\"";  // an environment file may quote its values
  while (true) {
    const std::size_t start = words.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return;
    words.remove_prefix(start);
    const std::size_t end = std::min(words.size(), words.find_first_of(kBlanks));
    take(words.substr(0, end));
    words.remove_prefix(end);
  }
}

}  // namespace

Netif parse_netif(std::string_view bytes, const std::string& number) {
  Netif netif;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.size(), bytes.find('\n'));
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(bytes.size(), end + 1));
    if (line.starts_with("DNS=")) {
      each_word(line.substr(4), [&](std::string_view word) { add_server(word, number, netif.servers); });
    } else if (line.starts_with("DOMAINS=")) {
      each_word(line.substr(8), [&](std::string_view word) {
        if (word.front() != '~') netif.search.emplace_back(word);
      });
    }
  }
  return netif;
}

}  // namespace rg
