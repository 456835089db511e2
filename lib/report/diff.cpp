#include "lib/report/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "lib/report/text.hpp"

namespace rg {
namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kMaxLines = 4000;  // a side: the table of the longest common subsequence is then 2 MB of bits

using Lines = std::vector<std::string_view>;  // each with its line end; the last one may have none
using Numbers = std::vector<std::size_t>;     // equal lines have equal numbers

// Lines [old_begin, old_end) give way to [new_begin, new_end): one of them may be empty.
struct Change {
  std::size_t old_begin, old_end, new_begin, new_end;
};

Lines split(std::string_view bytes) {
  Lines lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    lines.push_back(bytes.substr(0, end));
    bytes.remove_prefix(end);
  }
  return lines;
}

Numbers number(const Lines& lines, std::unordered_map<std::string_view, std::size_t>& known) {
  Numbers numbers;
  numbers.reserve(lines.size());
  for (const std::string_view line : lines) numbers.push_back(known.try_emplace(line, known.size()).first->second);
  return numbers;
}

// For each pair of positions: does a longest common subsequence of what follows do without a's line rather than b's?
class Longest {
 public:
  Longest(const Numbers& a, const Numbers& b) : width_(b.size()), skip_a_(a.size() * b.size()) {
    std::vector<unsigned> below(b.size() + 1), here(b.size() + 1);
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        here[j] = a[i] == b[j] ? below[j + 1] + 1 : std::max(below[j], here[j + 1]);
        skip_a_[i * width_ + j] = below[j] >= here[j + 1];
      }
      std::swap(below, here);
    }
  }
  [[nodiscard]] bool skip_a(std::size_t i, std::size_t j) const { return skip_a_[i * width_ + j]; }

 private:
  std::size_t width_;
  std::vector<bool> skip_a_;
};

// The changes of the middle, which begins `head` lines behind the start on both sides.
std::vector<Change> middle_changes(const Numbers& a, const Numbers& b, std::size_t head) {
  if (a.empty() && b.empty()) return {};
  if (a.size() > kMaxLines || b.size() > kMaxLines) return {{head, head + a.size(), head, head + b.size()}};
  const Longest longest(a, b);
  std::vector<Change> changes;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    Change change{head + i, 0, head + j, 0};
    while (i < a.size() && j < b.size() && a[i] != b[j]) ++(longest.skip_a(i, j) ? i : j);
    if (i == a.size()) j = b.size();
    if (j == b.size()) i = a.size();
    change.old_end = head + i;
    change.new_end = head + j;
    if (change.old_begin != change.old_end || change.new_begin != change.new_end) changes.push_back(change);
    while (i < a.size() && j < b.size() && a[i] == b[j]) ++i, ++j;
  }
  return changes;
}

std::vector<Change> changes_between(const Lines& old_lines, const Lines& new_lines) {
  std::unordered_map<std::string_view, std::size_t> known;
  Numbers a = number(old_lines, known), b = number(new_lines, known);
  const auto head_end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const std::size_t head = static_cast<std::size_t>(head_end.first - a.begin());
  const std::size_t most = std::min(a.size(), b.size()) - head;
  std::size_t tail = 0;
  while (tail < most && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const auto middle = [&](const Numbers& all) {
    return Numbers(all.begin() + static_cast<std::ptrdiff_t>(head), all.end() - static_cast<std::ptrdiff_t>(tail));
  };
  return middle_changes(middle(a), middle(b), head);
}

void add_lines(std::string& text, char mark, const Lines& lines, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    text += mark;
    text += lines[i];
    if (!lines[i].ends_with('\n')) text += "\n\\ No newline at end of file\n";
  }
}

// POSIX, diff -u: the count is left out where it is 1, and an empty range is said by the line before it.
std::string range(std::size_t begin, std::size_t end) {
  if (end - begin == 1) return fmt::format("{}", begin + 1);
  return fmt::format("{},{}", end == begin ? begin : begin + 1, end - begin);
}

using ChangeAt = std::vector<Change>::const_iterator;

void add_hunk(std::string& text, const Lines& old_lines, const Lines& new_lines, ChangeAt first, ChangeAt end) {
  const Change& last = *(end - 1);
  const std::size_t before = std::min(kContext, first->old_begin);
  const std::size_t after = std::min(kContext, old_lines.size() - last.old_end);
  text += fmt::format("@@ -{} +{} @@\n", range(first->old_begin - before, last.old_end + after),
                      range(first->new_begin - before, last.new_end + after));
  std::size_t at = first->old_begin - before;
  for (ChangeAt change = first; change != end; ++change) {
    add_lines(text, ' ', old_lines, at, change->old_begin);
    add_lines(text, '-', old_lines, change->old_begin, change->old_end);
    add_lines(text, '+', new_lines, change->new_begin, change->new_end);
    at = change->old_end;
  }
  add_lines(text, ' ', old_lines, at, last.old_end + after);
}

}  // namespace

std::string unified_diff(std::string_view old_bytes, std::string_view new_bytes, const std::string& old_name,
                         const std::string& new_name) {
  if (old_bytes == new_bytes) return {};
  const Lines old_lines = split(old_bytes), new_lines = split(new_bytes);
  const std::vector<Change> changes = changes_between(old_lines, new_lines);
  std::string text = fmt::format("--- {}\n+++ {}\n", printable(old_name), printable(new_name));
  for (auto first = changes.begin(); first != changes.end();) {
    auto end = first + 1;  // changes whose contexts touch share a hunk
    while (end != changes.end() && end->old_begin - (end - 1)->old_end <= 2 * kContext) ++end;
    add_hunk(text, old_lines, new_lines, first, end);
    first = end;
  }
  return text;
}

}  // namespace rg
