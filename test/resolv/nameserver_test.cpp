#include "lib/resolv/nameserver.hpp"

#include <rapidcheck.h>

#include "lib/resolv/address_form.hpp"
#include "test/support/catch.hpp"

namespace rg {
namespace {

std::string canonical(std::string_view text) {
  const auto server = Nameserver::parse(text);
  return server ? server->text() : "none";
}

TEST_CASE("an IPv4 address has four decimal parts without leading zeros") {
  CHECK(canonical("192.0.2.1") == "192.0.2.1");
  CHECK(canonical("0.0.0.0") == "0.0.0.0");
  CHECK(canonical("255.255.255.255") == "255.255.255.255");
  for (const char* text : {"",
                           "127.1",
                           "192.0",
                           "0",
                           "010.0.0.1",
                           "192.0.2.01",
                           "0x7f.0.0.1",
                           "300.1.1.1",
                           "192.0.2.256",
                           "1.2.3",
                           "1.2.3.4.5",
                           "1.2.3.",
                           ".1.2.3.4",
                           "1..2.3",
                           " 1.2.3.4",
                           "1.2.3.4 ",
                           "1.2.3.-1",
                           "+1.2.3.4",
                           "1.2.3.4\f",
                           "1.2.3.0004",
                           "192.0.2.1:53",
                           "192.0.2.1%eth0",
                           "192.0.2.1/24",
                           "3221225985"}) {
    INFO(text);
    CHECK_FALSE(Nameserver::parse(text));
  }
}

TEST_CASE("an IPv6 address is compared by value and written as RFC 5952 says") {
  CHECK(canonical("2001:0DB8:0:0:0:0:0:1") == "2001:db8::1");
  CHECK(canonical("::") == "::");
  CHECK(canonical("::FFFF:192.0.2.1") == "::ffff:192.0.2.1");
  CHECK(canonical("64:ff9b::192.0.2.1") == "64:ff9b::c000:201");
  CHECK(canonical("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") == "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  CHECK(Nameserver::parse("2001:db8::1") == Nameserver::parse("2001:0db8::0001"));
  CHECK(Nameserver::parse("::ffff:192.0.2.1") != Nameserver::parse("192.0.2.1"));
  for (const char* text : {":", ":::", "2001:db8:1", "2001:db8::10000", "[::1]", "[::1]:53", "2001:db8::1/64",
                           "fe80::1-eth0", "2001:db8::1.5353", "::1#dns.example", "localhost", "invalid"}) {
    INFO(text);
    CHECK_FALSE(Nameserver::parse(text));
  }
  CHECK_FALSE(Nameserver::parse(std::string_view("::1\0", 4)));
  CHECK_FALSE(Nameserver::parse(std::string(100'000, '1')));
}

TEST_CASE("a zone is text, whether or not its interface exists") {
  CHECK(canonical("fe80::1%eth0") == "fe80::1%eth0");
  CHECK(canonical("FE80::0001%no-such.0") == "fe80::1%no-such.0");
  CHECK(canonical("2001:db8::1%eth0") == "2001:db8::1%eth0");
  CHECK(Nameserver::parse("fe80::1%eth0") != Nameserver::parse("fe80::1%eth1"));
  CHECK(Nameserver::parse("fe80::1%eth0") != Nameserver::parse("fe80::1"));
  CHECK(Nameserver::parse("fe80::1%7")->zone() == "7");
  for (const char* text :
       {"fe80::1%", "fe80::1%eth0\nnameserver", "fe80::1%eth 0", "fe80::1%#", "fe80::1%a/b", "fe80::1%eth0:1"}) {
    INFO(text);
    CHECK_FALSE(Nameserver::parse(text));
  }
}

TEST_CASE("loopback, unspecified and link-local addresses are known, mapped ones too") {
  const auto server = [](const char* text) { return *Nameserver::parse(text); };
  for (const char* text : {"127.0.0.1", "127.0.0.53", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::1%lo"}) {
    INFO(text);
    CHECK(server(text).is_loopback());
    CHECK_FALSE(server(text).is_unspecified());
  }
  for (const char* text : {"0.0.0.0", "::", "::ffff:0.0.0.0"}) {
    INFO(text);
    CHECK(server(text).is_unspecified());
    CHECK_FALSE(server(text).is_loopback());
  }
  for (const char* text : {"fe80::1", "febf::1%eth0", "169.254.0.1", "::ffff:169.254.0.1"}) {
    INFO(text);
    CHECK(server(text).is_link_local());
  }
  for (const char* text : {"128.0.0.1", "::2", "::127.0.0.1", "0.0.0.1", "fec0::1", "169.253.0.1", "fd00::1"}) {
    INFO(text);
    CHECK_FALSE(server(text).is_loopback());
    CHECK_FALSE(server(text).is_unspecified());
    CHECK_FALSE(server(text).is_link_local());
  }
}

TEST_CASE("multicast and broadcast addresses are known") {
  for (const char* text : {"224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "::ffff:224.0.0.1"}) {
    INFO(text);
    CHECK(Nameserver::parse(text)->is_multicast());
  }
  for (const char* text : {"223.255.255.255", "240.0.0.1", "fe80::1", "2001:db8::ff", "::ffff:192.0.2.1"}) {
    INFO(text);
    CHECK_FALSE(Nameserver::parse(text)->is_multicast());
  }
}

TEST_CASE("what is mapped into IPv6 is taken out again") {
  CHECK(Nameserver::parse("::ffff:192.0.2.1")->unmapped() == Nameserver::parse("192.0.2.1"));
  for (const char* text : {"192.0.2.1", "::192.0.2.1", "2001:db8::1", "::fffe:192.0.2.1"}) {
    INFO(text);
    CHECK_FALSE(Nameserver::parse(text)->unmapped());
  }
}

TEST_CASE("a prefix contains by its bits, and ignores zones unless it is one address with a zone") {
  const auto contains = [](const char* prefix, const char* server) {
    return Prefix::parse(prefix)->contains(*Nameserver::parse(server));
  };
  CHECK(contains("192.0.2.0/24", "192.0.2.255"));
  CHECK(contains("192.0.2.77/24", "192.0.2.1"));
  CHECK_FALSE(contains("192.0.2.0/24", "192.0.3.0"));
  CHECK(contains("192.0.2.128/25", "192.0.2.129"));
  CHECK_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  CHECK(contains("0.0.0.0/0", "192.0.2.1"));
  CHECK_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  CHECK_FALSE(contains("::/0", "192.0.2.1"));
  CHECK_FALSE(contains("192.0.2.1", "::ffff:192.0.2.1"));
  CHECK(contains("192.0.2.1", "192.0.2.1"));
  CHECK(contains("fe80::/10", "febf::1%eth0"));
  CHECK_FALSE(contains("fe80::/10", "fec0::1"));
  CHECK(contains("fe80::1", "fe80::1%eth0"));
  CHECK(contains("fe80::1%eth0", "fe80::1%eth0"));
  CHECK_FALSE(contains("fe80::1%eth0", "fe80::1%eth1"));
  CHECK_FALSE(contains("fe80::1%eth0", "fe80::1"));
}

TEST_CASE("a prefix is written as it was meant, and refuses what is none") {
  CHECK(Prefix::parse("2001:0db8::/32")->text() == "2001:db8::/32");
  CHECK(Prefix::parse("192.0.2.1")->text() == "192.0.2.1");
  CHECK(Prefix::parse("192.0.2.1/32")->text() == "192.0.2.1");
  CHECK(Prefix::parse("fe80::1%eth0")->text() == "fe80::1%eth0");
  CHECK(Prefix::parse("0.0.0.0/0")->text() == "0.0.0.0/0");
  for (const char* text : {"", "/24", "192.0.2.0/", "192.0.2.0/33", "::/129", "192.0.2.0/024", "192.0.2.0/+8",
                           "192.0.2.0/8/8", "fe80::1%eth0/64", "192.0.2/24", "loopback", "::/9999999999"}) {
    INFO(text);
    CHECK_FALSE(Prefix::parse(text));
  }
}

TEST_CASE("some resolver asks an address in another form; nobody asks a word") {
  for (const char* text : {"127.1",
                           "0x7f.1",
                           "010.0.0.1",
                           "192.0",
                           "0",
                           "3221225985",
                           "192.0.2.08",
                           "192.000.002.001",
                           "[2001:db8::1]",
                           "[2001:db8::1]:5353",
                           "[fe80::1%eth0]:53",
                           "[192.0.2.1]:53",
                           "192.0.2.1:53",
                           "192.0.2.1%eth0",
                           "192.0.2.1@5353",
                           "192.0.2.1:53@x",
                           "192.0.2.1/24",
                           "2001:db8::1/64",
                           "fe80::1%",
                           "192.0.2.1,",
                           "192.0.2.1,192.0.2.2",
                           "2001:db8::1,x"}) {
    INFO(text);
    CHECK(is_address_in_other_form(text));
  }
  for (const char* text :
       {"", "invalid", "300.1.1.1", "192.0.2.256", "localhost", "dns", "[]", "[", "[x]", "/", ":", "@", "1.2.3.4.5",
        "2001:db8:1", "192.0.2.1", "2001:db8::1", "fe80::1%eth0", "tls://192.0.2.1", "bogus/24"}) {
    INFO(text);
    CHECK_FALSE(is_address_in_other_form(text));
  }
}

TEST_CASE("every address reads back as what it was written from") {
  CHECK(rc::check("parse(text(x)) == x", [] {
    std::string text;
    if (*rc::gen::arbitrary<bool>()) {
      for (int part = 0; part < 4; ++part) text += (part ? "." : "") + std::to_string(*rc::gen::inRange(0, 256));
    } else {
      static const char kDigits[] = "0123456789abcdef";
      for (int group = 0; group < 8; ++group) {
        text += group ? ":" : "";
        const auto zero = *rc::gen::arbitrary<bool>();
        for (int digit = 0; digit < 4; ++digit) text += zero ? '0' : kDigits[*rc::gen::inRange(0, 16)];
      }
      if (*rc::gen::arbitrary<bool>()) text += "%eth" + std::to_string(*rc::gen::inRange(0, 9));
    }
    const auto server = Nameserver::parse(text);
    RC_ASSERT(server.has_value());
    RC_ASSERT(Nameserver::parse(server->text()) == server);
    RC_ASSERT(Prefix::parse(server->text())->contains(*server));
    RC_ASSERT(!is_address_in_other_form(text));
  }));
}

}  // namespace
}  // namespace rg
