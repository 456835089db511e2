// source-address-of: from what is written to addresses, and what stands in the way.
#include "lib/policy/resolve.hpp"

#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

SourceAddressOf towards(const std::string& destination) { return {Nameserver::parse(destination).value()}; }
Address plain(const std::string& address) { return Nameserver::parse(address).value(); }

// The kernel of a host whose address towards every 192.0.2.x is `own`; it has no route elsewhere.
AskSource host(const std::string& own) {
  return [own](const SourceAddressOf& source) -> SourceAnswer {
    const bool routed = source.destination.text().starts_with("192.0.2.");
    if (!routed) return std::string("Network is unreachable");
    return *Nameserver::parse(own);
  };
}

NameserverPolicy written(std::vector<Address> first, std::vector<Address> last = {}, std::vector<Deny> deny = {}) {
  NameserverPolicy policy;
  policy.written.emplace();
  policy.written->first = std::move(first);
  policy.written->last = std::move(last);
  policy.written->deny = std::move(deny);
  take_written(policy);
  return policy;
}

TEST_CASE("resolve: lists of plain addresses are the policy's own at once") {
  const NameserverPolicy policy = written({plain("127.0.0.1")}, {plain("192.0.2.9")}, {DenyWord::link_local});
  CHECK_FALSE(policy.written);
  CHECK(texts(policy.first) == Texts{"127.0.0.1"});
  CHECK(texts(policy.last) == Texts{"192.0.2.9"});
  CHECK(policy.deny == std::vector<Deny>{DenyWord::link_local});
  CHECK(as_written(policy).first == std::vector<Address>{plain("127.0.0.1")});
}

TEST_CASE("resolve: each address stands in the place of what was written") {
  NameserverPolicy policy = written({plain("127.0.0.1"), towards("192.0.2.5"), plain("203.0.113.1")});
  CHECK(texts(policy.first) == Texts{"127.0.0.1", "203.0.113.1"});  // nothing is known yet
  const Resolved resolved = resolve(policy, host("10.0.0.7"));
  CHECK_FALSE(resolved.problem);
  CHECK(resolved.changed);
  CHECK(texts(policy.first) == Texts{"127.0.0.1", "10.0.0.7", "203.0.113.1"});
  CHECK(texts(policy.written->told) == Texts{"10.0.0.7"});
  CHECK_FALSE(resolve(policy, host("10.0.0.7")).changed);
  CHECK(resolve(policy, host("10.0.0.8")).changed);
  CHECK(texts(policy.first) == Texts{"127.0.0.1", "10.0.0.8", "203.0.113.1"});
  CHECK(texts(policy.written->told) == Texts{"10.0.0.8"});
}

TEST_CASE("resolve: in `only`, `deny` and `fallback` too") {
  NameserverPolicy policy;
  policy.written.emplace();
  policy.written->only = {towards("192.0.2.5")};
  take_written(policy);
  CHECK(policy.only == std::optional<std::vector<Nameserver>>(std::in_place));
  CHECK(resolve(policy, host("fe80::1%eth0")).changed);
  CHECK(texts(*policy.only) == Texts{"fe80::1%eth0"});

  policy = {};
  policy.written.emplace();
  policy.written->deny = {DenyWord::loopback, towards("192.0.2.5")};
  policy.written->fallback = {towards("192.0.2.5"), plain("192.0.2.53")};
  take_written(policy);
  CHECK(policy.deny == std::vector<Deny>{DenyWord::loopback});
  CHECK(resolve(policy, host("10.0.0.7")).changed);
  CHECK(policy.deny == std::vector<Deny>{DenyWord::loopback, *Prefix::parse("10.0.0.7")});
  CHECK(texts(policy.fallback) == Texts{"10.0.0.7", "192.0.2.53"});
}

TEST_CASE("resolve: what can't be told leaves everything as it was told last") {
  NameserverPolicy policy = written({towards("192.0.2.5")}, {towards("198.51.100.1")});
  const Resolved resolved = resolve(policy, host("10.0.0.7"));
  CHECK_FALSE(resolved.changed);
  CHECK(resolved.problem == Unresolved{towards("198.51.100.1"), std::nullopt, "Network is unreachable"});
  CHECK(policy.first.empty());

  policy = written({towards("192.0.2.5")});
  CHECK(resolve(policy, host("10.0.0.7")).changed);
  const auto nothing = [](const SourceAddressOf&) -> SourceAnswer { return std::string("gone"); };
  CHECK(resolve(policy, nothing).problem->why == "gone");
  CHECK(texts(policy.first) == Texts{"10.0.0.7"});
}

TEST_CASE("resolve: one address in two places") {
  NameserverPolicy policy = written({towards("192.0.2.5"), towards("192.0.2.6")});
  CHECK(resolve(policy, host("10.0.0.7")).problem ==
        Unresolved{towards("192.0.2.6"), *Nameserver::parse("10.0.0.7"), "first"});
  policy = written({plain("10.0.0.7")}, {towards("192.0.2.5")});
  CHECK(resolve(policy, host("10.0.0.7")).problem->why == "first");
  CHECK_FALSE(resolve(policy, host("10.0.0.8")).problem);
  policy = written({towards("192.0.2.5")}, {plain("10.0.0.7")});
  CHECK(resolve(policy, host("10.0.0.7")).problem->why == "last");
  CHECK(policy.first.empty());
}

TEST_CASE("resolve: an address that is denied") {
  NameserverPolicy policy = written({towards("192.0.2.5")}, {}, {DenyWord::loopback});
  CHECK(resolve(policy, host("127.0.0.1")).problem ==
        Unresolved{towards("192.0.2.5"), *Nameserver::parse("127.0.0.1"), "deny"});
  CHECK_FALSE(resolve(policy, host("10.0.0.7")).problem);
  policy = written({plain("10.0.0.7")}, {}, {towards("192.0.2.5")});
  CHECK(resolve(policy, host("10.0.0.7")).problem ==
        Unresolved{towards("192.0.2.5"), *Nameserver::parse("10.0.0.7"), "first", true});
  CHECK_FALSE(resolve(policy, host("10.0.0.8")).problem);
}

TEST_CASE("resolve: what is only denied isn't ours") {
  NameserverPolicy policy = written({plain("127.0.0.1")}, {}, {towards("192.0.2.5")});
  policy.written->fallback = {towards("192.0.2.6")};
  CHECK_FALSE(resolve(policy, [](const SourceAddressOf& source) -> SourceAnswer {
                return *Nameserver::parse(source == towards("192.0.2.5") ? "10.0.0.7" : "10.0.0.8");
              }).problem);
  CHECK(texts(policy.written->told) == Texts{"10.0.0.8"});
}

TEST_CASE("resolve: the servers that must answer") {
  std::vector<Requirement> requirements(2);
  requirements[0].nameserver = *Nameserver::parse("203.0.113.1");
  requirements[1].source = towards("192.0.2.5");
  CHECK_FALSE(resolve(requirements, host("10.0.0.7")));
  CHECK(requirements[0].nameserver.text() == "203.0.113.1");
  CHECK(requirements[1].nameserver.text() == "10.0.0.7");
  requirements[1].source = towards("198.51.100.1");
  CHECK(resolve(requirements, host("10.0.0.7"))->source == towards("198.51.100.1"));
}

TEST_CASE("resolve: each destination is asked once") {
  NameserverPolicy policy = written({towards("192.0.2.5")});
  policy.written->fallback = {towards("192.0.2.5")};
  int asked = 0;
  (void)resolve(policy, [&](const SourceAddressOf&) -> SourceAnswer {
    ++asked;
    return *Nameserver::parse("10.0.0.7");
  });
  CHECK(asked == 1);
}

TEST_CASE("former source addresses are learned from nobody's copy of our own file") {
  NameserverPolicy lists = written({towards("192.0.2.5")});
  Judging judging;
  (void)resolve(lists, host("10.0.0.7"));
  CHECK(note_source_addresses(judging.memory, lists));
  CHECK_FALSE(note_source_addresses(judging.memory, lists));
  (void)resolve(lists, host("10.0.0.8"));
  CHECK(note_source_addresses(judging.memory, lists));
  judging.policy.nameservers = lists;
  const Content content = judging.of("nameserver 10.0.0.7\nnameserver 192.0.2.53\n");
  CHECK(texts(content.want.nameservers) == Texts{"10.0.0.8", "192.0.2.53"});
  CHECK(texts(content.learned.nameservers) == Texts{"192.0.2.53"});
  CHECK(content.dropped.empty());
  judging.memory.source_addresses.clear();
  CHECK(texts(judging.of("nameserver 10.0.0.7\n").learned.nameservers) == Texts{"10.0.0.7"});
}

TEST_CASE("so many former source addresses are kept") {
  NameserverPolicy lists = written({towards("192.0.2.5")});
  Memory memory;
  for (int i = 0; i < 70; ++i) {
    (void)resolve(lists, host("10.0.1." + std::to_string(i)));
    CHECK(note_source_addresses(memory, lists));
  }
  CHECK(memory.source_addresses.size() == kMaxSourceAddresses);
  CHECK(memory.source_addresses.back().text() == "10.0.1.69");
}

}  // namespace
}  // namespace rg::test
