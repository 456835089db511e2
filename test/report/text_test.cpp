#include "lib/report/text.hpp"

#include <rapidcheck.h>

#include <string>

#include "test/support/catch.hpp"

using namespace rg;

namespace {

const std::string kReplacement = "\xef\xbf\xbd";

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

}  // namespace

TEST_CASE("printable: nothing but printable ASCII leaves it") {
  CHECK(printable("plain ~ text") == "plain ~ text");
  CHECK(printable(bytes({'a', 0, '\n', '\t', 0x1b, 0x7f, 0x9b, 0xff})) == "a\\x00\\x0a\\x09\\x1b\\x7f\\x9b\\xff");
  CHECK(printable_lines(bytes({'a', 0, '\n', '\t', '\r', 0x1b})) == "a\\x00\n\t\\x0d\\x1b");
}

TEST_CASE("shortened") {
  CHECK(shortened("12345", 5) == "12345");
  CHECK(shortened("123456", 5) == "12...");
}

TEST_CASE("utf8: valid sequences stay, any other byte is replaced") {
  const std::string valid = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf";
  CHECK(utf8(valid) == valid);
  CHECK(utf8(std::string("\0", 1)) == std::string("\0", 1));
  CHECK(utf8("a\xff"
             "b") == "a" + kReplacement + "b");
  CHECK(utf8("\xc3") == kReplacement);
  CHECK(utf8("\xc3\x28") == kReplacement + "(");
  CHECK(utf8("\xe2\x82") == kReplacement + kReplacement);
  CHECK(utf8("\xc0\x80") == kReplacement + kReplacement);  // a longer form than needed
  CHECK(utf8("\xe0\x9f\xbf") == kReplacement + kReplacement + kReplacement);
  CHECK(utf8("\xf0\x8f\xbf\xbf") == kReplacement + kReplacement + kReplacement + kReplacement);
  CHECK(utf8("\xed\xa0\x80") == kReplacement + kReplacement + kReplacement);                     // a surrogate
  CHECK(utf8("\xf4\x90\x80\x80") == kReplacement + kReplacement + kReplacement + kReplacement);  // above U+10FFFF
}

TEST_CASE("utf8_excerpt: whole up to its bound, whole lines past it") {
  CHECK(utf8_excerpt("a\nb\n", 4) == "a\nb\n");
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "123456789\n";
  const std::string excerpt = utf8_excerpt(long_text, 100);
  CHECK(excerpt == long_text.substr(0, 50) + "[950 more bytes]\n");
  std::string cut(52, 'x');
  cut.append("\n[948 more bytes]\n");
  CHECK(utf8_excerpt(std::string(1000, 'x'), 100) == cut);
}

TEST_CASE("utf8_excerpt: never longer than asked for, valid, and the same again") {
  CHECK(rc::check("utf8_excerpt: bounded", [] {
    const std::string any =
        *rc::gen::container<std::string>(rc::gen::elementOf(bytes({'a', '\n', 0xff, 0xc3, 0xa9, 0})));
    const std::string excerpt = utf8_excerpt(any, 64);
    RC_ASSERT(excerpt.size() <= 64U);
    RC_ASSERT(utf8(excerpt) == excerpt);
    RC_ASSERT(utf8_excerpt(excerpt, 64) == excerpt);
  }));
}
