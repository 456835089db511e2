// Which of many prefixes an address matches, without a look at each of them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/resolv/nameserver.hpp"

namespace rg {

class PrefixIndex {
 public:
  /// Of two equal prefixes the first rank counts: add them in ascending order.
  void add(const Prefix& prefix, std::size_t rank);
  /// The lowest rank of those that contain the server.
  [[nodiscard]] std::optional<std::size_t> find(const Nameserver& server) const;

 private:
  struct Network {
    bool ipv6 = false;
    unsigned length = 0;
    std::array<std::uint8_t, 16> bytes{};
    std::string zone;
    friend auto operator<=>(const Network&, const Network&) = default;
  };
  static Network network(const Nameserver& server, unsigned length);

  std::map<Network, std::size_t> ranks_;
  std::set<std::pair<bool, unsigned>> lengths_;  // of each family, those that occur
};

}  // namespace rg
