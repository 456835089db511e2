#include "lib/config/toml_source.hpp"

#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/config/values.hpp"

namespace rg {
namespace {

// Deeper than any key of ours. What lies below is an error anyway, and a recursion needs an end.
constexpr int kMaxDepth = 8;

Position position(const toml::source_region& source) { return {source.begin.line, source.begin.column}; }

// The rest of the line at a position; toml++ counts code points.
std::string_view rest_of_line(std::string_view bytes, Position at) {
  for (unsigned line = 1; line < at.line; ++line) {
    const std::size_t end = bytes.find('\n');
    if (end == bytes.npos) return {};
    bytes.remove_prefix(end + 1);
  }
  bytes = bytes.substr(0, bytes.find_first_of("\r\n"));
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; };
  for (unsigned column = 1; column < at.column && !bytes.empty(); ++column) {
    bytes.remove_prefix(1);
    while (!bytes.empty() && continues(bytes.front())) bytes.remove_prefix(1);
  }
  return bytes;
}

// What a whole file is read with: its text, to say what stands there (0o644 is 420 to toml++).
Node node_of(const toml::node& source, std::string_view bytes, int depth);

Array array_of(const toml::array& source, std::string_view bytes, int depth) {
  Array array;
  if (depth == 0) return array;
  array.reserve(source.size());
  for (const toml::node& element : source) array.push_back(node_of(element, bytes, depth - 1));
  return array;
}

Table table_of(const toml::table& source, std::string_view bytes, int depth) {
  Table table;
  if (depth == 0) return table;
  table.reserve(source.size());
  for (const auto& [key, value] : source) {
    table.push_back({std::string(key.str()), position(key.source()), node_of(value, bytes, depth - 1)});
  }
  // toml++ sorts by name.
  std::stable_sort(table.begin(), table.end(), [](const Member& a, const Member& b) { return a.at < b.at; });
  return table;
}

// A number, a flag or a date, which end where they begin: in one line and without a character beyond ASCII.
std::string scalar_text(const toml::source_region& source, std::string_view bytes) {
  const std::string_view rest = rest_of_line(bytes, position(source));
  return ticked(rest.substr(0, rest.find_first_of(" \t#,]}")));
}

Node node_of(const toml::node& source, std::string_view bytes, int depth) {
  const Position at = position(source.source());
  if (const auto* text = source.as_string()) return {at, text->get(), ticked('"' + text->get() + '"')};
  if (const auto* array = source.as_array()) return {at, array_of(*array, bytes, depth), "a list"};
  if (const auto* table = source.as_table()) return {at, table_of(*table, bytes, depth), "a table"};
  const std::string text = scalar_text(source.source(), bytes);
  if (const auto* flag = source.as_boolean()) return {at, flag->get(), text};
  if (const auto* number = source.as_integer()) return {at, number->get(), text};
  return {at, OtherValue{}, text};
}

ConfigError no_toml(const ConfigText& file, const toml::parse_error& error) {
  constexpr std::string_view kPreamble = "Error while parsing ";
  const Position at = position(error.source());
  std::string_view why = error.description();
  if (why.substr(0, kPreamble.size()) == kPreamble) why.remove_prefix(kPreamble.size());
  const std::string_view rest = rest_of_line(file.bytes, at);
  return {file.path, at.line, at.column, rest.empty() ? "the end of the line" : ticked(rest),
          fmt::format("valid TOML ({})", why)};
}

// `a.a.a...` nests without limit in toml++ 3.3, and its destructors recurse: a megabyte of it would end the stack.
std::optional<Position> too_deep(std::string_view bytes) {
  constexpr unsigned kMostDots = 1000;
  Position at{1, 0};
  unsigned dots = 0;
  for (const char c : bytes) {
    ++at.column;
    if (c == '.') {
      if (++dots > kMostDots) return at;
    } else if (std::string_view("\n=,]#\"'").find(c) != std::string_view::npos) {
      dots = 0;
    }
    if (c == '\n') at = {at.line + 1, 0};
  }
  return std::nullopt;
}

}  // namespace

std::variant<Table, ConfigError> read_toml(const ConfigText& file) {
  if (const auto at = too_deep(file.bytes)) {
    return ConfigError{file.path, at->line, at->column, "more than 1000 dots in sequence", "a name with fewer parts"};
  }
  const toml::parse_result parsed = toml::parse(std::string_view(file.bytes), std::string_view(file.path));
  if (parsed.failed()) return no_toml(file, parsed.error());
  return table_of(parsed.table(), file.bytes, kMaxDepth);
}

}  // namespace rg
