// What this machine's kernel says, and whom it concerns. Loopback is there on every machine.
#include "guardian/source_address.hpp"

#include "guardian/socket_address.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

Nameserver server(const std::string& text) { return Nameserver::parse(text).value(); }
SourceAddressOf towards(const std::string& text) { return {server(text)}; }

Policy guard(const std::string& path, const std::string& destination) {
  Policy policy;
  policy.path = path;
  policy.nameservers.written.emplace();
  policy.nameservers.written->first = {towards(destination)};
  return policy;
}

TEST_CASE("source address: towards this machine itself") {
  CHECK(source_address(towards("127.0.0.1")) == SourceAnswer{server("127.0.0.1")});
  CHECK(source_address(towards("127.1.2.3")) == SourceAnswer{server("127.0.0.1")});
}

TEST_CASE("source address: no such interface") {
  CHECK(source_address(towards("fe80::1%no-such-one")) == SourceAnswer{"there is no interface no-such-one"});
}

TEST_CASE("source address: nothing stays open") {
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 10; ++i) (void)source_address(towards(i % 2 == 0 ? "127.0.0.1" : "::1"));
  const int after = ::dup(0);
  ::close(after);
  CHECK(before == after);
}

TEST_CASE("socket addresses: there and back") {
  for (const char* text : {"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1%lo"}) {
    const auto address = socket_address(server(text), 53);
    REQUIRE(address);
    CHECK(from_socket_address(*address) == server(text));
  }
  CHECK(from_socket_address(*socket_address(server("fe80::1%999999"), 53)) == server("fe80::1%999999"));
}

TEST_CASE("source addresses: a guard is outdated once the answer is another one") {
  SourceAnswer answer = server("10.0.0.7");
  SourceAddresses addresses([&](const SourceAddressOf&) { return answer; });
  Policy policy = guard("/a", "192.0.2.5");
  CHECK(addresses.outdated().empty());
  CHECK(addresses.resolve(policy).changed);
  CHECK(policy.nameservers.first == std::vector{server("10.0.0.7")});
  CHECK(addresses.outdated().empty());
  answer = server("10.0.0.8");
  CHECK(addresses.outdated() == std::vector<std::string>{"/a"});
  CHECK(addresses.resolve(policy).changed);
  CHECK(addresses.outdated().empty());
  answer = "Network is unreachable";
  CHECK(addresses.outdated() == std::vector<std::string>{"/a"});
  CHECK(addresses.resolve(policy).problem);
  CHECK(addresses.outdated().empty());
  answer = server("10.0.0.8");
  CHECK(addresses.outdated() == std::vector<std::string>{"/a"});  // it came back while the guard knew of none
  addresses.forget("/a");
  CHECK(addresses.outdated().empty());
}

TEST_CASE("source addresses: a guard that is being told counts as outdated") {
  SourceAddresses* all = nullptr;
  std::vector<std::string> meanwhile;
  bool inside = false;
  SourceAddresses addresses([&](const SourceAddressOf&) -> SourceAnswer {
    if (!std::exchange(inside, true)) meanwhile = all->outdated();
    return server("10.0.0.7");
  });
  all = &addresses;
  Policy policy = guard("/a", "192.0.2.5");
  (void)addresses.resolve(policy);
  CHECK(meanwhile == std::vector<std::string>{"/a"});
}

TEST_CASE("source addresses: guards that name none are never asked for") {
  SourceAddresses addresses([](const SourceAddressOf&) -> SourceAnswer { throw std::logic_error("asked"); });
  Policy policy;
  CHECK_FALSE(addresses.resolve(policy).problem);
  CHECK(addresses.outdated().empty());
}

}  // namespace
}  // namespace rg::test
