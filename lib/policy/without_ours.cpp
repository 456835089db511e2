#include <algorithm>

#include "lib/policy/content.hpp"
#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

bool is_our_comment(const Line& line) {
  return line.kind == Line::Kind::other && line.text.starts_with(kCommentPrefix) && !line.beyond;
}

/// The words of a line without ours; a line of ours alone becomes none.
template <class Rule>
void keep_others(Line& line, const char* keyword, const Rule& rule) {
  if (std::erase_if(line.values, [&](const std::string& word) { return is_ours(rule, word); }) == 0) return;
  line.text.clear();
  if (line.values.empty()) return;
  line.text = keyword;
  for (const std::string& word : line.values) line.text.append(" ").append(word);
  line.text.push_back('\n');
}

}  // namespace

bool is_copy_of_ours(std::string_view bytes) { return bytes.find(kCommentPrefix) != std::string_view::npos; }

std::string without_ours(const Policy& policy, const Memory& memory, std::string_view bytes) {
  const auto ours = [&](const std::string& text) {
    const auto server = Nameserver::parse(text);
    const auto& own = memory.source_addresses;
    return server && (is_ours(policy.nameservers, *server) || std::find(own.begin(), own.end(), *server) != own.end());
  };
  ResolvConf conf = parse(bytes);
  for (Line& line : conf.lines) {
    if (is_our_comment(line)) line.text.clear();
    if (line.kind == Line::Kind::search || line.kind == Line::Kind::domain) keep_others(line, "search", policy.search);
    if (line.kind == Line::Kind::options) keep_others(line, "options", policy.options);
    if (line.kind == Line::Kind::nameserver && !line.values.empty() && ours(line.values.front())) line.text.clear();
  }
  return render(conf);
}

}  // namespace rg
