// The address of this host changes: its former one is replaced, and never becomes the writer's.
#include "lib/policy/resolve.hpp"
#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

const std::string kComment = "# resolv-guardian keeps the order of these nameservers";

struct Host : World {
  Host() {
    guarded.policy.nameservers = {};
    guarded.policy.nameservers.written.emplace().first = {SourceAddressOf{*Nameserver::parse("192.0.2.5")}};
    guarded.policy.comment = true;
    is("10.0.0.7");
  }
  // As the lane does before each pass.
  void is(const std::string& address) {
    (void)resolve(guarded.policy.nameservers,
                  [&](const SourceAddressOf&) -> SourceAnswer { return *Nameserver::parse(address); });
    note_source_addresses(guarded.memory, guarded.policy.nameservers);
  }
  Texts servers() {
    (void)pass();
    return texts(nameservers(parse(bytes())));
  }
};

TEST_CASE("source address: another one takes the place of the former, and what was learned stays") {
  Host host;
  host.files.file(kPath, theirs("192.0.2.53"));
  CHECK(host.servers() == Texts{"10.0.0.7", "192.0.2.53"});
  host.is("10.0.0.8");
  CHECK(host.servers() == Texts{"10.0.0.8", "192.0.2.53"});
  CHECK(host.last_good() == Texts{"192.0.2.53"});
  CHECK(host.guarded.memory.document->bytes == theirs("192.0.2.53"));
  host.is("10.0.0.7");
  CHECK(host.servers() == Texts{"10.0.0.7", "192.0.2.53"});
}

TEST_CASE("source address: an editor's copy of our own file names it, and it still isn't the writer's") {
  Host host;
  host.files.file(kPath, theirs("192.0.2.53"));
  CHECK(host.servers() == Texts{"10.0.0.7", "192.0.2.53"});
  host.files.file(kPath, "options edns0\n" + host.bytes());
  CHECK(host.servers() == Texts{"10.0.0.7", "192.0.2.53"});
  CHECK(host.guarded.memory.document->bytes.find(kComment) != std::string::npos);
  SECTION("while it runs") {}
  SECTION("over a restart") {
    const Memory memory = host.guarded.memory;
    const Policy policy = host.guarded.policy;
    host.guarded = Guarded{};
    host.guarded.memory = memory;
    host.guarded.policy = policy;
    host.guarded.policy.nameservers.first.clear();
  }
  host.is("10.0.0.8");
  CHECK(host.servers() == Texts{"10.0.0.8", "192.0.2.53"});
  CHECK(host.last_good() == Texts{"192.0.2.53"});
}

TEST_CASE("source address: a writer who names a former one means it") {
  Host host;
  host.files.file(kPath, theirs("192.0.2.53"));
  CHECK(host.servers() == Texts{"10.0.0.7", "192.0.2.53"});
  host.is("10.0.0.8");
  CHECK(host.servers() == Texts{"10.0.0.8", "192.0.2.53"});
  host.files.file(kPath, theirs("10.0.0.7"));  // that host is a DNS server now
  CHECK(host.servers() == Texts{"10.0.0.8", "10.0.0.7"});
}

}  // namespace
}  // namespace rg::test
