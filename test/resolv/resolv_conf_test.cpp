#include "lib/resolv/resolv_conf.hpp"

#include <rapidcheck.h>

#include "test/support/catch.hpp"
#include "test/support/resolv_conf_gen.hpp"

namespace rg {
namespace {

using Words = std::vector<std::string>;
using Flaws = std::vector<Flaw>;
using namespace std::string_literals;

Words servers(std::string_view bytes) {
  Words texts;
  for (const Nameserver& server : nameservers(parse(bytes))) texts.push_back(server.text());
  return texts;
}

Flaws flaws(std::string_view bytes) {
  Flaws all;
  for (const Line& line : parse(bytes).lines) all.insert(all.end(), line.flaws.begin(), line.flaws.end());
  return all;
}

TEST_CASE("a keyword stands in the first column, in lower case, with a blank or TAB behind it") {
  CHECK(servers("nameserver 192.0.2.1\nnameserver\t2001:db8::1\nnameserver \t 192.0.2.2   \n") ==
        Words{"192.0.2.1", "2001:db8::1", "192.0.2.2"});
  for (const char* line :
       {" nameserver 192.0.2.1", "\tnameserver 192.0.2.1", "Nameserver 192.0.2.1", "nameserver192.0.2.1",
        "nameservers 192.0.2.1", "nameserver\f192.0.2.1", "nameserver\v192.0.2.1", "nameserver\xC2\xA0 192.0.2.1",
        "nameserver=192.0.2.1", "x nameserver 192.0.2.1"}) {
    INFO(line);
    CHECK(servers(line).empty());
    CHECK(parse(line).lines.front().kind == Line::Kind::other);
    CHECK(flaws(line).empty());
  }
}

TEST_CASE("a comment begins with the first byte of its line and nowhere else") {
  CHECK(servers("#nameserver 192.0.2.9\n;nameserver 192.0.2.9\n// nameserver 192.0.2.9\nnameserver 192.0.2.1\n") ==
        Words{"192.0.2.1"});
  CHECK(flaws("# a comment # within ; another\n").empty());
}

TEST_CASE("a missing final newline is forgiven, an empty file has no lines") {
  CHECK(parse("").lines.empty());
  CHECK(servers("nameserver 192.0.2.1") == Words{"192.0.2.1"});
  CHECK(flaws("nameserver 192.0.2.1").empty());
}

TEST_CASE("nameserver: the first word counts, a usable address or none") {
  CHECK(servers("nameserver 198.51.100.1 198.51.100.2\n") == Words{"198.51.100.1"});
  CHECK(flaws("nameserver 198.51.100.1 198.51.100.2\n").empty());
  CHECK(servers("nameserver invalid IP\nnameserver\nnameserver \nnameserver 300.1.1.1\n").empty());
  CHECK(flaws("nameserver invalid IP\nnameserver\nnameserver \nnameserver 300.1.1.1\n").empty());
  CHECK(parse("nameserver\n").lines.front().kind == Line::Kind::nameserver);
  CHECK(parse("nameserver bogus x\n").lines.front().values == Words{"bogus"});
  CHECK(servers("nameserver 192.0.2.1\nnameserver 192.0.2.1\n") == Words{"192.0.2.1", "192.0.2.1"});
  CHECK(servers("nameserver fe80::1%eth0\nnameserver fe80::1%eth1\n") == Words{"fe80::1%eth0", "fe80::1%eth1"});
}

TEST_CASE("a server in another form is not read, and is a flaw") {
  for (const char* line :
       {"nameserver 127.1", "nameserver 010.0.0.1", "nameserver 192.0", "nameserver [2001:db8::1]:53",
        "nameserver 192.0.2.1:53 # x", "nameserver 192.0.2.1,192.0.2.2"}) {
    INFO(line);
    CHECK(servers(line).empty());
    CHECK(flaws(line) == Flaws{Flaw::address_form});
  }
}

TEST_CASE("the last search or domain line with a value wins") {
  CHECK(search(parse("search a.example b.example\n")) == Words{"a.example", "b.example"});
  CHECK(search(parse("search a.example\ndomain b.example c.example\n")) == Words{"b.example"});
  CHECK(search(parse("domain a.example\nsearch b.example\n")) == Words{"b.example"});
  CHECK(search(parse("search a.example\nsearch\ndomain \nsearch\t\n")) == Words{"a.example"});
  CHECK(search(parse("search a.example a.example\n")) == Words{"a.example", "a.example"});
  CHECK(search(parse("search .\n")) == Words{"."});
  CHECK(search(parse("")).empty());
  CHECK(all_search(parse("search a.example b.example\ndomain c.example\nsearch a.example\n")) ==
        Words{"a.example", "b.example", "c.example", "a.example"});
}

TEST_CASE("a search line may be longer than any libc's buffer") {
  const std::string long_line = "search " + std::string(300, 'a') + " " + std::string(5000, 'b');
  CHECK(search(parse(long_line)).size() == 2);
}

TEST_CASE("options lines add up, unknown ones too") {
  CHECK(options(parse("options ndots:2 edns0\noptions\noptions future-opt:7\tndots:3\n")) ==
        Words{"ndots:2", "edns0", "future-opt:7", "ndots:3"});
}

TEST_CASE("a comment behind a value is cut and is a flaw") {
  CHECK(servers("nameserver 192.0.2.1  # eth0:v4\nnameserver 192.0.2.2#eth1\nnameserver 2001:db8::1;x\n") ==
        Words{"192.0.2.1", "192.0.2.2", "2001:db8::1"});
  CHECK(flaws("nameserver 192.0.2.1  # eth0:v4\nnameserver 192.0.2.2#eth1\n") ==
        Flaws{Flaw::trailing_comment, Flaw::trailing_comment});
  CHECK(search(parse("search a.example # b.example\n")) == Words{"a.example"});
  CHECK(search(parse("search a.example;b.example\n")) == Words{"a.example"});
  CHECK(options(parse("options ndots:2 # timeout:9\n")) == Words{"ndots:2"});
  for (const char* line :
       {"search a.example # b", "domain a.example;x", "options ndots:2 # timeout:9", "search # a.example"}) {
    INFO(line);
    CHECK(flaws(line) == Flaws{Flaw::trailing_comment});
  }
  CHECK(search(parse("search a.example\nsearch # b.example\n")) == Words{"a.example"});
}

TEST_CASE("a comment in place of an address changes nothing") {
  CHECK(flaws("nameserver # 192.0.2.1\nnameserver bogus # x\n").empty());
}

TEST_CASE("CR LF line ends are forgiven and are a flaw: glibc would find no server") {
  const std::string_view bytes = "nameserver 192.0.2.1\r\nsearch a.example b.example\r\noptions ndots:2\r\ndomain\r\n";
  CHECK(servers(bytes) == Words{"192.0.2.1"});
  CHECK(search(parse(bytes)) == Words{"a.example", "b.example"});
  CHECK(options(parse(bytes)) == Words{"ndots:2"});
  CHECK(flaws(bytes) == Flaws(4, Flaw::carriage_return));
}

TEST_CASE("a CR at the end of a comment or a blank line harms nobody, elsewhere it does") {
  CHECK(flaws("# comment\r\n\r\n \r\n; x\r").empty());
  CHECK(flaws("# comment\rnameserver 192.0.2.1\n") == Flaws{Flaw::carriage_return});
  CHECK(flaws("sortlist 198.51.100.0\r\n") == Flaws{Flaw::carriage_return});
  CHECK(flaws("unknown\r\n") == Flaws{Flaw::carriage_return});
}

TEST_CASE("NULs before a keyword are skipped, others are blanks, all are a flaw: musl swallows the next line") {
  CHECK(servers("\0\0\0nameserver\000192.0.2.1\n"s) == Words{"192.0.2.1"});
  CHECK(servers("nameserver 192.0.2.1\0x\n"s) == Words{"192.0.2.1"});
  CHECK(search(parse("search a.example\0b.example\n"s)) == Words{"a.example", "b.example"});
  CHECK(servers("\0 nameserver 192.0.2.1\n"s).empty());
  CHECK(servers("name\0server 192.0.2.1\n"s).empty());
  for (const std::string& bytes :
       {"\0nameserver 192.0.2.1\n"s, "\0\n"s, "# c\0\n"s, "name\0server x\n"s, "nameserver 192.0.2.1\0"s}) {
    CHECK(flaws(bytes) == Flaws{Flaw::nul});
  }
}

TEST_CASE("a byte order mark is skipped at the file's start only, and is a flaw of its line whatever that is") {
  CHECK(servers("\xEF\xBB\xBFnameserver 192.0.2.1\n\xEF\xBB\xBFnameserver 192.0.2.2\n") == Words{"192.0.2.1"});
  CHECK(flaws("\xEF\xBB\xBFnameserver 192.0.2.1\n") == Flaws{Flaw::byte_order_mark});
  CHECK(flaws("\xEF\xBB\xBF# comment\n") == Flaws{Flaw::byte_order_mark});
  CHECK(flaws("\xEF\xBB\xBF") == Flaws{Flaw::byte_order_mark});
  CHECK(flaws("#\n\xEF\xBB\xBFnameserver 192.0.2.2\n").empty());
  CHECK(flaws("\xEF\xBB\xBFnameserver 192.0.2.1 # x\r\n") ==
        Flaws{Flaw::byte_order_mark, Flaw::carriage_return, Flaw::trailing_comment});
}

TEST_CASE("nothing past the limit is read, nor the line that is cut there") {
  const std::string tail = "nameserver 192.0.2.2\n";
  const std::string head = "nameserver 192.0.2.1\n#" + std::string(kMaxFileBytes - 23 - tail.size(), 'x') + "\n";
  CHECK(servers(head + tail) == Words{"192.0.2.1", "192.0.2.2"});
  CHECK(servers(head + "#" + tail) == Words{"192.0.2.1"});
  CHECK(servers("#" + head + tail) == Words{});
  CHECK(servers("\n" + head + tail + tail) == Words{"192.0.2.1"});
  CHECK(flaws("\n" + head + "nameserver 127.1  #\r\n").empty());
  CHECK(flaws("\n" + head + "nameserver 127.1 #\r\n") == Flaws{Flaw::carriage_return, Flaw::address_form});
  const ResolvConf conf = parse("\n" + head + tail + tail);
  CHECK(conf.lines.back().beyond);
  CHECK(conf.lines.back().text == tail + tail);
  CHECK(render(conf) == "\n" + head + tail + tail);
  // Without a line end at the very limit nobody can tell whether the address goes on.
  CHECK(servers(head + "nameserver 192.0.2.3") == Words{"192.0.2.1", "192.0.2.3"});
  CHECK(servers(head + "nameserver 192.0.2.34") == Words{"192.0.2.1"});
}

TEST_CASE("domains are the same without case and final dot") {
  CHECK(same_domain("Example.COM.", "example.com"));
  CHECK(same_domain(".", "."));
  CHECK_FALSE(same_domain(".", ""));
  CHECK_FALSE(same_domain("example.com", "example.co"));
  CHECK_FALSE(same_domain("a.example", "b.example"));
  CHECK_FALSE(same_domain("example..", "example"));
}

TEST_CASE("an option's name ends at its colon") {
  CHECK(option_name("timeout:2") == "timeout");
  CHECK(option_name("edns0") == "edns0");
  CHECK(option_name("a:b:c") == "a");
}

TEST_CASE("render(parse(x)) == x for any bytes") {
  CHECK(rc::check("nasty files", [] {
    const std::string bytes = *test::nasty_file();
    RC_ASSERT(render(parse(bytes)) == bytes);
  }));
  CHECK(rc::check("any bytes", [](const std::string& bytes) { RC_ASSERT(render(parse(bytes)) == bytes); }));
}

TEST_CASE("what is read has no blank, no CR, no NUL and no comment mark in it") {
  CHECK(rc::check("words", [] {
    const ResolvConf conf = parse(*test::nasty_file());
    for (const Line& line : conf.lines) {
      RC_ASSERT((line.kind != Line::Kind::other || line.values.empty()));
      RC_ASSERT(std::is_sorted(line.flaws.begin(), line.flaws.end()));
      for (const std::string& word : line.values) {
        RC_ASSERT(!word.empty());
        RC_ASSERT(word.find_first_of(" \t\r\n\0#;"s) == std::string::npos);
      }
    }
  }));
}

}  // namespace
}  // namespace rg
