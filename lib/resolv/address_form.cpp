#include "lib/resolv/address_form.hpp"

#include <arpa/inet.h>

#include <cstring>

#include "lib/resolv/nameserver.hpp"

namespace rg {
namespace {

/// glibc, musl and dig read `nameserver` so: hexadecimal, octal, and fewer than four parts.
bool is_inet_aton(std::string_view word) {
  char buffer[64];  // longer ones are possible (any number of leading zeros) and nobody's
  if (word.empty() || word.size() >= sizeof buffer) return false;
  std::memcpy(buffer, word.data(), word.size());
  buffer[word.size()] = '\0';
  in_addr address{};
  return inet_aton(buffer, &address) != 0;
}

/// `192.0.2.08`: no number to inet_aton(3), 8 to c-ares.
bool is_zero_padded(std::string_view word) {
  char buffer[32];
  std::size_t size = 0;
  for (std::size_t i = 0; i < word.size() && size < sizeof buffer; ++i) {
    const bool starts = i == 0 || word[i - 1] == '.';
    if (starts) {
      while (i + 1 < word.size() && word[i] == '0' && word[i + 1] >= '0' && word[i + 1] <= '9') ++i;
    }
    buffer[size++] = word[i];
  }
  return size < sizeof buffer && Nameserver::parse({buffer, size}).has_value();
}

bool is_address(std::string_view word) {
  return Nameserver::parse(word).has_value() || is_inet_aton(word) || is_zero_padded(word);
}

}  // namespace

bool is_address_in_other_form(std::string_view word) {
  if (Nameserver::parse(word)) return false;
  if (is_address(word)) return true;
  if (!word.empty() && word.front() == '[') {  // c-ares 1.34, systemd-resolved, dnspython
    const std::size_t end = word.find(']');
    return end != std::string_view::npos && is_address(word.substr(1, end - 1));
  }
  const std::size_t mark = word.find_first_of(",@%/");  // c-ares splits at commas, unbound and resolved know the rest
  if (mark != std::string_view::npos) {
    const std::string_view before = word.substr(0, mark);
    return is_address(before) || is_address_in_other_form(before);
  }
  const std::size_t colon = word.find(':');
  return colon != std::string_view::npos && is_address(word.substr(0, colon)) && word.find('.') < colon;
}

}  // namespace rg
