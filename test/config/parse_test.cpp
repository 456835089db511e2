#include "test/config/config_support.hpp"
#include "test/support/catch.hpp"

using namespace std::chrono_literals;

namespace {

rg::Nameserver address(const char* text) { return *rg::Nameserver::parse(text); }
rg::Prefix prefix(const char* text) { return *rg::Prefix::parse(text); }

}  // namespace

TEST_CASE("an empty guard is the default policy") {
  const auto parsed = parse_text("[[guard]]\n");
  REQUIRE(error_texts(parsed) == std::vector<std::string>{});
  CHECK(parsed.settings->guards == std::vector<rg::Policy>{rg::Policy{}});
  CHECK(parsed.settings->ready_within == std::optional<std::chrono::milliseconds>(30s));
  CHECK(parsed.settings->reload == rg::ReloadMode::automatic);
}

TEST_CASE("every key of a guard is read") {
  const auto parsed = parse_text(R"(
ready_within = "never"
reload = "sighup"
[[guard]]
path = "/etc/a.conf"
enforce = false
optional = true
link = "file"
link_to = "../run/a.conf"
write = "auto"
write_within = ["/srv"]
mode = "0640"
selinux_label = "system_u:object_r:net_conf_t:s0"
comment = false
upstream = ["/run/*/resolv.conf"]
upstream_when = "none-left"
settle = "50ms"
deadline = "1m"
on_exit = "restore"
requires = [{ nameserver = "127.0.0.1", answers = "api.example", timeout = "1s" }, { answers = ".", nameserver = "::1" }]
)");
  REQUIRE(error_texts(parsed) == std::vector<std::string>{});
  rg::Policy policy;
  policy.path = "/etc/a.conf";
  policy.enforce = false;
  policy.optional = true;
  policy.link = rg::LinkMode::file;
  policy.link_to = "../run/a.conf";
  policy.write_within = {"/srv"};
  policy.mode = 0640;
  policy.selinux_label = "system_u:object_r:net_conf_t:s0";
  policy.comment = false;
  policy.upstream = {"/run/*/resolv.conf"};
  policy.upstream_when = rg::UpstreamWhen::none_left;
  policy.settle = 50ms;
  policy.deadline = 60s;
  policy.on_exit = rg::OnExit::restore;
  policy.requirements = {{address("127.0.0.1"), "api.example", 1s}, {address("::1"), ".", 500ms}};
  CHECK(parsed.settings->guards == std::vector<rg::Policy>{policy});
  CHECK_FALSE(parsed.settings->ready_within);
  CHECK(parsed.settings->reload == rg::ReloadMode::sighup);
}

TEST_CASE("every verb of the three lists is read") {
  const auto good = parse_text(R"(
[[guard]]
write = "in-place"
[guard.nameservers]
first = ["127.0.0.1"]
last = ["fe80::1%eth0"]
deny = ["unspecified", "10.0.0.0/8"]
prefer = ["192.0.2.0/24", "2001:db8::1"]
max = 5
when_empty = "leave"
fallback = ["192.0.2.53"]
[guard.search]
first = ["a.example"]
last = ["b.example."]
deny = ["."]
max = 6
when_empty = "fallback"
fallback = ["c.example"]
merge_lines = true
[guard.options]
set = ["edns0", "timeout:2"]
deny = ["rotate"]
max = 7
when_empty = "last-good"
fallback = ["ndots:2"]
)");
  REQUIRE(error_texts(good) == std::vector<std::string>{});
  const rg::Policy& policy = good.settings->guards.at(0);
  CHECK(policy.write == rg::WriteMode::in_place);
  CHECK(policy.nameservers == rg::NameserverPolicy{{address("127.0.0.1")},
                                                   {address("fe80::1%eth0")},
                                                   std::nullopt,
                                                   {rg::DenyWord::unspecified, prefix("10.0.0.0/8")},
                                                   {prefix("192.0.2.0/24"), prefix("2001:db8::1")},
                                                   5,
                                                   rg::WhenEmpty::leave,
                                                   {address("192.0.2.53")}});
  CHECK(policy.search ==
        rg::SearchPolicy{
            {"a.example"}, {"b.example."}, std::nullopt, {"."}, 6, rg::WhenEmpty::fallback, {"c.example"}, true});
  CHECK(policy.options ==
        rg::OptionsPolicy{{"edns0", "timeout:2"}, std::nullopt, {"rotate"}, 7, rg::WhenEmpty::last_good, {"ndots:2"}});
}

TEST_CASE("a requirement may be a table of its own") {
  const auto parsed = parse_text("[[guard]]\n[[guard.requires]]\nnameserver = '${IP}'\nanswers = 'a.example.'\n",
                                 {{"IP", "fe80::1%eth0"}});
  REQUIRE(error_texts(parsed) == std::vector<std::string>{});
  CHECK(parsed.settings->guards[0].requirements ==
        std::vector<rg::Requirement>{{address("fe80::1%eth0"), "a.example.", 500ms}});
}

TEST_CASE("an empty `only` is a value") {
  const auto parsed =
      parse_text("[[guard]]\n[guard.nameservers]\nonly = []\nmax = 0\n[guard.options]\nonly = ['edns0']\n");
  REQUIRE(error_texts(parsed) == std::vector<std::string>{});
  CHECK(parsed.settings->guards[0].nameservers.only == std::optional<std::vector<rg::Nameserver>>(std::in_place));
  CHECK_FALSE(parsed.settings->guards[0].search.only);
  CHECK(parsed.settings->guards[0].options.only == std::optional<std::vector<std::string>>({"edns0"}));
}

TEST_CASE("the environment is filled in, also inside a string, and not again") {
  const std::map<std::string, std::string> environment{{"NODE_IP", "192.0.2.7"}, {"_X1", "b"}, {"AGAIN", "${_X1}"}};
  const auto parsed =
      parse_text("[[guard]]\npath = '/etc/a${_X1}c${_X1}'\n[guard.nameservers]\nfirst = ['${NODE_IP}']", environment);
  REQUIRE(error_texts(parsed) == std::vector<std::string>{});
  CHECK(parsed.settings->guards[0].path == "/etc/abcb");
  CHECK(parsed.settings->guards[0].nameservers.first == std::vector{address("192.0.2.7")});
  CHECK(parse_text("[[guard]]\npath = '/etc/$b$'", environment).settings->guards[0].path == "/etc/$b$");
  CHECK(error_texts(parse_text("[[guard]]\npath = '/etc/${AGAIN}'", environment)).size() == 1);
}

TEST_CASE("a guard of a later file replaces the earlier one in its place") {
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  const auto parsed =
      rg::parse_config({{"config.toml", "ready_within = '1s'\n[[guard]]\npath='/a'\n[[guard]]\npath='/b'\n"},
                        {"config.d/1.toml", "[[guard]]\npath='/c'\n[[guard]]\npath='//./a'\nmode='0600'\n"},
                        {"config.d/2.toml", "ready_within = '2h'\n"}},
                       none);
  REQUIRE(error_texts(parsed) == std::vector<std::string>{});
  const auto& guards = parsed.settings->guards;
  REQUIRE(guards.size() == 3);
  CHECK(guards[0].path == "//./a");
  CHECK(guards[0].mode == 0600);
  CHECK(guards[1].path == "/b");
  CHECK(guards[2].path == "/c");
  CHECK(parsed.settings->ready_within == std::optional<std::chrono::milliseconds>(2h));
}
