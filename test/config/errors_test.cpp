// What is said about each mistake: its place, what stands there, what was expected.
#include "test/config/config_support.hpp"
#include "test/support/catch.hpp"

namespace {

using Texts = std::vector<std::string>;

// A line below `[[guard]]` is line 2, a line below `[guard.X]` line 3.
Texts guard_errors(const std::string& line) { return errors_of("[[guard]]\n" + line + "\n"); }
Texts table_errors(const std::string& table, const std::string& line) {
  return errors_of("[[guard]]\n[guard." + table + "]\n" + line + "\n");
}

// Exactly one error, at this place, with all the words.
void check_one(const Texts& texts, const std::string& place, const Texts& words) {
  INFO(place);
  REQUIRE(texts.size() == 1);
  INFO(texts[0]);
  CHECK(texts[0].rfind("config.toml:" + place + ": found ", 0) == 0);
  for (const std::string& word : words) {
    INFO(word);
    CHECK(texts[0].find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("the whole text of an error") {
  CHECK(guard_errors("enforce = 'yes'") ==
        Texts{"config.toml:2:11: found `\"yes\"`, expected `true` or `false`, without quotes"});
  CHECK(guard_errors("link = 'folow'") ==
        Texts{"config.toml:2:8: found `folow`, expected `follow` or `file` (did you mean `follow`?)"});
}

TEST_CASE("unknown keys name the nearest, or where they belong") {
  check_one(errors_of("ready_withn = '3s'\n[[guard]]\n"), "1:1", {"`ready_withn`", "did you mean `ready_within`?"});
  check_one(guard_errors("pth = '/a'"), "2:1", {"`pth`", "did you mean `path`?"});
  check_one(guard_errors("[guard.nameserver]"), "2:8", {"`nameserver`", "did you mean `nameservers`?"});
  check_one(table_errors("nameservers", "frist = []"), "3:1",
            {"`frist` in [guard.nameservers]", "did you mean `first`?"});
  check_one(table_errors("options", "ready_within = '3s'"), "3:1", {"belongs above the first `[[guard]]`"});
  check_one(guard_errors("first = []"), "2:1", {"`first` belongs below `[guard.nameservers]` or `[guard.search]`"});
  check_one(guard_errors("gate = []"), "2:1", {"unknown key `gate`"});
  check_one(table_errors("search", "prefer = []"), "3:1", {"unknown key `prefer` in [guard.search]"});
}

TEST_CASE("wrong types") {
  check_one(guard_errors("path = 3"), "2:8", {"found `3`", "a string"});
  check_one(guard_errors("settle = 200"), "2:10", {"found `200`", "unit", "`200ms`"});
  check_one(guard_errors("mode = 0o644"), "2:8", {"found `0o644`", "octal string like \"0644\""});
  check_one(guard_errors("mode = 1e3"), "2:8", {"found `1e3`"});
  check_one(guard_errors("mode = 1e999"), "2:13", {"valid TOML", "1e999"});
  check_one(guard_errors("link = true"), "2:8", {"found `true`", "a string", "`follow` or `file`"});
  check_one(guard_errors("enforce = 1"), "2:11", {"found `1`", "`true` or `false`"});
  check_one(guard_errors("nameservers = 1"), "2:15", {"found `1`", "a table"});
  check_one(guard_errors("upstream = '/a'"), "2:12", {"found `\"/a\"`", "a list", "upstream = [\"/a\"]"});
  check_one(guard_errors("upstream = ['/a', ['/b']]"), "2:19", {"found a list", "a string"});
  check_one(table_errors("nameservers", "max = '3'"), "3:7", {"found `\"3\"`", "whole number", "without quotes"});
  check_one(table_errors("nameservers", "max = -1"), "3:7", {"found `-1`", "0 or more"});
  check_one(table_errors("nameservers", "first = [2024-01-01]"), "3:10", {"found `2024-01-01`", "address"});
  check_one(errors_of("guard = 'a'"), "1:9", {"found `\"a\"`", "[[guard]]"});
  check_one(errors_of("[guard]\npath = '/a'"), "1:1", {"found a table", "[[guard]]"});
  check_one(errors_of("guard = [1]"), "1:10", {"found `1`", "a table"});
}

TEST_CASE("addresses that are none") {
  const auto wrong = [](const std::string& text) { return table_errors("nameservers", "first = ['" + text + "']"); };
  check_one(wrong("127.1"), "3:10", {"found `127.1`", "four parts"});
  check_one(wrong("010.0.0.1"), "3:10", {"leading zeros", "`010`"});
  check_one(wrong("192.0.2.256"), "3:10", {"at most 255", "`256`"});
  check_one(wrong("192.0.2."), "3:10", {"empty"});
  check_one(wrong("192.0.2.1:53"), "3:10", {"without a port"});
  check_one(wrong("[::1]"), "3:10", {"brackets"});
  check_one(wrong("192.0.2.1%eth0"), "3:10", {"without a zone"});
  check_one(wrong("fe80::1%"), "3:10", {"name of an interface"});
  check_one(wrong("192.0.2.0/24"), "3:10", {"not a prefix"});
  check_one(wrong("dns.example"), "3:10", {"not a name"});
  check_one(wrong("192.0.2.1 192.0.2.2"), "3:10", {"one in each string"});
  check_one(wrong(""), "3:10", {"not empty"});
  check_one(wrong("fe80::1%a#b"), "3:10", {"found `fe80::1%a#b`"});
  check_one(wrong("loopback"), "3:10", {"found `loopback`"});
  check_one(table_errors("nameservers", "deny = ['loopbak']"), "3:9", {"did you mean `loopback`?"});
  check_one(table_errors("nameservers", "prefer = ['10.0.0.0/33']"), "3:11", {"`10.0.0.0/33`", "prefix"});
}

TEST_CASE("values of the other kinds") {
  check_one(guard_errors("path = 'etc/resolv.conf'"), "2:8", {"`etc/resolv.conf`", "absolute"});
  check_one(guard_errors("path = '/etc/'"), "2:8", {"`/etc/`", "not of a directory"});
  check_one(guard_errors("path = '/etc/netns/*/'"), "2:8", {"`/etc/netns/*/`", "not of a directory"});
  check_one(guard_errors("path = \"/etc/a\\nb\""), "2:8", {"`/etc/a\\x0ab`", "control characters"});
  check_one(guard_errors("path = \"/etc/a\\u0000b\""), "2:8", {"control characters"});
  check_one(guard_errors("upstream = ['a']"), "2:13", {"absolute"});
  check_one(guard_errors("write_within = ['a']"), "2:17", {"absolute"});
  check_one(guard_errors("link_to = ''"), "2:11", {"not empty"});
  check_one(guard_errors("mode = '999'"), "2:8", {"`999`", "octal"});
  check_one(guard_errors("mode = '01777'"), "2:8", {"at most \"0777\""});
  check_one(guard_errors("settle = '200'"), "2:10", {"`200`", "did you mean `200ms` or `200s`?"});
  check_one(guard_errors("settle = '-1s'"), "2:10", {"whole number"});
  check_one(guard_errors("settle = '1.5s'"), "2:10", {"whole number"});
  check_one(guard_errors("settle = '99999999999999999999h'"), "2:10", {"at most a year"});
  check_one(guard_errors("settle = '8761h'"), "2:10", {"at most a year"});
  check_one(guard_errors("deadline = '0ms'"), "2:12", {"longer than nothing"});
  check_one(errors_of("ready_within = 'nevr'\n[[guard]]"), "1:16", {"did you mean `never`?"});
  check_one(guard_errors("selinux_label = 'net_conf_t'"), "2:17", {"full context"});
  const std::string long_label(64, 'a');
  check_one(table_errors("search", "first = ['a..b']"), "3:10", {"1 to 63 bytes"});
  check_one(table_errors("search", "first = ['" + long_label + "']"), "3:10", {"1 to 63 bytes"});
  check_one(table_errors("search", "first = ['a b']"), "3:10", {"one domain in each string"});
  check_one(table_errors("search", "first = ['a#b']"), "3:10", {"without blanks, `#` or `;`"});
  check_one(table_errors("search", "first = ['..']"), "3:10", {"1 to 63 bytes"});
  check_one(table_errors("options", "set = ['a b']"), "3:8", {"one option in each string"});
  check_one(table_errors("options", "set = ['a;b']"), "3:8", {"one option in each string"});
  check_one(table_errors("options", "deny = ['timeout:2']"), "3:9", {"`timeout:2`", "without its value: `timeout`"});
}

TEST_CASE("requirements") {
  const std::string good = "nameserver = '::1', answers = 'a'";
  const auto wrong = [](const std::string& members) { return guard_errors("requires = [{" + members + "}]"); };
  const std::string example = "{ nameserver = \"192.0.2.1\", answers = \"api.example\" }";
  CHECK(wrong("answers = 'a'") ==
        Texts{"config.toml:2:13: found a requirement without `nameserver`, expected `nameserver` and `answers`: `" +
              example + "`"});
  check_one(wrong("nameserver = '::1'"), "2:13", {"without `answers`"});
  CHECK(wrong("").size() == 2);
  check_one(wrong(good + ", timout = '1s'"), "2:49",
            {"`timout` in [[guard.requires]]", "`nameserver`, `answers` or `timeout`", "did you mean `timeout`?"});
  check_one(wrong(good + ", path = '/a'"), "2:49", {"`path` belongs below `[[guard]]`"});
  check_one(guard_errors("answers = 'a'"), "2:1", {"`answers` belongs below `[[guard.requires]]`"});
  check_one(table_errors("nameservers", "requires = []"), "3:1", {"`requires` belongs below `[[guard]]`"});
  check_one(guard_errors("requirs = []"), "2:1", {"did you mean `requires`?"});
  check_one(guard_errors("requires = {" + good + "}"), "2:12", {"found a table", "`requires = [" + example + "]`"});
  check_one(guard_errors("requires = '::1'"), "2:12", {"found `\"::1\"`", "a list of tables"});
  check_one(guard_errors("requires = ['::1']"), "2:13", {"found `\"::1\"`", "a table: `" + example + "`"});
  check_one(guard_errors("requires = [[]]"), "2:13", {"found a list", "a table"});
  check_one(wrong("nameserver = 1, answers = 'a'"), "2:27", {"found `1`", "a string"});
  check_one(wrong("nameserver = '127.1', answers = 'a'"), "2:27", {"found `127.1`", "four parts"});
  check_one(wrong("nameserver = 'dns.example', answers = 'a'"), "2:27", {"not a name"});
  check_one(wrong("nameserver = '::1', answers = 3"), "2:44", {"found `3`", "a string"});
  check_one(wrong("nameserver = '::1', answers = 'a..b'"), "2:44", {"found `a..b`", "1 to 63 bytes"});
  check_one(wrong("nameserver = '::1', answers = '" + std::string(64, 'a') + "'"), "2:44", {"1 to 63 bytes"});
  check_one(wrong("nameserver = '::1', answers = '${NAME}'"), "2:44", {"`NAME` to be set"});
}

TEST_CASE("the bounds of requirements") {
  const auto timeout = [](const std::string& text) {
    return guard_errors("requires = [{timeout = " + text + ", nameserver = '::1', answers = '.'}]");
  };
  CHECK(timeout("'1ms'") == Texts{});
  CHECK(timeout("'60s'") == Texts{});
  check_one(timeout("'0ms'"), "2:24", {"found `0ms`", "from `1ms` to `1m`"});
  check_one(timeout("'60001ms'"), "2:24", {"found `60001ms`", "from `1ms` to `1m`"});
  check_one(timeout("'5'"), "2:24", {"did you mean `5ms` or `5s`?"});
  check_one(timeout("500"), "2:24", {"found `500`", "a string", "`500ms`"});
  std::string list;
  for (int i = 0; i < 16; ++i) list += "{nameserver = '::1', answers = 'a.'},\n";
  CHECK(guard_errors("requires = [\n" + list + "]") == Texts{});
  check_one(guard_errors("requires = [\n" + list + "1, 2]"), "19:1", {"requirement number 17", "at most 16"});
}

TEST_CASE("a domain of 253 bytes is legal, one of 254 is not") {
  std::string domain;
  while (domain.size() < 252) domain += "a.";
  CHECK(table_errors("search", "first = ['" + domain + "a']") == Texts{});
  CHECK(table_errors("search", "first = ['" + domain + "a.']") == Texts{});
  check_one(table_errors("search", "first = ['" + domain + "ab']"), "3:10", {"at most 253 bytes"});
}

TEST_CASE("the environment") {
  check_one(guard_errors("path = '${NOT_SET}'"), "2:8", {"`NOT_SET` to be set"});
  for (const char* text : {"${", "${}", "${A", "${1A}", "${A-B}", "a${A }"}) {
    check_one(guard_errors("path = '" + std::string(text) + "'"), "2:8", {"`${NAME}`"});
  }
  const auto parsed = parse_text("[[guard]]\n[guard.nameservers]\nfirst = ['${IP}']", {{"IP", "host"}});
  check_one(error_texts(parsed), "3:10", {"found `host` (from `${IP}`)"});
  check_one(error_texts(parse_text("[[guard]]\npath = '${P}'", {{"P", "/etc/\xff"}})), "2:8", {"UTF-8"});
}

TEST_CASE("what is no TOML") {
  check_one(errors_of("[[guard]]\npath 3\n"), "2:6", {"found `3`", "valid TOML", "'='"});
  check_one(errors_of("[[guard]]\npath = '/a\n"), "2:11", {"found the end of the line"});
  check_one(errors_of("[[guard]]\npath = '/a'\npath = '/b'\n"), "3:8", {"redefine"});
  check_one(errors_of(std::string("[[guard]]\0", 10)), "1:10", {"valid TOML"});
  check_one(errors_of("[=\n"), "1:2", {"found `=`", "valid TOML"});
  check_one(errors_of("[[=\n"), "1:3", {"found `=`", "valid TOML"});
  check_one(errors_of("# \xc3\xa4 'x\n[[guard]]\npath = \"/\xc3\xa4\\\"\xc3\xa4\"\ngr\xc3\xb6\xc3\x9f"
                      "e = 1\n"),
            "4:3",
            {"`\xc3\xb6\xc3\x9f"
             "e = 1`",
             "valid TOML"});
  CHECK(errors_of("\xEF\xBB\xBF[[guard]]\npath = '''\n/\xc3\xa4''' # \xc3\xa4\n").empty());
  check_one(errors_of("[[guard]]\npath = '/\xc3\xa4'\xef\xbb\xbd\n"), "2:12", {"valid TOML"});
  // Letters beyond ASCII where toml++ 3.3 looks for a blank: undefined behaviour, which a sanitizer sees.
  check_one(errors_of("[[guard]]\npath = 1\"/\xd0\xab[\n"), "2:9", {"valid TOML"});
  check_one(errors_of("[[guard]]\npath = 1\xd0\xab\n"), "2:9", {"valid TOML"});
  check_one(errors_of("[[guard]]\npath = 1'\"\xd0\xab\n"), "2:9", {"valid TOML"});
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "a.";
  check_one(errors_of(deep + "a = 1"), "1:2002", {"1000 dots"});
}

TEST_CASE("columns count characters, not bytes") {
  check_one(errors_of("guard = [{path = '/\xc3\xa4\xc3\xb6', mode = '9'}]"), "1:32", {"`9`"});
}

TEST_CASE("all mistakes of all files are said, in their order") {
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  const auto parsed =
      rg::parse_config({{"a", "[[guard]]\nmode = '9'\nlink = 'x'\n[guard.nameservers]\nfirst = ['1', '2']\nmax = true"},
                        {"b", "x"},
                        {"c", "y = 1"}},
                       none);
  std::vector<std::string> places;
  for (const auto& error : parsed.errors) {
    places.push_back(error.file + ":" + std::to_string(error.line) + ":" + std::to_string(error.column));
  }
  CHECK(places == Texts{"a:2:8", "a:3:8", "a:5:10", "a:5:15", "a:6:7", "b:1:2", "c:1:1"});
  CHECK_FALSE(parsed.settings);
}

TEST_CASE("no guard at all is an error") {
  CHECK(errors_of("") == Texts{"config.toml: found no guard at all, expected at least one `[[guard]]` table"});
  CHECK(errors_of("guard = []").size() == 1);
  CHECK(rg::parse_config({}, {}).errors.size() == 1);
}
