#include "lib/config/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "lib/resolv/resolv_conf.hpp"

namespace rg {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxDomain = 253;  // RFC 1035 2.3.4: 255 octets on the wire, less the root and the first length
constexpr std::size_t kMaxLabel = 63;
// PATH_MAX and NAME_MAX of Linux, the final NUL not counted.
constexpr std::size_t kMaxPath = 4095;
constexpr milliseconds kLongest = std::chrono::hours{24 * 365};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The length of the UTF-8 sequence at the start of `text`, 0 if it is none (RFC 3629: no surrogates, nothing overlong).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// What no value may hold, whatever its kind (see the header).
std::optional<Expected> unfit(std::string_view text) {
  if (text.empty()) return Expected{"a text that is not empty"};
  if (std::any_of(text.begin(), text.end(), is_control))
    return Expected{"a text without control characters or line ends"};
  if (!is_utf8(text)) return Expected{"a text in UTF-8"};
  if (text.find("${") != text.npos) return Expected{"a text without `${` (environment values are not expanded again)"};
  return std::nullopt;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A word that can stand in a line of resolv.conf: readers cut at blanks, and some at # and ; (the corpus shows which).
bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#' && c != ';'; });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool looks_ipv4(std::string_view text) {
  return text.find('.') != text.npos && text.find_first_not_of("0123456789.") == text.npos;
}

// What is wrong with a dotted number: C libraries read `127.1` and `010.0.0.1` in other ways than Go, so none may be
// said.
std::string ipv4_mistake(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4) return fmt::format("an IPv4 address in four parts, here are {}", parts.size());
  for (const auto part : parts) {
    if (part.empty()) return "an IPv4 address in four parts, one here is empty";
    if (part.size() > 1 && part[0] == '0') {
      return fmt::format("an IPv4 address without leading zeros ({} is octal to some readers)", ticked(part));
    }
    if (part.size() > 3 || std::stoi(std::string(part)) > 255) {
      return fmt::format("an IPv4 address with parts of at most 255, not {}", ticked(part));
    }
  }
  return "an IPv4 address";
}

std::string address_mistake(std::string_view text) {
  const std::string plain = "an IPv4 or IPv6 address";
  if (looks_ipv4(text)) return ipv4_mistake(text);
  if (text.find_first_of(" \t,") != text.npos) return plain + " alone, one in each string";
  if (text.front() == '[') return plain + " without brackets";
  const std::string_view host = text.substr(0, text.find_first_of("/%:"));
  if (looks_ipv4(host) && text.find('/') != text.npos) return "one address, not a prefix";
  if (looks_ipv4(host) && text.find('%') != text.npos) return "an IPv4 address without a zone (only IPv6 has zones)";
  if (looks_ipv4(host)) return "an address without a port (resolv.conf knows none, resolvers ask port 53)";
  if (!text.empty() && text.back() == '%') return "the name of an interface behind the `%`";
  if (Prefix::parse(text)) return "one address, not a prefix";
  if (text.find(':') == text.npos && text.find('.') != text.npos)
    return plain + ", not a name (names are never resolved here)";
  return plain;
}

Expected domain_mistake(std::string_view text) {
  if (text.find_first_of(" \t") != text.npos) return Expected{"one domain in each string, without blanks"};
  if (!is_word(text))
    return Expected{"a domain name in ASCII without blanks, `#` or `;` (an international one in its xn-- form)"};
  if (text.size() > kMaxDomain) return Expected{"a domain name of at most 253 bytes"};
  return Expected{"a domain name whose parts between the dots have 1 to 63 bytes"};
}

// What the kernel can be asked for: no system call finds that out.
std::string destination_mistake(const Nameserver& server) {
  if (server.is_unspecified()) return "the address of another host behind it: this one means none";
  if (server.is_multicast()) return "the address of one host behind it: this one means many";
  const bool no_zone = server.is_ipv6() && server.is_link_local() && server.zone().empty();
  if (no_zone) return "a zone behind a link-local address, like `fe80::1%eth0`: it is on every link another host";
  return {};
}

}  // namespace

Read<Nameserver> read_address(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  const auto server = Nameserver::parse(text);
  if (!server) return Expected{address_mistake(text)};
  if (!is_word(text)) return Expected{"a zone in ASCII without blanks, `#` or `;`"};
  return *server;
}

Read<Address> read_server(std::string_view text) {
  if (!text.starts_with(kSourceAddressOf)) {
    const Read<Nameserver> server = read_address(text);
    if (const auto* value = std::get_if<Nameserver>(&server)) return Address{*value};
    const std::string hint = text.starts_with("source") ? fmt::format(", or `{}192.0.2.1`", kSourceAddressOf) : "";
    return Expected{std::get<Expected>(server).text + hint};
  }
  const Read<Nameserver> destination = read_address(text.substr(kSourceAddressOf.size()));
  if (const auto* mistake = std::get_if<Expected>(&destination)) {
    return Expected{fmt::format("behind `{}` {}", kSourceAddressOf, mistake->text)};
  }
  const auto& server = std::get<Nameserver>(destination);
  if (std::string mistake = destination_mistake(server); !mistake.empty()) return Expected{std::move(mistake)};
  return Address{SourceAddressOf{server}};
}

Read<Prefix> read_prefix(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  const auto prefix = is_word(text) ? Prefix::parse(text) : std::nullopt;
  if (!prefix) return Expected{"an address or a prefix like `192.0.2.0/24` or `fe80::/10`"};
  return *prefix;
}

Read<Deny> read_deny(std::string_view text) {
  for (const auto& [word, value] : Keywords<DenyWord>::kAll) {
    if (word == text) return Deny{value};
  }
  if (text.starts_with(kSourceAddressOf)) {
    const Read<Address> source = read_server(text);
    if (const auto* mistake = std::get_if<Expected>(&source)) return *mistake;
    return Deny{std::get<SourceAddressOf>(std::get<Address>(source))};
  }
  const Read<Prefix> prefix = read_prefix(text);
  if (const Prefix* value = std::get_if<Prefix>(&prefix)) return Deny{*value};
  const auto words = all_keywords<DenyWord>();
  return Expected{std::get<Expected>(prefix).text + ", or one of the words " + one_of(words) +
                  did_you_mean(text, words)};
}

std::string deny_text(const Deny& deny) {
  if (const auto* prefix = std::get_if<Prefix>(&deny)) return prefix->text();
  if (const auto* source = std::get_if<SourceAddressOf>(&deny)) return source->text();
  return std::string(keyword(std::get<DenyWord>(deny)));
}

Read<std::string> read_domain(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  if (text == ".") return std::string(text);
  std::string_view name = text;
  if (name.back() == '.') name.remove_suffix(1);
  const auto labels = split(name, '.');
  const bool good_labels =
      std::all_of(labels.begin(), labels.end(), [](auto label) { return !label.empty() && label.size() <= kMaxLabel; });
  if (!is_word(name) || name.size() > kMaxDomain || !good_labels) return domain_mistake(name);
  return std::string(text);
}

Read<std::string> read_option(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  if (!is_word(text))
    return Expected{"one option in each string, like `edns0` or `timeout:2`, without blanks, `#` or `;`"};
  if (option_name(text).empty()) return Expected{"an option with a name before the `:`"};
  return std::string(text);
}

Read<std::string> read_option_name(std::string_view text) {
  Read<std::string> option = read_option(text);
  if (std::holds_alternative<Expected>(option)) return option;
  if (text.find(':') == text.npos) return option;
  return Expected{fmt::format("the name of an option without its value: `{}`", option_name(text))};
}

Read<std::string> read_absolute_path(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  if (text.front() != '/') return Expected{"an absolute path (one that begins with `/`)"};
  if (text.size() > kMaxPath) return Expected{"a path of at most 4095 bytes"};
  return std::string(text);
}

Read<std::string> read_guard_path(std::string_view text) {
  Read<std::string> path = read_absolute_path(text);
  if (std::holds_alternative<Expected>(path)) return path;
  const std::string_view name = text.substr(text.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..") return Expected{"the path of a file, not of a directory"};
  return path;
}

Read<std::string> read_link_text(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  if (text.size() > kMaxPath) return Expected{"the text of a link, at most 4095 bytes"};
  if (text.back() == '/') return Expected{"a link to a file, not to a directory"};
  return std::string(text);
}

Read<std::string> read_selinux_label(std::string_view text) {
  if (auto expected = unfit(text)) return *expected;
  const auto parts = split(text, ':');
  const bool full =
      parts.size() >= 3 && std::none_of(parts.begin(), parts.end(), [](auto part) { return part.empty(); });
  if (text == "auto" || (full && is_word(text))) return std::string(text);
  return Expected{"`auto` or a full context like `system_u:object_r:net_conf_t:s0`" + did_you_mean(text, {"auto"})};
}

Read<std::uint32_t> read_mode(std::string_view text) {
  const bool octal = text.find_first_not_of("01234567") == text.npos && text.size() >= 3 && text.size() <= 5;
  if (!octal) return Expected{"permission bits as an octal string like \"0644\""};
  const auto mode = static_cast<std::uint32_t>(std::stoul(std::string(text), nullptr, 8));
  if (mode > 0777) return Expected{"permission bits alone, at most \"0777\""};
  return mode;
}

Read<milliseconds> read_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, milliseconds>, 4> kUnits{{{"ms", milliseconds{1}},
                                                                                    {"s", std::chrono::seconds{1}},
                                                                                    {"m", std::chrono::minutes{1}},
                                                                                    {"h", std::chrono::hours{1}}}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  for (const auto& [unit, length] : kUnits) {
    if (text.substr(digits) != unit || digits == 0) continue;
    // Eleven digits are more milliseconds than a year has, and far from the end of a long long.
    const bool fits = digits <= 11 && std::stoll(std::string(text.substr(0, digits))) <= kLongest / length;
    if (!fits) return Expected{"a time of at most a year, `8760h`"};
    return std::stoll(std::string(text.substr(0, digits))) * length;
  }
  std::string expected = "a whole number with its unit, ms, s, m or h, like `200ms` or `2s`";
  if (all_digits(text) && text.size() < 8) expected += fmt::format(" (did you mean `{0}ms` or `{0}s`?)", text);
  return Expected{expected};
}

Read<milliseconds> read_deadline(std::string_view text) {
  Read<milliseconds> duration = read_duration(text);
  if (const auto* value = std::get_if<milliseconds>(&duration); value != nullptr && value->count() == 0) {
    return Expected{"a time longer than nothing"};
  }
  return duration;
}

Read<milliseconds> read_timeout(std::string_view text) {
  Read<milliseconds> duration = read_duration(text);
  const auto* value = std::get_if<milliseconds>(&duration);
  const bool fits = value == nullptr || (value->count() > 0 && *value <= std::chrono::minutes{1});
  return fits ? duration : Expected{"a time from `1ms` to `1m`"};
}

std::string duration_text(milliseconds duration) {
  const auto count = duration.count();
  if (count % 3'600'000 == 0 && count != 0) return fmt::format("{}h", count / 3'600'000);
  if (count % 60'000 == 0 && count != 0) return fmt::format("{}m", count / 60'000);
  if (count % 1000 == 0) return fmt::format("{}s", count / 1000);
  return fmt::format("{}ms", count);
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (line.size() + length > most) return line + "...";
    if (length == 0 || is_control(text[i])) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    } else {
      line += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return line;
}

std::string ticked(std::string_view text) { return '`' + one_line(text, 79) + '`'; }

std::string comparable_path(std::string_view path) {
  std::string clean;
  for (const auto part : split(path, '/')) {
    if (!part.empty() && part != ".") clean.append("/").append(part);
  }
  return clean;
}

}  // namespace rg
