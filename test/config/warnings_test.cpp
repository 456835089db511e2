// What is legal and hardly meant: told with its place, and taken all the same.
#include "test/config/config_support.hpp"
#include "test/support/catch.hpp"

namespace {

using Texts = std::vector<std::string>;

Texts warnings_of(const std::string& toml) {
  const auto parsed = parse_text(toml);
  CHECK(error_texts(parsed) == Texts{});
  Texts texts;
  for (const rg::ConfigError& warning : parsed.warnings) texts.push_back(warning.text());
  return texts;
}

Texts of_options(const std::string& lines) { return warnings_of("[[guard]]\n[guard.options]\n" + lines); }
Texts of_nameservers(const std::string& lines) { return warnings_of("[[guard]]\n[guard.nameservers]\n" + lines); }

}  // namespace

TEST_CASE("an option that no resolver is known to read is warned of") {
  CHECK(of_options("set = ['edns0', 'rotat']") ==
        Texts{"config.toml:3:17: found the unknown option `rotat` in `options.set`, expected one that resolvers read "
              "(did you mean `rotate`?)"});
  CHECK(of_options("only = ['Rotate']\n") ==
        Texts{"config.toml:3:9: found the unknown option `Rotate` in `options.only`, expected one that resolvers read "
              "(did you mean `rotate`?)"});
  CHECK(of_options("deny = ['trustad']\nfallback = ['timout:3', 'of-a-libc-to-come']") ==
        Texts{"config.toml:3:9: found the unknown option `trustad` in `options.deny`, expected one that resolvers read "
              "(did you mean `trust-ad`?)",
              "config.toml:4:13: found the unknown option `timout` in `options.fallback`, expected one that resolvers "
              "read (did you mean `timeout`?)",
              "config.toml:4:25: found the unknown option `of-a-libc-to-come` in `options.fallback`, expected one that "
              "resolvers read"});
  CHECK(parse_text("[[guard]]\n[guard.options]\nset = ['rotat']").settings->guards[0].options.set == Texts{"rotat"});
}

TEST_CASE("the options of every libc are known") {
  CHECK(
      of_options("set = ['ndots:2', 'timeout:1', 'attempts:3', 'rotate', 'edns0', 'trust-ad', 'use-vc', 'no-aaaa',\n"
                 "'single-request', 'single-request-reopen', 'no-reload', 'no-tld-query', 'no-check-names', 'inet6']\n"
                 "deny = ['debug', 'insecure1', 'tcp', 'inet4', 'reload-period', 'strict-error']") == Texts{});
}

TEST_CASE("a link-local server without a zone is warned of") {
  CHECK(of_nameservers("first = ['127.0.0.1', 'fe80::1']\nfallback = ['febf::2', '169.254.0.1']") ==
        Texts{"config.toml:3:23: found `fe80::1` in `nameservers.first`, expected a zone behind a link-local address, "
              "like `fe80::1%eth0`: hardly a resolver reaches it without one",
              "config.toml:4:13: found `febf::2` in `nameservers.fallback`, expected a zone behind a link-local "
              "address, like `febf::2%eth0`: hardly a resolver reaches it without one"});
  CHECK(of_nameservers("last = ['fe80::1']").size() == 1);
  CHECK(of_nameservers("only = ['fe80::1']").size() == 1);
  CHECK(of_nameservers("first = ['fe80::1%eth0', 'source-address-of:fe80::1%eth0']\ndeny = ['fe80::9']\n"
                       "prefer = ['fe80::/10']") == Texts{});
}

TEST_CASE("warnings stand beside mistakes, in the order of the lines, and end") {
  const auto parsed =
      parse_text("[[guard]]\n[guard.options]\nset = ['rotat']\n[guard.nameservers]\nfirst = ['fe80::1', 'x']\n");
  CHECK(parsed.errors.size() == 1);
  REQUIRE(parsed.warnings.size() == 2);
  CHECK(parsed.warnings[0].line == 3);
  CHECK(parsed.warnings[1].line == 5);
  std::string many = "[[guard]]\n[guard.options]\nset = [";
  for (int i = 0; i < 1000; ++i) many += "'strange" + std::to_string(i) + "',";
  CHECK(parse_text(many + "]").warnings.size() == rg::kMaxErrors);
}
