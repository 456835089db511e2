#include "lib/config/reader.hpp"

#include <algorithm>

namespace rg {
namespace {

bool starts_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

// More than are reported: they are sorted by their lines first.
constexpr std::size_t kMostErrors = 10 * kMaxErrors;

// The name of `${NAME}...`; empty if it is none.
std::string_view variable_name(std::string_view text) {
  const std::string_view inner = text.substr(2);
  const auto end = static_cast<std::size_t>(std::find_if_not(inner.begin(), inner.end(), in_name) - inner.begin());
  const bool named = end > 0 && starts_name(inner[0]) && end < inner.size() && inner[end] == '}';
  return named ? inner.substr(0, end) : std::string_view();
}

}  // namespace

void Reader::error(Position at, std::string found, std::string expected) {
  if (errors_.size() >= kMostErrors) return;
  errors_.push_back({file_, at.line, at.column, std::move(found), std::move(expected)});
}

void Reader::flag(const TomlNode& node, bool& into) {
  if (const bool* value = std::get_if<bool>(&node.value)) {
    into = *value;
    return;
  }
  const bool quoted_one = std::holds_alternative<std::string>(node.value);
  error(node.at, node.text, quoted_one ? "`true` or `false`, without quotes" : "`true` or `false`");
}

void Reader::count(const TomlNode& node, std::size_t& into) {
  const auto* value = std::get_if<std::int64_t>(&node.value);
  if (value != nullptr && *value >= 0) {
    into = static_cast<std::size_t>(*value);
    return;
  }
  into = 0;  // no limit: a wrong one shall not cause an error about what it would have limited
  const bool quoted_one = std::holds_alternative<std::string>(node.value);
  error(node.at, node.text, quoted_one ? "a whole number, 0 or more, without quotes" : "a whole number, 0 or more");
}

void Reader::unknown_key(const Member& member, const std::vector<std::string_view>& known, const std::string& prefix) {
  if (errors_.size() >= kMostErrors) return;  // a megabyte of them: the nearest word is not looked for at each
  const std::string hint = did_you_mean(member.key, known);
  const std::string table = prefix.empty() ? "" : "[guard." + prefix.substr(0, prefix.size() - 1) + "]";
  const std::string where = table.empty() ? "" : " in " + (prefix == "requires." ? '[' + table + ']' : table);
  error(member.at, "the unknown key " + ticked(member.key) + where,
        one_of(known) + (hint.empty() ? belongs_(member.key) : hint));
}

std::optional<std::string> Reader::expanded(const TomlNode& node, const std::string& raw) {
  std::string text;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t begin = std::min(raw.find("${", at), raw.size());
    text.append(raw, at, begin - at);
    if (begin == raw.size()) break;
    const std::string name(variable_name(std::string_view(raw).substr(begin)));
    if (name.empty()) {
      error(node.at, node.text, "`${NAME}`, a name of letters, digits and `_` between the braces");
      return std::nullopt;
    }
    const std::optional<std::string> value = environment_(name);
    if (!value) {
      error(node.at, node.text, "the environment variable `" + name + "` to be set");
      return std::nullopt;
    }
    text += *value;
    at = begin + name.size() + 3;
  }
  return text;
}

}  // namespace rg
