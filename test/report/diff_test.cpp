#include "lib/report/diff.hpp"

#include <rapidcheck.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/catch.hpp"

using rg::unified_diff;

namespace {

std::vector<std::string> lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    lines.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end);
  }
  return lines;
}

// "12,3" or "12" at the front of `text`: the first line's index and the count.
struct Range {
  std::size_t begin = 0, count = 1;
};
Range take_range(std::string_view& text) {
  Range range;
  auto end = std::from_chars(text.data(), text.data() + text.size(), range.begin).ptr;
  if (*end == ',') end = std::from_chars(end + 1, text.data() + text.size(), range.count).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (range.count != 0) --range.begin;
  return range;
}

struct Applied {
  std::string bytes;        // the old bytes with the diff applied
  std::size_t changed = 0;  // lines with - or +
  std::size_t hunks = 0;
  std::string mistake;
};

// A small patch(1), strict: every line of a hunk must stand exactly where its header says, on both sides.
class Patch {
 public:
  Patch(std::string_view old_bytes, std::string_view diff) : old_(lines_of(old_bytes)), diff_(lines_of(diff)) {}

  Applied apply() {
    if (diff_.empty()) return finish();
    if (diff_.size() < 3 || diff_[0] != "--- a\n" || diff_[1] != "+++ b\n") return fail("no header");
    for (at_ = 2; at_ < diff_.size();) {
      if (!hunk()) return applied_;
    }
    return finish();
  }

 private:
  Applied fail(const std::string& mistake) {
    applied_.mistake = mistake;
    return applied_;
  }
  Applied finish() {
    while (old_at_ < old_.size()) copy();
    return applied_;
  }
  void copy() { add(old_[old_at_++]); }
  void add(const std::string& line) {
    applied_.bytes += line;
    ++new_at_;
  }

  bool hunk() {
    std::string_view head = diff_[at_++];
    if (!head.starts_with("@@ -")) return fail("no hunk"), false;
    head.remove_prefix(4);
    const Range from = take_range(head);
    if (!head.starts_with(" +")) return fail("no new range"), false;
    head.remove_prefix(2);
    const Range to = take_range(head);
    if (head != " @@\n") return fail("a bad head"), false;
    if (++applied_.hunks > 1 && from.begin <= old_at_) return fail("hunks that touch"), false;
    while (old_at_ < from.begin && old_at_ < old_.size()) copy();
    if (old_at_ != from.begin || new_at_ != to.begin) return fail("a wrong position"), false;
    return body(from.begin + from.count, to.begin + to.count);
  }

  bool body(std::size_t old_end, std::size_t new_end) {
    std::size_t context = 0;
    bool changed = false;
    while (old_at_ < old_end || new_at_ < new_end) {
      if (at_ == diff_.size()) return fail("a cut hunk"), false;
      const char mark = diff_[at_][0];
      const std::string text = text_at();
      if (mark != '+' && (old_at_ >= old_.size() || old_[old_at_] != text)) return fail("a wrong line"), false;
      context = mark == ' ' ? context + 1 : 0;
      if (context > (changed ? 6U : 3U)) return fail("too much context"), false;
      if (mark == '+') add(text);
      if (mark == '-') ++old_at_;
      if (mark == ' ') copy();
      if (mark != ' ') ++applied_.changed, changed = true;
    }
    if (context > 3 || (context < 3 && old_at_ != old_.size())) return fail("not three lines of context"), false;
    return changed || (fail("a hunk without a change"), false);
  }

  // The line at `at_` without its mark; without its line end where the marker of a missing one follows.
  std::string text_at() {
    std::string text = diff_[at_++].substr(1);
    if (at_ < diff_.size() && diff_[at_] == "\\ No newline at end of file\n") ++at_, text.pop_back();
    return text;
  }

  std::vector<std::string> old_, diff_;
  std::size_t at_ = 0, old_at_ = 0, new_at_ = 0;
  Applied applied_;
};

Applied applied(const std::string& old_bytes, const std::string& new_bytes) {
  return Patch(old_bytes, unified_diff(old_bytes, new_bytes, "a", "b")).apply();
}

// By the plain textbook table: what a minimal diff changes.
std::size_t fewest_changes(const std::string& old_bytes, const std::string& new_bytes) {
  const auto a = lines_of(old_bytes), b = lines_of(new_bytes);
  std::vector<std::vector<std::size_t>> fewest(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        fewest[i][j] = i + j;
      } else {
        fewest[i][j] = a[i - 1] == b[j - 1] ? fewest[i - 1][j - 1] : 1 + std::min(fewest[i - 1][j], fewest[i][j - 1]);
      }
    }
  }
  return fewest[a.size()][b.size()];
}

std::string numbered(int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) text += std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("diff: as diff -u prints it") {
  CHECK(unified_diff("a\n", "a\n", "old", "new").empty());
  CHECK(unified_diff("", "", "old", "new").empty());
  CHECK(unified_diff("", "a\nb\n", "old", "new") == "--- old\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  CHECK(unified_diff("a\n", "", "old", "new") == "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n");
  CHECK(unified_diff("nameserver 192.0.2.1\nsearch a\n", "nameserver 127.0.0.1\nnameserver 192.0.2.1\nsearch a\n",
                     "/etc/resolv.conf", "wanted") ==
        "--- /etc/resolv.conf\n+++ wanted\n@@ -1,2 +1,3 @@\n+nameserver 127.0.0.1\n nameserver 192.0.2.1\n search a\n");
}

TEST_CASE("diff: a missing final newline") {
  const std::string head = "--- o\n+++ n\n", marker = "\\ No newline at end of file\n";
  CHECK(unified_diff("a", "a\n", "o", "n") == head + "@@ -1 +1 @@\n-a\n" + marker + "+a\n");
  CHECK(unified_diff("a\n", "a", "o", "n") == head + "@@ -1 +1 @@\n-a\n+a\n" + marker);
  CHECK(unified_diff("x\na", "a", "o", "n") == head + "@@ -1,2 +1 @@\n-x\n a\n" + marker);
  CHECK(unified_diff("a", "b", "o", "n") == head + "@@ -1 +1 @@\n-a\n" + marker + "+b\n" + marker);
}

TEST_CASE("diff: changes share a hunk where their contexts touch") {
  const std::string old_bytes = numbered(0, 30);
  const auto changed = [&](std::initializer_list<const char*> lines) {
    std::string bytes = old_bytes;
    for (const std::string line : lines) bytes.insert(bytes.find("\n" + line + "\n") + 1, "x");
    return bytes;
  };
  CHECK(applied(old_bytes, changed({"10", "17"})).hunks == 1);
  CHECK(applied(old_bytes, changed({"10", "18"})).hunks == 2);
  CHECK(unified_diff(old_bytes, changed({"10", "18"}), "o", "n") ==
        "--- o\n+++ n\n@@ -8,7 +8,7 @@\n 7\n 8\n 9\n-10\n+x10\n 11\n 12\n 13\n"
        "@@ -16,7 +16,7 @@\n 15\n 16\n 17\n-18\n+x18\n 19\n 20\n 21\n");
}

TEST_CASE("diff: names cannot break the head") {
  CHECK(unified_diff("", "a\n", "x\n+++ y", "\x1b[2J").starts_with("--- x\\x0a+++ y\n+++ \\x1b[2J\n@@ "));
}

TEST_CASE("diff: applied to the old bytes it gives the new ones, with the fewest changes") {
  CHECK(rc::check("diff: applied", [] {
    // Few different lines, so that equal ones stand in many places; sometimes no final newline.
    const auto text = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\n\n")));
    const std::string old_bytes = *text, new_bytes = *text;
    const Applied result = applied(old_bytes, new_bytes);
    RC_ASSERT(result.mistake == "");
    RC_ASSERT(result.bytes == new_bytes);
    RC_ASSERT(result.changed == fewest_changes(old_bytes, new_bytes));
  }));
}

TEST_CASE("diff: a few edits of a long file") {
  CHECK(rc::check("diff: edits", [] {
    const std::string old_bytes = numbered(0, 60);
    std::vector<std::string> lines = lines_of(old_bytes);
    for (int edits = *rc::gen::inRange(0, 6); edits > 0; --edits) {
      const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, lines.size()));
      if (*rc::gen::arbitrary<bool>()) {
        lines.erase(lines.begin() + at);
      } else {
        lines.insert(lines.begin() + at, "new\n");
      }
    }
    std::string new_bytes;
    for (const std::string& line : lines) new_bytes += line;
    const Applied result = applied(old_bytes, new_bytes);
    RC_ASSERT(result.mistake == "");
    RC_ASSERT(result.bytes == new_bytes);
    RC_ASSERT(result.changed == fewest_changes(old_bytes, new_bytes));
  }));
}

TEST_CASE("diff: it stays bounded, and right") {
  const std::string head = numbered(0, 100), tail = numbered(200, 300);
  SECTION("as many lines as are compared") {
    const std::string old_bytes = head + numbered(10000, 14000) + tail,
                      new_bytes = head + numbered(10001, 14001) + tail;
    const Applied result = applied(old_bytes, new_bytes);
    CHECK(result.mistake.empty());
    CHECK((result.bytes == new_bytes));
    CHECK(result.changed == 2);
  }
  SECTION("one more: a replaced block") {
    const std::string old_bytes = head + numbered(10000, 14001) + tail,
                      new_bytes = head + numbered(10001, 14002) + tail;
    const Applied result = applied(old_bytes, new_bytes);
    CHECK(result.mistake.empty());
    CHECK((result.bytes == new_bytes));
    CHECK(result.changed == 2 * 4001);
  }
}
