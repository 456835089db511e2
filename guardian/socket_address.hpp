// Addresses as socket calls take them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "lib/resolv/nameserver.hpp"

namespace rg {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// nullopt: its zone is no interface of this machine.
[[nodiscard]] std::optional<SocketAddress> socket_address(const Nameserver& server, std::uint16_t port);

/// With the name of its interface as the zone where it has one. nullopt: of another family.
[[nodiscard]] std::optional<Nameserver> from_socket_address(const SocketAddress& address);

}  // namespace rg
