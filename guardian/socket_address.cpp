#include "guardian/socket_address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <string>

namespace rg {
namespace {

// The number of an interface, given by its name or already as a number (RFC 4007 11.2); 0: there is none.
std::uint32_t zone_number(const std::string& zone) {
  const bool digits = zone.size() < 10 && zone.find_first_not_of("0123456789") == zone.npos;
  return digits ? static_cast<std::uint32_t>(std::stoul(zone)) : ::if_nametoindex(zone.c_str());
}

std::string zone_text(std::uint32_t number) {
  std::array<char, IF_NAMESIZE> name{};
  const bool named = ::if_indextoname(number, name.data()) != nullptr;
  return named ? std::string(name.data()) : std::to_string(number);
}

template <class T>
SocketAddress as_bytes(const T& address) {
  SocketAddress result;
  std::memcpy(&result.bytes, &address, sizeof address);
  result.size = sizeof address;
  return result;
}

SocketAddress ipv4_address(const Nameserver& server, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  std::memcpy(&address.sin_addr, server.bytes().data(), sizeof address.sin_addr);
  return as_bytes(address);
}

}  // namespace

std::optional<SocketAddress> socket_address(const Nameserver& server, std::uint16_t port) {
  if (!server.is_ipv6()) return ipv4_address(server, port);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  std::memcpy(&address.sin6_addr, server.bytes().data(), sizeof address.sin6_addr);
  if (!server.zone().empty()) address.sin6_scope_id = zone_number(server.zone());
  if (!server.zone().empty() && address.sin6_scope_id == 0) return std::nullopt;
  return as_bytes(address);
}

std::optional<Nameserver> from_socket_address(const SocketAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::string zone;
  if (address.bytes.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address.bytes, sizeof ipv4);
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
  } else {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address.bytes, sizeof ipv6);
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
    if (ipv6.sin6_scope_id != 0) zone = '%' + zone_text(ipv6.sin6_scope_id);
  }
  return Nameserver::parse(text.data() + zone);
}

}  // namespace rg
