// A configuration of some megabytes is read in about linear time, and what is wrong with it is told in bounded space.
#include "lib/config/values.hpp"
#include "test/config/config_support.hpp"
#include "test/support/catch.hpp"
#include "test/support/cpu_time.hpp"

namespace rg {
namespace {

constexpr double kLong = 2;  // seconds; toml++ alone takes a fifth of it

ParsedConfig parsed_soon(const std::vector<ConfigText>& files) {
  const test::CpuTime time;
  ParsedConfig parsed = parse_config(files, [](const std::string&) { return std::nullopt; });
  CHECK(time.seconds() < kLong);
  return parsed;
}
ParsedConfig parsed_soon(const std::string& toml) { return parsed_soon({ConfigText{"config.toml", toml}}); }

std::string guards(std::size_t count, const std::string& rest) {
  std::string toml;
  for (std::size_t i = 0; i < count; ++i) {
    toml += "[[guard]]\npath = \"/etc/netns/" + std::to_string(i) + "/resolv.conf\"\n" + rest;
  }
  return toml;
}

template <class Word>
std::string list(std::size_t count, Word word) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + word(i);
  return text + "]";
}

std::string server(std::size_t i) {
  return "\"10." + std::to_string(i >> 16U) + "." + std::to_string((i >> 8U) & 255U) + "." + std::to_string(i & 255U) +
         "\"";
}
std::string word(std::size_t i) { return "\"w" + std::to_string(i) + "\""; }
std::string wrong(std::size_t) { return "1"; }

TEST_CASE("20,000 guards, and 20,000 that take their places") {
  const std::string toml = guards(20'000, "enforce = false\n");
  ParsedConfig parsed = parsed_soon(toml);
  CHECK(error_texts(parsed).empty());
  REQUIRE(parsed.settings);
  REQUIRE(parsed.settings->guards.size() == 20'000);
  CHECK(parsed.settings->guards.back().path == "/etc/netns/19999/resolv.conf");

  const std::string few = guards(2'000, "optional = true\n");
  parsed = parsed_soon({{"config.toml", toml}, {"b.toml", few}});
  REQUIRE(parsed.settings);
  CHECK(parsed.settings->guards.size() == 20'000);
  CHECK(parsed.settings->guards[1'999].optional);
  CHECK(parsed.settings->guards[1'999].enforce);
  CHECK_FALSE(parsed.settings->guards[2'000].optional);
}

TEST_CASE("20,000 guards of one path") {
  std::string toml;
  for (int i = 0; i < 20'000; ++i) toml += "[[guard]]\npath = \"/a\"\n";
  const ParsedConfig parsed = parsed_soon(toml);
  CHECK(parsed.errors.size() == kMaxErrors);
  CHECK(parsed.errors.front().line == 4);
}

TEST_CASE("lists of 20,000 that are required, denied and preferred") {
  const auto later = [](std::size_t i) { return server(i + 20'000); };
  const auto later_word = [](std::size_t i) { return word(i + 20'000); };
  const std::string servers = "[guard.nameservers]\nmax = 0\nfirst = " + list(20'000, server);
  const std::string words = "\n[guard.search]\nfirst = " + list(20'000, word) + "\ndeny = " + list(20'000, later_word) +
                            "\n[guard.options]\nset = " + list(20'000, word) + "\n";
  const ParsedConfig good = parsed_soon("[[guard]]\n" + servers + "\ndeny = " + list(20'000, later) + words);
  CHECK(error_texts(good).empty());
  REQUIRE(good.settings);
  CHECK(good.settings->guards[0].nameservers.deny.size() == 20'000);

  // Each is denied, and stands there twice.
  const ParsedConfig bad =
      parsed_soon("[[guard]]\n" + servers + "\nlast = " + list(20'000, server) + "\ndeny = " + list(20'000, server));
  CHECK(bad.errors.size() == kMaxErrors);
  CHECK(bad.errors.front().text().find("line 4") == std::string::npos);
  CHECK(bad.errors.front().expected.find("each only once: `10.0.0.0` stands in `nameservers.first`") == 0);
}

TEST_CASE("a list of 300,000 wrong values in one line: each is shown as it stands") {
  const ParsedConfig parsed = parsed_soon("[[guard]]\nupstream = " + list(300'000, wrong));
  REQUIRE(parsed.errors.size() == kMaxErrors);
  CHECK(parsed.errors.back().found == "`1`");
  CHECK(parsed.errors.back().line == 2);
}

TEST_CASE("what stands far behind others in a line, beyond ASCII ones too") {
  for (const std::size_t before : {0, 1, 126, 127, 128, 129, 1000, 1023, 1024}) {
    for (const std::string filler : {"x", "\xC3\xA4", "\xE2\x82\xAC"}) {
      std::string text;
      for (std::size_t i = 0; i < before; ++i) text += filler;
      const ParsedConfig parsed = parse_text("\n[[guard]]\nupstream = [\"/" + text + "\", 0x1f, true]\r\nlink = 7");
      REQUIRE(parsed.errors.size() == 3);
      CHECK(parsed.errors[0].found == "`0x1f`");
      CHECK(parsed.errors[1].found == "`true`");
      CHECK(parsed.errors[2].found == "`7`");
    }
  }
}

TEST_CASE("a megabyte of unknown keys") {
  std::string toml = "[[guard]]\n";
  for (int i = 0; i < 100'000; ++i) toml += "k" + std::to_string(i) + " = 1\n";
  CHECK(parsed_soon(toml).errors.size() == kMaxErrors);
}

}  // namespace
}  // namespace rg
