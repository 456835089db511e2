// What no single key shows.
#include "test/config/config_support.hpp"
#include "test/support/catch.hpp"

namespace {

using Texts = std::vector<std::string>;

Texts nameserver_errors(const std::string& lines) { return errors_of("[[guard]]\n[guard.nameservers]\n" + lines); }
Texts search_errors(const std::string& lines) { return errors_of("[[guard]]\n[guard.search]\n" + lines); }
Texts options_errors(const std::string& lines) { return errors_of("[[guard]]\n[guard.options]\n" + lines); }

void check_one(const Texts& texts, const std::string& begin) {
  REQUIRE(texts.size() == 1);
  INFO(texts[0]);
  CHECK(texts[0].rfind("config.toml:" + begin, 0) == 0);
}

}  // namespace

TEST_CASE("two guards on one path in a file") {
  check_one(errors_of("[[guard]]\npath='/a'\n[[guard]]\npath='/b'\n[[guard]]\npath='/./a//'\n"), "6:6: found `/./a//`");
  check_one(errors_of("[[guard]]\npath='/a'\n[[guard]]\npath='//./a'\n"),
            "4:1: found a second guard of `//./a`, expected one guard a path in a file, the other is in line 2");
  check_one(errors_of("[[guard]]\n[[guard]]\nmode = '0600'"), "2:1: found a second guard of `/etc/resolv.conf`");
  check_one(errors_of("[[guard]]\npath='x'\n[[guard]]"), "2:6: found `x`");
}

TEST_CASE("`only` stands alone with `max`") {
  CHECK(nameserver_errors("only = ['1.1.1.1']\nmax = 1") == Texts{});
  for (const char* other :
       {"first = []", "last = []", "deny = []", "prefer = []", "when_empty = 'last-good'", "fallback = []"}) {
    check_one(nameserver_errors("only = []\n" + std::string(other)), "4:1: found `nameservers.");
  }
  for (const char* other :
       {"first = []", "last = []", "deny = []", "when_empty = 'leave'", "fallback = []", "merge_lines = false"}) {
    check_one(search_errors("only = []\n" + std::string(other)), "4:1: found `search.");
  }
  for (const char* other : {"set = []", "deny = []", "when_empty = 'leave'", "fallback = []"}) {
    check_one(options_errors("only = []\n" + std::string(other)), "4:1: found `options.");
  }
}

TEST_CASE("more of ours than max") {
  CHECK(nameserver_errors("first = ['1.1.1.1', '1.1.1.2']\nlast = ['1.1.1.3']") == Texts{});
  CHECK(nameserver_errors("first = ['1.1.1.1', '1.1.1.2']\nlast = ['1.1.1.3', '1.1.1.4']\nmax = 0") == Texts{});
  check_one(nameserver_errors("first = ['1.1.1.1', '1.1.1.2']\nlast = ['1.1.1.3', '1.1.1.4']"),
            "4:20: found `1.1.1.4` in `nameservers.last`, number 4 of ours, expected at most 3, as `nameservers.max` "
            "says by default");
  check_one(nameserver_errors("only = ['1.1.1.1', '1.1.1.2']\nmax = 1"), "3:20: found `1.1.1.2`");
  check_one(search_errors("first = ['a', 'b']\nmax = 1"), "3:15: found `b`");
  check_one(options_errors("set = ['a', 'b']\nmax = 1"), "3:13: found `b`");
}

TEST_CASE("what is required and denied") {
  check_one(nameserver_errors("first = ['127.0.0.1']\ndeny = ['10.0.0.0/8', 'loopback']"),
            "4:23: found `loopback` in `nameservers.deny`, expected nothing that means `127.0.0.1`, which "
            "`nameservers.first`");
  check_one(nameserver_errors("last = ['fe80::1%eth0']\ndeny = ['fe80::/10']"), "4:9: found `fe80::/10`");
  check_one(nameserver_errors("last = ['fe80::1']\ndeny = ['link-local']"), "4:9: found `link-local`");
  check_one(nameserver_errors("last = ['0.0.0.0']\ndeny = ['unspecified']"), "4:9: found `unspecified`");
  CHECK(nameserver_errors("first = ['10.0.0.1']\ndeny = ['loopback', 'unspecified', 'link-local']") == Texts{});
  check_one(search_errors("first = ['a.example']\ndeny = ['A.Example.']"), "4:9: found `A.Example.`");
  check_one(options_errors("set = ['timeout:2']\ndeny = ['timeout']"), "4:9: found `timeout`");
}

TEST_CASE("each of ours only once") {
  check_one(nameserver_errors("first = ['::1', '0:0::1']"), "3:17: found `::1` in `nameservers.first`");
  check_one(nameserver_errors("first = ['1.1.1.1']\nlast = ['1.1.1.1']"), "4:9: found `1.1.1.1` in `nameservers.last`");
  check_one(nameserver_errors("only = ['1.1.1.1', '1.1.1.1']"), "3:20: found `1.1.1.1` in `nameservers.only`");
  CHECK(nameserver_errors("first = ['fe80::1%a', 'fe80::1%b']") == Texts{});
  check_one(search_errors("first = ['a']\nlast = ['A.']"), "4:9: found `A.` in `search.last`");
  check_one(options_errors("set = ['timeout:1', 'timeout:2']"), "3:21: found `timeout:2` in `options.set`");
}

TEST_CASE("a link is not made in place") {
  check_one(errors_of("[[guard]]\nwrite = 'in-place'\nlink_to = '../a'\n"), "3:1: found `link_to` beside `write");
  CHECK(errors_of("[[guard]]\nlink = 'file'\nlink_to = '../a'\n") == Texts{});
}

TEST_CASE("a policy that no file gave is checked too") {
  rg::Policy policy;
  CHECK(rg::check_policy(policy, "command line").empty());
  policy.nameservers.only = {*rg::Nameserver::parse("127.0.0.1")};
  CHECK(rg::check_policy(policy, "command line").empty());
  policy.nameservers.first = {*rg::Nameserver::parse("192.0.2.1")};
  policy.link_to = "a";
  policy.write = rg::WriteMode::in_place;
  const auto errors = rg::check_policy(policy, "command line");
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].text().rfind("command line: found `link_to`", 0) == 0);
  CHECK(errors[1].text() ==
        "command line: found `nameservers.first`, expected no verb but `max` beside `nameservers.only`");
}
