// `source-address-of:` where an address stands.
#include "test/config/config_support.hpp"
#include "test/support/catch.hpp"

namespace {

using Texts = std::vector<std::string>;

rg::Address towards(const std::string& text) { return rg::SourceAddressOf{*rg::Nameserver::parse(text)}; }
rg::Address plain(const std::string& text) { return *rg::Nameserver::parse(text); }
std::string nameservers(const std::string& lines) { return "[[guard]]\n[guard.nameservers]\n" + lines; }
void check_one(const Texts& texts, const std::string& begin) {
  REQUIRE(texts.size() == 1);
  INFO(texts[0]);
  CHECK(texts[0].rfind("config.toml:" + begin, 0) == 0);
}

}  // namespace

TEST_CASE("source-address-of is read wherever a nameserver's address stands") {
  const auto parsed = parse_text(
      "[[guard]]\nrequires = [{ nameserver = 'source-address-of:192.0.2.5', answers = 'a.example' }]\n"
      "[guard.nameservers]\nfirst = ['source-address-of:${API}', '203.0.113.9']\n"
      "last = ['source-address-of:fe80::1%eth0']\ndeny = ['loopback', 'source-address-of:192.0.2.6']\n"
      "fallback = ['source-address-of:2001:db8::5']\n"
      "[[guard]]\npath = '/b'\n[guard.nameservers]\nonly = ['source-address-of:192.0.2.5']\n",
      {{"API", "192.0.2.5"}});
  REQUIRE(error_texts(parsed) == Texts{});
  const rg::Policy& policy = parsed.settings->guards[0];
  REQUIRE(policy.nameservers.written);
  const rg::WrittenAddresses& written = *policy.nameservers.written;
  CHECK(written.first == std::vector{towards("192.0.2.5"), plain("203.0.113.9")});
  CHECK(written.last == std::vector{towards("fe80::1%eth0")});
  CHECK(written.deny ==
        std::vector<rg::Deny>{rg::DenyWord::loopback, std::get<rg::SourceAddressOf>(towards("192.0.2.6"))});
  CHECK(written.fallback == std::vector{towards("2001:db8::5")});
  CHECK(policy.nameservers.first == std::vector{*rg::Nameserver::parse("203.0.113.9")});
  REQUIRE(policy.requirements.size() == 1);
  CHECK(policy.requirements[0].source == std::get<rg::SourceAddressOf>(towards("192.0.2.5")));
  CHECK(parsed.settings->guards[1].nameservers.written->only == std::vector{towards("192.0.2.5")});
}

TEST_CASE("source-address-of is printed as it was written") {
  const auto parsed =
      parse_text(nameservers("first = ['203.0.113.9', 'source-address-of:2001:DB8::5']\n"
                             "deny = ['source-address-of:192.0.2.5', 'loopback']\n"));
  REQUIRE(error_texts(parsed) == Texts{});
  const std::string text = rg::print_config(*parsed.settings);
  CHECK(text.find("first = [\"203.0.113.9\", \"source-address-of:2001:db8::5\"]\n") != text.npos);
  CHECK(text.find("deny = [\"source-address-of:192.0.2.5\", \"loopback\"]\n") != text.npos);
}

TEST_CASE("what can't stand behind source-address-of") {
  const auto wrong = [](const std::string& text) { return errors_of(nameservers("first = ['" + text + "']")); };
  check_one(wrong("source-address-of:"),
            "3:10: found `source-address-of:`, expected behind `source-address-of:` a text");
  check_one(
      wrong("source-address-of:api.example"),
      "3:10: found `source-address-of:api.example`, expected behind `source-address-of:` an IPv4 or IPv6 address, "
      "not a name");
  check_one(
      wrong("source-address-of:192.0.2.0/24"),
      "3:10: found `source-address-of:192.0.2.0/24`, expected behind `source-address-of:` one address, not a prefix");
  check_one(wrong("source-address-of:fe80::1"),
            "3:10: found `source-address-of:fe80::1`, expected a zone behind a link-local address");
  check_one(wrong("source-address-of:0.0.0.0"),
            "3:10: found `source-address-of:0.0.0.0`, expected the address of another");
  check_one(wrong("source-address-of:255.255.255.255"),
            "3:10: found `source-address-of:255.255.255.255`, expected the address of one host");
  check_one(wrong("source-adress-of:192.0.2.5"),
            "3:10: found `source-adress-of:192.0.2.5`, expected an IPv4 or IPv6 address, or "
            "`source-address-of:192.0.2.1`");
  check_one(errors_of(nameservers("deny = ['source-address-of:x']")),
            "3:9: found `source-address-of:x`, expected behind");
  check_one(errors_of(nameservers("prefer = ['source-address-of:192.0.2.5']")),
            "3:11: found `source-address-of:192.0.2.5`");
}

TEST_CASE("mistakes that show before the kernel is asked") {
  check_one(errors_of(nameservers("first = ['source-address-of:::1', 'source-address-of:0::1']")),
            "3:35: found `source-address-of:::1` in `nameservers.first`, expected each only once");
  check_one(errors_of(nameservers("first = ['source-address-of:192.0.2.5']\ndeny = ['loopback', "
                                  "'source-address-of:192.0.2.5']")),
            "4:21: found `source-address-of:192.0.2.5` in `nameservers.deny`, expected nothing that means "
            "`source-address-of:192.0.2.5`, which `nameservers.first` requires");
  check_one(errors_of(nameservers("first = ['127.0.0.1', 'source-address-of:192.0.2.5']\nmax = 1")),
            "3:23: found `source-address-of:192.0.2.5` in `nameservers.first`, number 2 of ours");
  CHECK(errors_of(nameservers("first = ['192.0.2.5', 'source-address-of:192.0.2.5']\ndeny = ['10.0.0.0/8']")) ==
        Texts{});
  rg::Policy policy;
  policy.nameservers.written.emplace();
  policy.nameservers.written->only = {towards("192.0.2.5")};
  policy.nameservers.written->first = {towards("192.0.2.6")};
  REQUIRE(rg::check_policy(policy, "command line").size() == 1);
}
