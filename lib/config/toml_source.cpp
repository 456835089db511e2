#include "lib/config/toml_source.hpp"

#include <version>

#define TOML_ENABLE_FORMATTERS 0
// Else toml++ reads floats from a stringstream, which links all of std::locale. Its default is from 2020, when no
// libstdc++ had std::from_chars for them.
#ifdef __cpp_lib_to_chars
#define TOML_FLOAT_CHARCONV 1
#endif
// toml++ 3.3 asserts, and in a release lets the compiler assume, that a key follows `[`. That is for the text to say:
// without the assertion `[=` is an error like any other.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
// Nor may the compiler assume that no Latin or Cyrillic letter stands where toml++ 3.3 looks for a blank: it is none.
#if __has_include(<toml++/impl/unicode.h>)
#include <toml++/impl/forward_declarations.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#endif
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/config/values.hpp"

namespace rg {
namespace {

// Deeper than any key of ours. What lies below is an error anyway, and a recursion needs an end.
constexpr int kMaxDepth = 8;

Position position(const toml::source_region& source) { return {source.begin.line, source.begin.column}; }

// The text of a file by toml++'s positions, which count lines and code points. Every scalar is looked up in it, so that
// neither the lines nor a long line (a list may stand in one) are counted from their start each time.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {
    std::size_t column = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (continues(bytes[at])) continue;
      if (column == 0) lines_.push_back(marks_.size());
      if (column++ % kStep == 0) marks_.push_back(at);
      if (bytes[at] == '\n') column = 0;
    }
    lines_.push_back(marks_.size());
  }

  // What stands there up to the line's end, at most `most` bytes.
  [[nodiscard]] std::string_view rest_of_line(Position at, std::size_t most) const {
    if (at.line == 0 || at.column == 0 || at.line >= lines_.size()) return {};
    const std::size_t mark = lines_[at.line - 1] + (at.column - 1) / kStep;
    if (mark >= lines_[at.line]) return {};
    std::size_t begin = marks_[mark];
    for (std::size_t i = (at.column - 1) % kStep; i > 0 && !ends(begin); --i) {
      ++begin;
      while (begin < bytes_.size() && continues(bytes_[begin])) ++begin;
    }
    std::size_t end = begin;
    while (end - begin < most && !ends(end)) ++end;
    return bytes_.substr(begin, end - begin);
  }

 private:
  static constexpr std::size_t kStep = 128;
  static bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }
  [[nodiscard]] bool ends(std::size_t at) const {
    return at >= bytes_.size() || bytes_[at] == '\n' || bytes_[at] == '\r';
  }

  std::string_view bytes_;
  std::vector<std::size_t> lines_;  // the first mark of each line, and the end of the last one's
  std::vector<std::size_t> marks_;  // where columns 1, 1 + kStep, 1 + 2 kStep... of each line begin
};

constexpr std::size_t kShown = 200;  // more than ticked() shows

// What a whole file is read with: its text, to say what stands there (0o644 is 420 to toml++).
TomlNode node_of(const toml::node& source, const Source& text, int depth);

Array array_of(const toml::array& source, const Source& text, int depth) {
  Array array;
  if (depth == 0) return array;
  array.reserve(source.size());
  for (const toml::node& element : source) array.push_back(node_of(element, text, depth - 1));
  return array;
}

Table table_of(const toml::table& source, const Source& text, int depth) {
  Table table;
  if (depth == 0) return table;
  table.reserve(source.size());
  for (const auto& [key, value] : source) {
    table.push_back({std::string(key.str()), position(key.source()), node_of(value, text, depth - 1)});
  }
  // toml++ sorts by name.
  std::stable_sort(table.begin(), table.end(), [](const Member& a, const Member& b) { return a.at < b.at; });
  return table;
}

// A number, a flag or a date, which end where they begin: in one line and without a character beyond ASCII.
std::string scalar_text(const toml::source_region& source, const Source& text) {
  const std::string_view rest = text.rest_of_line(position(source), kShown);
  return ticked(rest.substr(0, rest.find_first_of(" \t#,]}")));
}

TomlNode node_of(const toml::node& source, const Source& text, int depth) {
  const Position at = position(source.source());
  if (const auto* word = source.as_string()) return {at, word->get(), ticked('"' + word->get() + '"')};
  if (const auto* array = source.as_array()) return {at, array_of(*array, text, depth), "a list"};
  if (const auto* table = source.as_table()) return {at, table_of(*table, text, depth), "a table"};
  const std::string scalar = scalar_text(source.source(), text);
  if (const auto* flag = source.as_boolean()) return {at, flag->get(), scalar};
  if (const auto* number = source.as_integer()) return {at, number->get(), scalar};
  return {at, OtherValue{}, scalar};
}

ConfigError no_toml(const ConfigText& file, const toml::parse_error& error) {
  constexpr std::string_view kPreamble = "Error while parsing ";
  const Position at = position(error.source());
  std::string_view why = error.description();
  if (why.substr(0, kPreamble.size()) == kPreamble) why.remove_prefix(kPreamble.size());
  const std::string_view rest = Source(file.bytes).rest_of_line(at, kShown);
  return {file.path, at.line, at.column, rest.empty() ? "the end of the line" : ticked(rest),
          fmt::format("valid TOML ({})", one_line(why, kShown))};
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
  // With exceptions, its own default: toml++ 3.3 without them goes on in parse_key() after an error, past the end of
  // the text (an assertion where there are any).
  try {
    const toml::table parsed = toml::parse(std::string_view(file.bytes), std::string_view(file.path));
    return table_of(parsed, Source(file.bytes), kMaxDepth);
  } catch (const toml::parse_error& error) {
    return no_toml(file, error);
  }
}

}  // namespace rg
