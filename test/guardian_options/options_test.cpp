#include "guardian/options.hpp"

#include <unistd.h>

#include <vector>

#include "test/support/catch.hpp"

using namespace std::chrono_literals;

namespace {

std::variant<rg::Options, rg::Stop> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "resolv-guardian");
  return rg::parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

rg::Options good(const std::vector<const char*>& arguments) {
  auto parsed = parse(arguments);
  const auto* stop = std::get_if<rg::Stop>(&parsed);
  INFO((stop != nullptr ? stop->err + stop->out : std::string()));
  REQUIRE(stop == nullptr);
  return std::get<rg::Options>(parsed);
}

// The usage error: 2, nothing on stdout.
std::string bad(const std::vector<const char*>& arguments) {
  const auto parsed = parse(arguments);
  REQUIRE(std::holds_alternative<rg::Stop>(parsed));
  const auto& stop = std::get<rg::Stop>(parsed);
  CHECK(stop.status == 2);
  CHECK(stop.out.empty());
  return stop.err;
}

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

rg::Nameserver address(const char* text) { return *rg::Nameserver::parse(text); }

const std::vector<std::pair<const char*, rg::Command>> kCommands = {
    {"run", rg::Command::run},       {"apply", rg::Command::apply},     {"check", rg::Command::check},
    {"pause", rg::Command::pause},   {"resume", rg::Command::resume},   {"release", rg::Command::release},
    {"status", rg::Command::status}, {"history", rg::Command::history}, {"config", rg::Command::config}};

}  // namespace

TEST_CASE("every command, with its defaults") {
  for (const auto& [name, command] : kCommands) {
    const rg::Options options = good({name});
    CHECK(options.command == command);
    CHECK(options.config == "/etc/resolv-guardian/config.toml");
    CHECK_FALSE(options.config_given);
    CHECK(options.root == "/");
    CHECK(options.state_dir.empty());
    CHECK(options.runtime_dir.empty());
    CHECK(options.log_format == rg::LogFormat::text);
    CHECK(options.log_level == rg::LogLevel::info);
    CHECK_FALSE(options.guard);
    CHECK_FALSE(options.path);
    CHECK_FALSE(options.pause);
    CHECK_FALSE(options.wait_holds);
    CHECK(options.count == 20);
    CHECK_FALSE(options.json);
    CHECK_FALSE(options.diff);
  }
}

TEST_CASE("global flags stand before and after the command") {
  const std::vector<const char*> flags{"--config",      "/c", "--root",       "/r",   "--state-dir=/s",
                                       "--runtime-dir", "u",  "--log-format", "json", "--log-level",
                                       "debug"};
  std::vector<const char*> before = flags, after{"run"};
  before.push_back("run");
  after.insert(after.end(), flags.begin(), flags.end());
  for (const auto& arguments : {before, after}) {
    const rg::Options options = good(arguments);
    CHECK(options.command == rg::Command::run);
    CHECK(options.config == "/c");
    CHECK(options.config_given);
    CHECK(options.root == "/r");
    CHECK(options.state_dir == "/s");
    CHECK(options.runtime_dir == "u");
    CHECK(options.log_format == rg::LogFormat::json);
    CHECK(options.log_level == rg::LogLevel::debug);
  }
}

TEST_CASE("the flags of each command") {
  const rg::Options pause = good({"pause", "--for", "10m", "/etc/resolv.conf"});
  CHECK(pause.pause == std::optional<std::chrono::milliseconds>(10min));
  CHECK(pause.path == std::optional<std::string>("/etc/resolv.conf"));
  CHECK(good({"pause", "/a", "--for", "1s"}).path == std::optional<std::string>("/a"));
  CHECK(good({"resume", "/a"}).path == std::optional<std::string>("/a"));
  CHECK(good({"release", "/a"}).path == std::optional<std::string>("/a"));
  CHECK(good({"status", "--json"}).json);
  CHECK_FALSE(good({"status"}).alive);
  CHECK(good({"status", "--alive"}).alive);
  CHECK(good({"status", "--wait-holds", "0"}).wait_holds == std::optional<std::chrono::milliseconds>(0ms));
  CHECK(good({"status", "--wait-holds", "1.25"}).wait_holds == std::optional<std::chrono::milliseconds>(1250ms));
  CHECK(good({"status", "--wait-holds", "0.0001"}).wait_holds == std::optional<std::chrono::milliseconds>(1ms));
  const rg::Options history = good({"history", "--json", "-n", "3", "--diff"});
  CHECK(history.json);
  CHECK(history.count == 3);
  CHECK(history.diff);
  CHECK(good({"history", "-n", "0"}).count == 0);
}

TEST_CASE("one guard from the command line") {
  const rg::Options options = good({"--path",     "/etc/a",     "--first",        "127.0.0.1",  "--first", "::1",
                                    "--last",     "192.0.2.1",  "--deny",         "10.0.0.0/8", "--deny",  "link-local",
                                    "--fallback", "192.0.2.53", "--search-first", "a.example",  "--set",   "edns0",
                                    "--set",      "timeout:2",  "--max",          "4",          "--link",  "file",
                                    "--observe",  "run"});
  rg::Policy policy;
  policy.path = "/etc/a";
  policy.nameservers.first = {address("127.0.0.1"), address("::1")};
  policy.nameservers.last = {address("192.0.2.1")};
  policy.nameservers.deny = {*rg::Prefix::parse("10.0.0.0/8"), rg::DenyWord::link_local};
  policy.nameservers.fallback = {address("192.0.2.53")};
  policy.nameservers.max = 4;
  policy.search.first = {"a.example"};
  policy.options.set = {"edns0", "timeout:2"};
  policy.link = rg::LinkMode::file;
  policy.enforce = false;
  CHECK(options.guard == std::optional(policy));
  CHECK(options.command == rg::Command::run);
  CHECK(good({"--observe", "run"}).guard->path == "/etc/resolv.conf");
  CHECK(good({"--only", "127.0.0.1", "run"}).guard->nameservers.only ==
        std::optional(std::vector{address("127.0.0.1")}));
}

TEST_CASE("what is legal and hardly meant on the command line is told by its flag") {
  using Texts = std::vector<std::string>;
  CHECK(
      good({"--set", "rotat", "--first", "fe80::1", "run"}).warnings ==
      Texts{"resolv-guardian: command line: found `fe80::1` in `--first`, expected a zone behind a link-local address, "
            "like `fe80::1%eth0`: hardly a resolver reaches it without one",
            "resolv-guardian: command line: found the unknown option `rotat` in `--set`, expected one that resolvers "
            "read (did you mean `rotate`?)"});
  CHECK(good({"--set", "rotate", "--first", "fe80::1%eth0", "run"}).warnings == Texts{});
}

TEST_CASE("source-address-of on the command line") {
  const rg::Policy policy = *good({"--first", "source-address-of:192.0.2.5", "--first", "127.0.0.1", "--fallback",
                                   "source-address-of:fe80::1%eth0", "--deny", "source-address-of:2001:db8::5", "run"})
                                 .guard;
  REQUIRE(policy.nameservers.written);
  CHECK(policy.nameservers.written->first ==
        std::vector<rg::Address>{rg::SourceAddressOf{address("192.0.2.5")}, address("127.0.0.1")});
  CHECK(policy.nameservers.written->fallback == std::vector<rg::Address>{rg::SourceAddressOf{address("fe80::1%eth0")}});
  CHECK(policy.nameservers.written->deny == std::vector<rg::Deny>{rg::SourceAddressOf{address("2001:db8::5")}});
  CHECK(good({"--only", "source-address-of:192.0.2.5", "run"}).guard->nameservers.written->only ==
        std::vector<rg::Address>{rg::SourceAddressOf{address("192.0.2.5")}});
  CHECK(has(bad({"--last", "source-address-of:node.example", "run"}),
            "--last: found `source-address-of:node.example`, expected behind `source-address-of:` an IPv4"));
  CHECK(has(bad({"--first", "source-address-of:192.0.2.5", "--only", "127.0.0.1", "run"}),
            "found `--first`, expected no verb but `max` beside `--only`"));
}

TEST_CASE("a guard and an existing configuration exclude each other") {
  const std::string text = bad({"--config", "/dev/null", "--first", "127.0.0.1", "run"});
  CHECK(has(text, "both --config `/dev/null` and a guard on the command line"));
  CHECK(good({"--config", "/nowhere/config.toml", "--first", "127.0.0.1", "run"}).guard);
}

TEST_CASE("wrong values name the flag, what stands there and what was expected; all of them") {
  CHECK(bad({"--first", "127.1", "--max", "-1", "run"}) ==
        "resolv-guardian: --first: found `127.1`, expected an IPv4 address in four parts, here are 2\n"
        "resolv-guardian: --max: found `-1`, expected a whole number, 0 or more\n"
        "Try `resolv-guardian --help`.\n");
  CHECK(has(bad({"--first", "[::1]", "run"}),
            "--first: found `[::1]`, expected an IPv4 or IPv6 address without brackets"));
  CHECK(has(bad({"--first", "::1,::2", "run"}), "--first: found `::1,::2`, expected an IPv4 or IPv6 address alone"));
  CHECK(has(bad({"--first", "", "run"}), "--first: found ``, expected"));
  CHECK(has(bad({"--last", "x", "run"}), "--last: found `x`, expected"));
  CHECK(has(bad({"--only", "x", "run"}), "--only: found `x`, expected"));
  CHECK(has(bad({"--deny", "loopbak", "run"}), "--deny: found `loopbak`, expected"));
  CHECK(has(bad({"--fallback", "x", "run"}), "--fallback: found `x`, expected"));
  CHECK(has(bad({"--search-first", "a b", "run"}), "--search-first: found `a b`, expected"));
  CHECK(has(bad({"--set", "a b", "run"}), "--set: found `a b`, expected"));
  CHECK(has(bad({"--path", "a", "run"}), "--path: found `a`, expected an absolute path"));
  CHECK(has(bad({"--link", "fil", "run"}), "did you mean `file`?"));
  CHECK(has(bad({"--log-level", "inf", "run"}), "did you mean `info`?"));
  CHECK(has(bad({"--log-format", "xml", "run"}), "`text` or `json`"));
  CHECK(has(bad({"--root", "", "run"}), "--root: found ``, expected a path"));
  CHECK(has(bad({"--path", "/a", "--path", "/b", "run"}), "--path: found `/a` and `/b`, expected it only once"));
  CHECK(has(bad({"pause", "--for", "10"}), "--for: found `10`, expected a whole number with its unit"));
  CHECK(has(bad({"pause", "a"}), "PATH: found `a`, expected an absolute path"));
  for (const char* seconds : {"-1", "x", "1.", ".5", "1e9", "nan", "123456789", ""}) {
    CHECK(has(bad({"status", "--wait-holds", seconds}),
              "--wait-holds: found `" + std::string(seconds) + "`, expected a number"));
  }
  CHECK(has(bad({"history", "-n", "many"}), "-n: found `many`, expected"));
}

TEST_CASE("what no single flag shows is said in flags") {
  CHECK(has(bad({"--only", "1.1.1.1", "--first", "1.1.1.2", "run"}),
            "found `--first`, expected no verb but `max` beside `--only`"));
  CHECK(has(bad({"--first", "127.0.0.1", "--deny", "loopback", "run"}), "found `loopback` in `--deny`"));
  CHECK(has(bad({"--search-first", "a", "--search-first", "A.", "run"}), "in `--search-first`"));
}

TEST_CASE("what there is not") {
  CHECK(has(bad({"aply"}), "did you mean `apply`?"));
  CHECK(has(bad({"explain"}), "found `explain`, expected `run`"));
  CHECK(has(bad({"--frist", "127.0.0.1", "run"}),
            "found `--frist`, expected an option of `run` (did you mean `--first`?)"));
  CHECK(has(bad({"run", "--jsn"}), "expected an option of `run`"));
  CHECK(has(bad({"run", "apply"}), "found `apply`, expected nothing more behind `run`"));
  CHECK(has(bad({"pause", "/a", "/b"}), "found `/b`, expected nothing more behind `pause`"));
  CHECK(has(bad({"run", "--json"}), "found `--json`, expected an option of `run`"));
  CHECK(has(bad({"--first"}), "--first: found no value, expected one"));
  CHECK(has(bad({"run", ""}), "found ``"));
}

TEST_CASE("how a value may be written") {
  CHECK(good({"history", "-n3"}).count == 3);
  CHECK(good({"history", "-n", "3"}).count == 3);
  CHECK(good({"--log-level=debug", "run"}).log_level == rg::LogLevel::debug);
  CHECK(good({"--root=a=b", "run"}).root == "a=b");
  CHECK(good({"--root", "run", "run"}).root == "run");
  CHECK(good({"--root", "--", "run"}).root == "--");
  CHECK(has(bad({"--root=", "run"}), "--root: found ``, expected a path"));
  CHECK(has(bad({"--first", "--help", "run"}), "--first: found `--help`"));
  CHECK(has(bad({"history", "-n"}), "-n: found no value, expected one"));
  CHECK(has(bad({"history", "--n", "3"}), "found `--n`, expected an option of `history`"));
  CHECK(
      has(bad({"status", "--json=no"}), "found `--json=no`, expected an option of `status` (did you mean `--json`?)"));
  CHECK(has(bad({"run", "--observe=false"}), "found `--observe=false`"));
  CHECK(has(bad({"run", "-"}), "found `-`"));
  CHECK(has(std::get<rg::Stop>(parse({"history", "-hn3"})).out, "Usage: resolv-guardian history"));
}

TEST_CASE("an abbreviated option is none, and takes no value") {
  CHECK(has(bad({"--fir", "::1", "run"}), "found `--fir`, expected an option of `run`"));
  CHECK(has(bad({"--fir", "run"}), "found `--fir`, expected an option of `run`"));
  CHECK(has(bad({"run", "--firs=::1"}), "found `--firs=::1`, expected an option of `run` (did you mean `--first`?)"));
  CHECK(has(bad({"run", "--firs"}), "found `--firs`, expected an option of `run` (did you mean `--first`?)"));
  CHECK(has(bad({"--log", "json", "run"}), "found `--log`, expected an option of `run`"));
  CHECK(has(bad({"run", "--hel"}), "found `--hel`, expected an option of `run` (did you mean `--help`?)"));
}

TEST_CASE("a long option with one dash isn't the letters in it") {
  CHECK(has(bad({"-path", "/a", "run"}), "found `-path`, expected an option of `run` (did you mean `--path`?)"));
}

TEST_CASE("behind -- nothing is an option") {
  CHECK(good({"--", "run"}).command == rg::Command::run);
  CHECK(good({"pause", "--", "/a"}).path == std::optional<std::string>("/a"));
  CHECK(has(bad({"pause", "--", "-x"}), "PATH: found `-x`, expected an absolute path"));
  CHECK(has(bad({"run", "--", "--observe"}), "found `--observe`"));
}

TEST_CASE("the first that can't be placed is said, but help goes first") {
  CHECK(has(bad({"--nope", "extra", "run"}), "found `--nope`, expected an option of `run`"));
  CHECK(has(bad({"run", "extra", "--nope"}), "found `extra`, expected nothing more behind `run`"));
  CHECK(has(bad({"-n", "3", "history"}), "found `-n`, expected an option of `history`"));
  CHECK(std::get<rg::Stop>(parse({"--help", "status"})).out == std::get<rg::Stop>(parse({"status", "x", "-h"})).out);
}

TEST_CASE("no command: the usage, on stderr") {
  const std::string text = bad({});
  CHECK(has(text, "Usage: resolv-guardian"));
  CHECK(has(text, "found no command"));
  CHECK(has(bad({"--first", "127.0.0.1"}), "found no command"));
}

TEST_CASE("help names every option and command, on stdout") {
  const auto parsed = parse({"--help"});
  REQUIRE(std::holds_alternative<rg::Stop>(parsed));
  const auto& help = std::get<rg::Stop>(parsed);
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  for (const auto& entry : kCommands) CHECK(has(help.out, std::string("\n  ") + entry.first));
  for (const char* flag : {"--config", "--root", "--state-dir", "--runtime-dir", "--log-format", "--log-level",
                           "--path", "--first", "--last", "--only", "--deny", "--fallback", "--search-first", "--set",
                           "--max", "--link", "--observe", "--version", "--help"}) {
    INFO(flag);
    CHECK(has(help.out, flag));
  }
  CHECK_FALSE(has(help.out, "explain"));
}

TEST_CASE("help and version behind every command") {
  for (const auto& entry : kCommands) {
    const auto help = parse({entry.first, "--help"});
    REQUIRE(std::holds_alternative<rg::Stop>(help));
    CHECK(std::get<rg::Stop>(help).status == 0);
    CHECK(has(std::get<rg::Stop>(help).out, std::string("resolv-guardian ") + entry.first));
    const auto version = parse({entry.first, "--version"});
    REQUIRE(std::holds_alternative<rg::Stop>(version));
    CHECK(std::get<rg::Stop>(version).status == 0);
    CHECK(std::get<rg::Stop>(version).out == "resolv-guardian 0.1.0\n");
  }
  CHECK(std::get<rg::Stop>(parse({"--version"})).out == "resolv-guardian 0.1.0\n");
  CHECK(has(std::get<rg::Stop>(parse({"history", "--help"})).out, "--diff"));
  CHECK(has(std::get<rg::Stop>(parse({"pause", "-h"})).out, "--for"));
}

TEST_CASE("directories: what was given, else systemd's first, else the usual place") {
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "STATE_DIRECTORY") return "/var/lib/a:/var/lib/b";
    return name == "RUNTIME_DIRECTORY" ? std::optional<std::string>("") : std::nullopt;
  };
  rg::Options options;
  CHECK(rg::resolve_directories(options, environment).state == "/var/lib/a");
  CHECK(rg::resolve_directories(options, environment).runtime == "/run/resolv-guardian");
  CHECK(rg::resolve_directories(options, [](const std::string&) { return std::nullopt; }).state ==
        "/var/lib/resolv-guardian");
  options.state_dir = "/s:t";
  options.runtime_dir = "/u";
  CHECK(rg::resolve_directories(options, environment).state == "/s:t");
  CHECK(rg::resolve_directories(options, environment).runtime == "/u");
}
