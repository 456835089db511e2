#include "lib/resolv/nameserver.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace rg {
namespace {

/// Four decimal parts without leading zeros. glibc and musl take what inet_aton(3) takes (`010.0.0.1` is 8.0.0.1 to
/// them), c-ares and Go don't: only this form means the same to all.
bool parse_ipv4(std::string_view text, std::uint8_t* out) {
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return false;
    const std::size_t start = at;
    unsigned value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - start < 3) {
      value = value * 10 + static_cast<unsigned>(text[at++] - '0');
    }
    if (at == start || value > 255 || (at - start > 1 && text[start] == '0')) return false;
    out[part] = static_cast<std::uint8_t>(value);
  }
  return at == text.size();
}

bool parse_ipv6(std::string_view text, std::uint8_t* out) {
  char buffer[INET6_ADDRSTRLEN];
  // Written out in hexadecimal and dotted decimal an address is never longer; a NUL would cut the text for
  // inet_pton(3).
  if (text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos) return false;
  buffer[text.copy(buffer, text.size())] = '\0';
  return inet_pton(AF_INET6, buffer, out) == 1;
}

/// What could name an interface (dev_valid_name() of the kernel: no blank, slash or colon) and can stand in a
/// resolv.conf. Neither its length nor its existence is judged.
bool is_zone(std::string_view zone) {
  return !zone.empty() && std::none_of(zone.begin(), zone.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
           std::string_view("/:#;[]").find(c) != std::string_view::npos;
  });
}

/// Where the IPv4 address begins in the bytes, or nullptr for an IPv6 address that holds none.
const std::uint8_t* ipv4_part(const Nameserver& server) {
  static constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const auto& bytes = server.bytes();
  if (!server.is_ipv6()) return bytes.data();
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin()) ? bytes.data() + kMapped.size() : nullptr;
}

}  // namespace

std::optional<Nameserver> Nameserver::parse(std::string_view text) {
  Nameserver server;
  if (parse_ipv4(text, server.bytes_.data())) return server;
  server.bytes_ = {};
  server.ipv6_ = true;
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    // Not asked of the kernel (if_nametoindex(3)): the zone must outlive its interface.
    if (!is_zone(text.substr(percent + 1))) return std::nullopt;
    server.zone_ = text.substr(percent + 1);
  }
  if (!parse_ipv6(text.substr(0, percent), server.bytes_.data())) return std::nullopt;
  return server;
}

std::string Nameserver::text() const {
  if (!ipv6_) {  // on the way of every restore, where inet_ntop(3) is half of the judgement (it prints with sprintf(3))
    std::string dotted;
    for (std::size_t i = 0; i < 4; ++i) dotted.append(i == 0 ? "" : ".").append(std::to_string(bytes_[i]));
    return dotted;
  }
  char buffer[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, bytes_.data(), buffer, sizeof buffer);
  std::string text = buffer;
  if (!zone_.empty()) text.append("%").append(zone_);
  return text;
}

bool Nameserver::is_loopback() const {
  static constexpr std::array<std::uint8_t, 16> kOne = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::uint8_t* ipv4 = ipv4_part(*this);
  return ipv4 != nullptr ? ipv4[0] == 127 : bytes_ == kOne;
}

bool Nameserver::is_unspecified() const {
  const std::uint8_t* ipv4 = ipv4_part(*this);
  if (ipv4 != nullptr) return std::all_of(ipv4, ipv4 + 4, [](std::uint8_t byte) { return byte == 0; });
  return bytes_ == std::array<std::uint8_t, 16>{};
}

bool Nameserver::is_link_local() const {
  const std::uint8_t* ipv4 = ipv4_part(*this);
  return ipv4 != nullptr ? ipv4[0] == 169 && ipv4[1] == 254 : bytes_[0] == 0xfe && (bytes_[1] & 0xc0U) == 0x80;
}

bool Nameserver::is_multicast() const {
  const std::uint8_t* ipv4 = ipv4_part(*this);
  if (ipv4 == nullptr) return bytes_[0] == 0xff;
  return (ipv4[0] & 0xf0U) == 0xe0 || std::all_of(ipv4, ipv4 + 4, [](std::uint8_t byte) { return byte == 0xff; });
}

std::optional<Nameserver> Nameserver::unmapped() const {
  const std::uint8_t* ipv4 = ipv6_ ? ipv4_part(*this) : nullptr;
  if (ipv4 == nullptr) return std::nullopt;
  Nameserver server;
  std::copy(ipv4, ipv4 + 4, server.bytes_.begin());
  return server;
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  const auto base = Nameserver::parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  Prefix prefix;
  prefix.base_ = *base;
  const unsigned bits = base->is_ipv6() ? 128 : 32;
  prefix.length_ = bits;
  if (slash == std::string_view::npos) return prefix;
  const std::string_view digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  prefix.length_ = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    prefix.length_ = prefix.length_ * 10 + static_cast<unsigned>(c - '0');
  }
  // A network has no zone: only one address can be meant by both.
  if (prefix.length_ > bits || (!base->zone().empty() && prefix.length_ != bits)) return std::nullopt;
  return prefix;
}

bool Prefix::contains(const Nameserver& server) const {
  if (server.is_ipv6() != base_.is_ipv6()) return false;
  if (!base_.zone().empty() && base_.zone() != server.zone()) return false;
  const std::size_t whole = length_ / 8;
  const unsigned rest = length_ % 8;
  if (!std::equal(base_.bytes().begin(), base_.bytes().begin() + static_cast<std::ptrdiff_t>(whole),
                  server.bytes().begin())) {
    return false;
  }
  return rest == 0 || ((base_.bytes()[whole] ^ server.bytes()[whole]) >> (8 - rest)) == 0;
}

std::string Prefix::text() const {
  const bool bare = length_ == (base_.is_ipv6() ? 128U : 32U);
  return bare ? base_.text() : base_.text() + "/" + std::to_string(length_);
}

}  // namespace rg
