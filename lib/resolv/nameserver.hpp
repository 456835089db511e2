// The address of one nameserver, and prefixes of addresses: values, no system call (inet_pton(3) and inet_ntop(3) ask
// nobody).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rg {

/// An IPv4 or IPv6 address with the zone kept as text, whether or not such an interface exists: `fe80::1%eth0` and
/// `fe80::1%eth1` differ, as do `::ffff:192.0.2.1` and `192.0.2.1`. Compared by value.
class Nameserver {
 public:
  /// Strict: IPv4 in four decimal parts without leading zeros, or IPv6 as inet_pton(3) reads it with an optional
  /// `%zone`. nullopt for anything else (`127.1`, `010.0.0.1`, `[::1]`, `192.0.2.1:53`, `192.0.2.1%eth0`, an empty
  /// zone).
  static std::optional<Nameserver> parse(std::string_view text);

  /// Canonical text: dotted quad, or RFC 5952 as inet_ntop(3) writes it, and `%zone`.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_ipv6() const { return ipv6_; }
  [[nodiscard]] const std::string& zone() const { return zone_; }
  [[nodiscard]] bool is_loopback() const;     ///< 127/8, ::1, and 127/8 mapped into IPv6
  [[nodiscard]] bool is_unspecified() const;  ///< 0.0.0.0, ::, and 0.0.0.0 mapped into IPv6
  [[nodiscard]] bool is_link_local() const;   ///< fe80::/10, 169.254/16, and that mapped into IPv6
  [[nodiscard]] bool is_multicast() const;    ///< 224/4, ff00::/8, that mapped into IPv6, and 255.255.255.255
  /// `192.0.2.1` of `::ffff:192.0.2.1`; nullopt where it isn't mapped.
  [[nodiscard]] std::optional<Nameserver> unmapped() const;
  [[nodiscard]] const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }

  friend auto operator<=>(const Nameserver&, const Nameserver&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // IPv4: the first four
  bool ipv6_ = false;
  std::string zone_;
};

/// An address prefix (`192.0.2.0/24`, `fe80::/10`, or a bare address = all its bits). Zones are ignored unless the
/// prefix itself is a single address with a zone.
class Prefix {
 public:
  static std::optional<Prefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const Nameserver& server) const;
  [[nodiscard]] std::string text() const;                         ///< `address/length`, or the bare address
  [[nodiscard]] const Nameserver& base() const { return base_; }  ///< as it was given: not masked
  [[nodiscard]] unsigned length() const { return length_; }       ///< in bits
  friend bool operator==(const Prefix&, const Prefix&) = default;

 private:
  Nameserver base_;
  unsigned length_ = 0;
};

}  // namespace rg
