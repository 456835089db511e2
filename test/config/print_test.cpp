#include <rapidcheck.h>

#include "test/config/config_support.hpp"
#include "test/config/settings_gen.hpp"
#include "test/support/catch.hpp"

TEST_CASE("the defaults as they are printed, in the order of the documentation") {
  CHECK(rg::print_config(rg::Settings{std::chrono::seconds{30}, rg::ReloadMode::automatic, {rg::Policy{}}}) ==
        R"(ready_within = "30s"
reload = "auto"

[[guard]]
path = "/etc/resolv.conf"
enforce = true
optional = false
link = "follow"
write = "auto"
write_within = ["/etc", "/run", "/var/run"]
mode = "0644"
selinux_label = "auto"
comment = true
upstream = []
upstream_when = "always"
settle = "200ms"
deadline = "2s"
on_exit = "leave"
requires = []
[guard.nameservers]
first = []
last = []
deny = []
prefer = []
max = 3
when_empty = "last-good"
fallback = []
[guard.search]
first = []
last = []
deny = []
max = 0
when_empty = "leave"
fallback = []
merge_lines = false
[guard.options]
set = []
deny = []
max = 0
when_empty = "leave"
fallback = []
)");
}

TEST_CASE("`only` is printed alone with `max`, what is unset not at all") {
  rg::Settings settings{std::nullopt, rg::ReloadMode::sighup, {rg::Policy{}}};
  settings.guards[0].nameservers.only = {*rg::Nameserver::parse("127.0.0.1")};
  settings.guards[0].search.only.emplace();
  settings.guards[0].options.only.emplace();
  settings.guards[0].link_to = "../a";
  const std::string text = rg::print_config(settings);
  CHECK(text.find("ready_within = \"never\"\nreload = \"sighup\"\n") == 0);
  CHECK(text.find("link_to = \"../a\"\n") != text.npos);
  CHECK(text.find("[guard.nameservers]\nonly = [\"127.0.0.1\"]\nmax = 3\n[guard.search]\nonly = []\nmax = 0\n"
                  "[guard.options]\nonly = []\nmax = 0\n") != text.npos);
}

TEST_CASE("requirements are inline tables") {
  rg::Policy policy;
  policy.requirements = {{*rg::Nameserver::parse("fe80::1%a\""), "api.example"},
                         {*rg::Nameserver::parse("192.0.2.1"), ".", std::chrono::minutes{1}}};
  const std::string text = rg::print_config(rg::Settings{std::nullopt, rg::ReloadMode::automatic, {policy}});
  CHECK(text.find("\nrequires = [{ nameserver = \"fe80::1%a\\\"\", answers = \"api.example\", timeout = \"500ms\" }, "
                  "{ nameserver = \"192.0.2.1\", answers = \".\", timeout = \"1m\" }]\n") != text.npos);
}

TEST_CASE("strings are escaped") {
  rg::Policy policy;
  policy.path = "/a\"b\\c\nd\x7f";
  const std::string text = rg::print_config(rg::Settings{std::nullopt, rg::ReloadMode::automatic, {policy}});
  CHECK(text.find("path = \"/a\\\"b\\\\c\\u000Ad\\u007F\"\n") != text.npos);
}

TEST_CASE("what is printed parses to the same settings") {
  CHECK(rc::check("parse_config(print_config(s)) == s", [] {
    const rg::Settings settings = rg_gen::settings();
    const auto parsed = parse_text(rg::print_config(settings));
    RC_ASSERT(error_texts(parsed) == std::vector<std::string>{});
    RC_ASSERT(*parsed.settings == settings);
  }));
}

TEST_CASE("any text is either settings or errors with a place") {
  CHECK(rc::check("no text crashes", [] {
    std::string text = rg::print_config(rg_gen::settings());
    const int changes = *rc::gen::inRange(1, 6);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const int kind = *rc::gen::inRange(0, 3);
      if (kind == 0) text[at] = *rc::gen::arbitrary<char>();
      if (kind == 1) text.erase(at, *rc::gen::inRange<std::size_t>(1, 30));
      if (kind == 2) text.insert(at, 1, *rc::gen::element('"', '[', ']', '{', '$', '\n', '=', '\0', '.', '\\'));
      if (text.empty()) text = "x";
    }
    const auto parsed = parse_text(text);
    RC_ASSERT(parsed.settings.has_value() == parsed.errors.empty());
    for (const auto& error : parsed.errors) {
      RC_ASSERT(error.line > 0 || error.found == "no guard at all");
      RC_ASSERT(!error.found.empty() && !error.expected.empty());
      RC_ASSERT(error.text().find('\n') == std::string::npos);
    }
  }));
}
