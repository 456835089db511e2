// The nameservers: which must stand, where each comes from, and what is wrong with those that do.
#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"

namespace rg {
namespace {

using namespace test;

Texts wanted(const Content& content) { return texts(content.want.nameservers); }

std::vector<Origin> origins(const Content& content) {
  std::vector<Origin> list;
  for (const SaidServer& said : content.servers) list.push_back(said.origin);
  return list;
}

using Dropped = std::vector<DroppedServer>;
using Origins = std::vector<Origin>;

TEST_CASE("a lease that drops the prepended server: it stands first again, the lease's behind it") {
  const Content content = with_first({"127.0.0.1"}).of("nameserver 192.0.2.53\nnameserver 2001:db8::53\n");
  CHECK(wanted(content) == Texts{"127.0.0.1", "192.0.2.53", "2001:db8::53"});
  CHECK(origins(content) == Origins{Origin::first, Origin::writer, Origin::writer});
  CHECK(content.violations == Violations{Violation::required});
  CHECK(content.source == Source::writer);
  CHECK(texts(content.learned.nameservers) == Texts{"192.0.2.53", "2001:db8::53"});
}

TEST_CASE("a file that reads as wanted holds, whatever else stands in it") {
  const Judging judging = with_first({"127.0.0.1"});
  CHECK(judging.of("nameserver 127.0.0.1\nnameserver 192.0.2.1").violations.empty());
  CHECK(judging.of("# x\n\nnameserver\t127.0.0.1 \nunknown\nnameserver bogus\nnameserver 192.0.2.1\n")
            .violations.empty());
  CHECK(judging.of("nameserver 127.0.0.1\nnameserver 2001:DB8:0::1\n").violations.empty());
  CHECK(judging.of("# comment\r\nnameserver 127.0.0.1\n").violations.empty());
}

TEST_CASE("the required server is fourth: it comes to its place and the last learned gives way") {
  const Content content =
      with_first({"198.51.100.53"})
          .of("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 198.51.100.53\n");
  CHECK(wanted(content) == Texts{"198.51.100.53", "192.0.2.1", "192.0.2.2"});
  CHECK(content.violations == Violations{Violation::order, Violation::over_max});
  CHECK(content.dropped == Dropped{{"192.0.2.3", Why::over_max}});
  CHECK(texts(content.learned.nameservers) == Texts{"192.0.2.1", "192.0.2.2", "192.0.2.3"});
}

TEST_CASE("a duplicate takes no slot") {
  const Content content =
      with_first({"192.0.2.23"})
          .of("nameserver 192.0.2.23\nnameserver 198.51.100.8\nnameserver 192.0.2.23\nnameserver 192.0.2.1\n");
  CHECK(wanted(content) == Texts{"192.0.2.23", "198.51.100.8", "192.0.2.1"});
  CHECK(content.violations == Violations{Violation::duplicate, Violation::over_max});
  CHECK(content.dropped == Dropped{{"192.0.2.23", Why::duplicate}});
}

TEST_CASE("a duplicate is drift by itself; other forms of one address and mapped ones are told apart by value") {
  Judging judging;
  CHECK(judging.of("nameserver 2001:db8::1\nnameserver 2001:0db8::1\n").violations == Violations{Violation::duplicate});
  CHECK(judging.of("nameserver 192.0.2.1\nnameserver ::ffff:192.0.2.1\n").violations.empty());
  CHECK(judging.of("nameserver fe80::1%eth0\nnameserver fe80::1%eth1\n").violations.empty());
}

TEST_CASE("first and last are never cut, the learned between them give way") {
  Judging judging = with_first({"192.0.2.1"});
  judging.policy.nameservers.last = servers({"192.0.2.9"});
  const std::string_view file =
      "nameserver 192.0.2.9\nnameserver 192.0.2.5\nnameserver 192.0.2.6\nnameserver 192.0.2.1\n";
  CHECK(wanted(judging.of(file)) == Texts{"192.0.2.1", "192.0.2.5", "192.0.2.9"});
  judging.policy.nameservers.max = 0;
  CHECK(wanted(judging.of(file)) == Texts{"192.0.2.1", "192.0.2.5", "192.0.2.6", "192.0.2.9"});
  judging.policy.nameservers.max = 1;
  CHECK(wanted(judging.of(file)) == Texts{"192.0.2.1", "192.0.2.9"});
  CHECK(judging.of(file).source == Source::policy);
}

TEST_CASE("more than max is drift without any verb") {
  const Content content =
      Judging{}.of("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n");
  CHECK(content.violations == Violations{Violation::over_max});
  CHECK(wanted(content) == Texts{"192.0.2.1", "192.0.2.2", "192.0.2.3"});
}

TEST_CASE("only: exactly these, an empty list is none, nothing fills in") {
  Judging judging;
  judging.policy.nameservers.only = servers({"127.0.0.1"});
  judging.memory.nameservers.values = servers({"192.0.2.7"});
  judging.policy.nameservers.fallback = servers({"192.0.2.8"});
  const Content content = judging.of("nameserver 192.0.2.1\n");
  CHECK(wanted(content) == Texts{"127.0.0.1"});
  CHECK(origins(content) == Origins{Origin::only});
  CHECK(content.source == Source::policy);
  CHECK(content.violations == Violations{Violation::required, Violation::foreign});
  CHECK(texts(content.learned.nameservers) == Texts{"192.0.2.1"});
  CHECK(wanted(judging.of("")) == Texts{"127.0.0.1"});
  CHECK(judging.of("").violations == Violations{Violation::required});

  judging.policy.nameservers.only = servers({});
  CHECK(wanted(judging.of("nameserver 192.0.2.1\n")).empty());
  CHECK(judging.of("nameserver 192.0.2.1\n").violations == Violations{Violation::foreign});
  CHECK(judging.of("# none\n").violations.empty());
}

TEST_CASE("deny: addresses, prefixes and words, never kept and never learned") {
  Judging judging;
  judging.policy.nameservers.deny = denies({"203.0.113.8", "2001:db8:ffff::/48", "fe80::2%eth0"});
  Content content = judging.of("nameserver 203.0.113.8\nnameserver 2001:db8:ffff::8\nnameserver 192.0.2.1\n");
  CHECK(wanted(content) == Texts{"192.0.2.1"});
  CHECK(content.violations == Violations{Violation::denied});
  CHECK(content.dropped == Dropped{{"203.0.113.8", Why::denied}, {"2001:db8:ffff::8", Why::denied}});
  CHECK(texts(content.learned.nameservers) == Texts{"192.0.2.1"});
  CHECK(wanted(judging.of("nameserver fe80::2%eth0\nnameserver fe80::2%eth1\n")) == Texts{"fe80::2%eth1"});
  CHECK(wanted(judging.of("nameserver ::ffff:203.0.113.8\nnameserver 192.0.2.1\n")) == Texts{"192.0.2.1"});

  judging.policy.nameservers.deny = {DenyWord::loopback, DenyWord::unspecified, DenyWord::link_local};
  content = judging.of(
      "nameserver 127.0.0.53\nnameserver ::ffff:127.0.0.1\nnameserver 0.0.0.0\nnameserver fe80::1%eth0\nnameserver "
      "192.0.2.1\n");
  CHECK(wanted(content) == Texts{"192.0.2.1"});
  CHECK(content.dropped.size() == 4);
}

TEST_CASE("prefer sorts the learned by the first prefix they match, stably, before max cuts") {
  Judging judging = with_first({"127.0.0.1"});
  judging.policy.nameservers.prefer = prefixes({"198.51.100.0/24", "2001:db8::/32"});
  const Content content = judging.of(
      "nameserver 127.0.0.1\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver 198.51.100.2\nnameserver "
      "198.51.100.1\n");
  CHECK(wanted(content) == Texts{"127.0.0.1", "198.51.100.2", "198.51.100.1"});
  CHECK(content.dropped == Dropped{{"2001:db8::1", Why::over_max}, {"192.0.2.1", Why::over_max}});
  judging.memory.nameservers.values = servers({"192.0.2.1", "198.51.100.1"});
  CHECK(wanted(judging.of("")) == Texts{"127.0.0.1", "198.51.100.1", "192.0.2.1"});
  judging.memory = {};
  judging.policy.nameservers.fallback = servers({"192.0.2.1", "198.51.100.1"});
  CHECK(wanted(judging.of("")) == Texts{"127.0.0.1", "192.0.2.1", "198.51.100.1"});
}

TEST_CASE("the writer left none: the last good ones that are not denied, else fallback") {
  Judging judging = with_first({"192.0.2.17"});
  judging.memory.nameservers.values = servers({"203.0.113.8", "198.51.100.8", "192.0.2.17", "198.51.100.4"});
  judging.policy.nameservers.deny = denies({"203.0.113.0/24"});
  judging.policy.nameservers.fallback = servers({"203.0.113.9", "192.0.2.53"});
  Content content = judging.of("search example.com\nnameserver 192.0.2.17\n");
  CHECK(wanted(content) == Texts{"192.0.2.17", "198.51.100.8", "198.51.100.4"});
  CHECK(origins(content) == Origins{Origin::first, Origin::last_good, Origin::last_good});
  CHECK(content.source == Source::last_good);
  CHECK(content.filled);
  CHECK(content.violations == Violations{Violation::empty});
  CHECK(content.learned.nameservers.empty());

  judging.memory.nameservers.values = servers({"203.0.113.8"});
  content = judging.of("nameserver 203.0.113.8\n");
  CHECK(wanted(content) == Texts{"192.0.2.17", "192.0.2.53"});
  CHECK(content.source == Source::fallback);
  CHECK(origins(content) == Origins{Origin::first, Origin::fallback});
  CHECK(content.violations == Violations{Violation::empty, Violation::required, Violation::denied});

  judging.policy.nameservers.when_empty = WhenEmpty::leave;
  content = judging.of("nameserver 192.0.2.17\n");
  CHECK(wanted(content) == Texts{"192.0.2.17"});
  CHECK(content.violations.empty());
  CHECK_FALSE(content.filled);

  judging.policy.nameservers.when_empty = WhenEmpty::fallback;
  judging.memory.nameservers.values = servers({"198.51.100.8"});
  CHECK(wanted(judging.of("nameserver 192.0.2.17\n")) == Texts{"192.0.2.17", "192.0.2.53"});
}

TEST_CASE("a link-local last good server counts only while its interface exists") {
  Judging judging;
  judging.memory.nameservers.values = servers({"fe80::1%gone0", "fe80::1%eth0", "fe80::2", "2001:db8::1%gone0"});
  CHECK(wanted(judging.of("# none\n")) == Texts{"fe80::1%eth0", "fe80::2", "2001:db8::1%gone0"});
  CHECK(wanted(judging.of("nameserver fe80::1%gone0\n")) == Texts{"fe80::1%gone0"});
}

TEST_CASE("words that are no addresses are dropped; where nothing else is left, last good fills in") {
  Judging judging;
  judging.memory.nameservers.values = servers({"192.0.2.1", "192.0.2.2"});
  const Content content =
      judging.of("# Generated by a VPN\n\nnameserver invalid IP\nnameserver\nnameserver 300.1.1.1\n");
  CHECK(wanted(content) == Texts{"192.0.2.1", "192.0.2.2"});
  CHECK(content.dropped == Dropped{{"invalid", Why::invalid}, {"300.1.1.1", Why::invalid}});
}

TEST_CASE("nothing known at all: what the policy alone gives holds") {
  Judging judging;
  CHECK(judging.of("# none\n").violations.empty());
  CHECK(judging.of("# none\n").source == Source::policy);
  CHECK(judging.of("# none\n").learned == Lists{});
  CHECK(judging.absent().nothing_to_write);
  CHECK(judging.absent().violations.empty());
  CHECK(with_first({"127.0.0.1"}).absent().violations == Violations{Violation::absent});
  CHECK_FALSE(with_first({"127.0.0.1"}).absent().nothing_to_write);
  CHECK(with_first({"127.0.0.1"}).of("nameserver 127.0.0.1\n").source == Source::policy);
}

TEST_CASE("a deleted file is made again from what is remembered") {
  Judging judging;
  judging.memory.nameservers.values = servers({"192.0.2.1"});
  judging.memory.search.values = {"example.com"};
  judging.policy.search.when_empty = WhenEmpty::last_good;
  const Content content = judging.absent();
  CHECK(content.violations == Violations{Violation::absent});
  CHECK(content.want.search == Texts{"example.com"});
  CHECK(content.wanted.find("search example.com\n") != std::string::npos);
  CHECK(content.wanted.find("nameserver 192.0.2.1\n") != std::string::npos);
}

TEST_CASE("ours on disk: learned comes from the writer's document, and ours are never learned") {
  const Judging judging = with_first({"127.0.0.1"});
  const std::string document = "nameserver 192.0.2.1\nnameserver 192.0.2.2\n";
  const std::string ours = judging.of(document).wanted;
  const Content content = judging.of(ours, document);
  CHECK(content.violations.empty());
  CHECK(texts(content.learned.nameservers) == Texts{"192.0.2.1", "192.0.2.2"});
  // The document was denied since, or somebody appended to ours: it is judged by value.
  const Content edited = judging.of(ours + "# changed by a script\nnameserver 192.0.2.1\nnameserver 127.0.0.1\n");
  CHECK(wanted(edited) == Texts{"127.0.0.1", "192.0.2.1", "192.0.2.2"});
  CHECK(texts(edited.learned.nameservers) == Texts{"192.0.2.1", "192.0.2.2"});
}

TEST_CASE("a learned server that is missing on disk is drift too") {
  CHECK(Judging{}.of("nameserver 192.0.2.1\n", "nameserver 192.0.2.1\nnameserver 192.0.2.2\n").violations ==
        Violations{Violation::required});
}

TEST_CASE("misread is drift, whatever the verbs say") {
  using namespace std::string_literals;
  const Judging judging;
  for (const std::string& file :
       {"nameserver 192.0.2.1\r\n"s, "\xEF\xBB\xBFnameserver 192.0.2.1\n"s, "nameserver 192.0.2.1\n\0\0"s,
        "nameserver 192.0.2.1 # x\n"s, "nameserver 192.0.2.1#x\n"s, "nameserver 192.0.2.1\nsearch a.example # b\n"s,
        "nameserver 192.0.2.1\noptions ndots:2;x\n"s, "nameserver 192.0.2.1\nsortlist 192.0.2.0\r\n"s,
        "nameserver 192.0.2.1\nnameserver 127.1\n"s}) {
    INFO(file);
    const Content content = judging.of(file);
    CHECK(content.violations == Violations{Violation::misread});
    CHECK(judging.of(content.wanted, file).violations.empty());
    CHECK(judging.of(content.wanted).violations.empty());
  }
}

TEST_CASE("the writer is who the document's header names") {
  CHECK(Judging{}.of("# Generated by NetworkManager\nnameserver 192.0.2.1\n").writer == "NetworkManager");
  CHECK(Judging{}.absent().writer.empty());
}

}  // namespace
}  // namespace rg
