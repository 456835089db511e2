#include "lib/dns/message.hpp"

#include <algorithm>
#include <cstddef>

namespace rg::dns {
namespace {

// RFC 1035 4.1.1: id, flags and the four counts, two bytes each.
constexpr std::size_t kHeader = 12;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxName = 253;  // RFC 1035 2.3.4: 255 on the wire, less the root and the first length

constexpr unsigned kResponse = 0x8000, kOpcode = 0x7800, kRecursionDesired = 0x0100, kCode = 0x000f;
constexpr unsigned kFormErr = 1, kServFail = 2, kNotImp = 4, kRefused = 5;

void put(std::string& message, unsigned number) {
  message.push_back(static_cast<char>(number >> 8U & 0xffU));
  message.push_back(static_cast<char>(number & 0xffU));
}

// The number in the two bytes at `at`; 0 beyond the end.
unsigned number(std::string_view message, std::size_t at) {
  if (message.size() < at + 2) return 0;
  return static_cast<unsigned>(static_cast<unsigned char>(message[at])) << 8U |
         static_cast<unsigned char>(message[at + 1]);
}

unsigned code(std::string_view message) { return number(message, 2) & kCode; }

// Each label behind its length, and the root's length 0 at the end (RFC 1035 3.1). False if it is no domain name.
bool put_name(std::string& message, std::string_view name) {
  if (name.empty()) return false;
  std::string_view rest = name == "." ? "" : name;
  if (!rest.empty() && rest.back() == '.') rest.remove_suffix(1);
  if (rest.size() > kMaxName || (rest.empty() && name != ".")) return false;
  while (!rest.empty()) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    if (label.empty() || label.size() > kMaxLabel || label.size() + 1 == rest.size()) return false;
    message.push_back(static_cast<char>(label.size()));
    message.append(label);
    rest.remove_prefix(std::min(label.size() + 1, rest.size()));
  }
  message.push_back('\0');
  return true;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Without case (RFC 4343), which some servers change. No other byte of a question is one of a letter: lengths are at
// most 63, below 'A', and type and class are 1. A compression pointer, which has nothing before it to point to,
// differs.
bool same_question(std::string_view message, std::string_view query) {
  const std::string_view ours = query.substr(kHeader);
  const std::string_view theirs = message.substr(kHeader, ours.size());
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::string query(std::uint16_t id, std::string_view name) {
  std::string message;
  put(message, id);
  put(message, kRecursionDesired);
  put(message, 1);                              // one question
  for (int i = 0; i < 3; ++i) put(message, 0);  // nothing in the other sections
  if (!put_name(message, name)) return {};
  put(message, 1);  // A
  put(message, 1);  // IN
  return message;
}

Verdict judge(std::string_view message, std::string_view query) {
  const unsigned flags = number(message, 2), questions = number(message, 4), result = code(message);
  if (message.size() < kHeader || query.size() < kHeader || number(message, 0) != number(query, 0))
    return Verdict::not_ours;
  if ((flags & kResponse) == 0 || (flags & kOpcode) != 0) return Verdict::not_ours;
  // A server that can't read the question need not repeat it.
  if (questions == 0 && (result == kFormErr || result == kNotImp)) return Verdict::answered;
  if (questions != 1 || !same_question(message, query)) return Verdict::not_ours;
  return refusal(message).empty() ? Verdict::answered : Verdict::refused;
}

std::string_view refusal(std::string_view message) {
  switch (code(message)) {
    case kServFail:
      return "SERVFAIL";
    case kRefused:
      return "REFUSED";
    default:
      return {};
  }
}

}  // namespace rg::dns
