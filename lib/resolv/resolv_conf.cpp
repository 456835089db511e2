#include "lib/resolv/resolv_conf.hpp"

#include <algorithm>
#include <array>

#include "lib/resolv/address_form.hpp"

namespace rg {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kUsual = 16;  // no file has more servers but by an attack or mistake

/// What parts words: blank and TAB to glibc (not FF, VT or NBSP). CR and NUL besides, because we forgive them.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; }

struct Keyword {
  std::string_view word;
  Line::Kind kind;
};
constexpr std::array<Keyword, 4> kKeywords = {{{"nameserver", Line::Kind::nameserver},
                                               {"search", Line::Kind::search},
                                               {"domain", Line::Kind::domain},
                                               {"options", Line::Kind::options}}};

/// The keyword in the first column; glibc's MATCH() wants a blank or TAB behind it.
const Keyword* find_keyword(std::string_view body) {
  for (const Keyword& keyword : kKeywords) {
    if (!body.starts_with(keyword.word)) continue;
    if (body.size() == keyword.word.size() || is_blank(body[keyword.word.size()])) return &keyword;
  }
  return nullptr;
}

void split(std::string_view rest, std::size_t at_most, std::vector<std::string>& words) {
  std::size_t at = 0;
  while (words.size() < at_most) {
    while (at < rest.size() && is_blank(rest[at])) ++at;
    const std::size_t start = at;
    while (at < rest.size() && !is_blank(rest[at])) ++at;
    if (start == at) return;
    words.emplace_back(rest.substr(start, at - start));
  }
}

/// A CR at the end of a comment or a blank line means nothing to anybody. Elsewhere it does: glibc takes it for a part
/// of the word, dnspython for a line end, and a `sortlist` with a CR makes glibc loop for ever.
bool has_harmful_cr(std::string_view body) {
  const std::size_t first = body.find('\r');
  if (first == kNone) return false;
  const std::size_t word = body.find_first_not_of(std::string_view(" \t\r\0", 4));
  if (word == kNone) return false;
  const bool comment = body[word] == '#' || body[word] == ';';
  return !comment || body.find_first_not_of('\r', first) != kNone;
}

void read_values(std::string_view rest, Line& line) {
  const std::size_t comment = rest.find_first_of("#;");
  const bool one = line.kind == Line::Kind::nameserver || line.kind == Line::Kind::domain;
  split(rest.substr(0, comment), one ? 1 : kNone, line.values);
  if (line.kind == Line::Kind::nameserver && !line.values.empty()) line.server = Nameserver::parse(line.values.front());
  // A `#` or `;` is a word of its own to glibc, musl and Go where words are free.
  const bool counts = line.kind != Line::Kind::nameserver || line.server;
  if (comment != kNone && counts) line.flaws.push_back(Flaw::trailing_comment);
  if (!counts && !line.values.empty() && is_address_in_other_form(line.values.front())) {
    line.flaws.push_back(Flaw::address_form);
  }
}

/// `text` with its line end. `first`: it stands at the file's start.
Line parse_line(std::string_view text, bool first) {
  Line line;
  line.text = text;
  std::string_view body = text;
  if (body.ends_with('\n')) body.remove_suffix(1);
  if (first && body.starts_with(kByteOrderMark)) {
    body.remove_prefix(kByteOrderMark.size());
    line.flaws.push_back(Flaw::byte_order_mark);
  }
  if (has_harmful_cr(body)) line.flaws.push_back(Flaw::carriage_return);
  if (body.find('\0') != kNone) line.flaws.push_back(Flaw::nul);
  // NetworkManager's and others' fallocate(2) leaves NULs; what stands behind them is read.
  body.remove_prefix(std::min(body.size(), body.find_first_not_of('\0')));
  if (const Keyword* keyword = find_keyword(body)) {
    line.kind = keyword->kind;
    read_values(body.substr(keyword->word.size()), line);
  }
  return line;
}

bool is_search(const Line& line) { return line.kind == Line::Kind::search || line.kind == Line::Kind::domain; }

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view without_final_dot(std::string_view domain) {
  if (domain.size() > 1 && domain.ends_with('.')) domain.remove_suffix(1);
  return domain;
}

}  // namespace

ResolvConf parse(std::string_view bytes) {
  ResolvConf conf;
  const auto read = bytes.substr(0, kMaxFileBytes);
  conf.lines.reserve(static_cast<std::size_t>(std::count(read.begin(), read.end(), '\n')) + 1);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t newline = bytes.find('\n', at);
    const std::size_t end = newline == kNone ? bytes.size() : newline + 1;
    // A last line without LF that just reaches the limit may be cut: whoever reads no more than that can't tell.
    if (end > kMaxFileBytes || (newline == kNone && end == kMaxFileBytes)) {
      Line& rest = conf.lines.emplace_back();
      rest.text = bytes.substr(at);
      rest.beyond = true;
      break;
    }
    conf.lines.push_back(parse_line(bytes.substr(at, end - at), at == 0));
    at = end;
  }
  return conf;
}

std::string render(const ResolvConf& conf) {
  std::string bytes;
  for (const Line& line : conf.lines) bytes += line.text;
  return bytes;
}

std::vector<Nameserver> nameservers(const ResolvConf& conf) {
  std::vector<Nameserver> servers;
  servers.reserve(std::min(conf.lines.size(), kUsual));
  for (const Line& line : conf.lines) {
    if (line.server) servers.push_back(*line.server);
  }
  return servers;
}

std::vector<std::string> search(const ResolvConf& conf) {
  // A later line replaces an earlier one; one without a value is skipped (glibc; musl and Go would clear the list).
  for (auto line = conf.lines.rbegin(); line != conf.lines.rend(); ++line) {
    if (is_search(*line) && !line->values.empty()) return line->values;
  }
  return {};
}

std::vector<std::string> all_search(const ResolvConf& conf) {
  std::vector<std::string> domains;
  for (const Line& line : conf.lines) {
    if (is_search(line)) append(domains, line.values);
  }
  return domains;
}

std::vector<std::string> options(const ResolvConf& conf) {
  std::vector<std::string> words;
  for (const Line& line : conf.lines) {
    if (line.kind == Line::Kind::options) append(words, line.values);
  }
  return words;
}

bool same_domain(std::string_view a, std::string_view b) {
  a = without_final_dot(a);
  b = without_final_dot(b);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool domain_less(std::string_view a, std::string_view b) {
  a = without_final_dot(a);
  b = without_final_dot(b);
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](char x, char y) { return lower(x) < lower(y); });
}

std::string_view option_name(std::string_view option) { return option.substr(0, option.find(':')); }

}  // namespace rg
