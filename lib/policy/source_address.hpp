// `source-address-of:192.0.2.5`: an address that isn't written but told by the kernel, the one it would send from
// towards another (source address selection: RFC 6724 for IPv6, the route's source for IPv4). Values only; who asks is
// guardian/.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/resolv/nameserver.hpp"

namespace rg {

inline constexpr std::string_view kSourceAddressOf = "source-address-of:";

struct SourceAddressOf {
  Nameserver destination;
  /// As it is written in the configuration.
  [[nodiscard]] std::string text() const { return std::string(kSourceAddressOf) + destination.text(); }
  friend auto operator<=>(const SourceAddressOf&, const SourceAddressOf&) = default;
};

/// What may be written where an address stands.
using Address = std::variant<Nameserver, SourceAddressOf>;
[[nodiscard]] std::string address_text(const Address& address);

enum class DenyWord { loopback, unspecified, link_local };
/// The last one is written only: in a list by which anything is judged its address stands.
using Deny = std::variant<Prefix, DenyWord, SourceAddressOf>;

/// The lists of nameservers as they are written, where a source-address-of stands in one of them.
struct WrittenAddresses {
  std::vector<Address> first, last;
  std::optional<std::vector<Address>> only;
  std::vector<Deny> deny;
  std::vector<Address> fallback;
  std::vector<Nameserver> told;  ///< what the kernel said last; none of them is ever the writer's
  friend bool operator==(const WrittenAddresses&, const WrittenAddresses&) = default;
};

}  // namespace rg
