// An edited copy of our file, given back without what we had put there.
#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"

namespace rg {
namespace {

using namespace test;

const std::string kComment = "# resolv-guardian keeps the order\n";

TEST_CASE("without ours: our comment and our servers go, all else stays byte for byte") {
  Policy policy = with_first({"127.0.0.1"}).policy;
  policy.nameservers.last = servers({"192.0.2.9"});
  const std::string others = "; by hand\nnameserver\t192.0.2.66\nsearch  corp.example\nfoo bar";
  CHECK(without_ours(policy, {}, kComment + "nameserver 127.0.0.1\n" + others) == others);
  CHECK(without_ours(policy, {}, "nameserver 192.0.2.9\nnameserver x\n") == "nameserver x\n");
  CHECK(without_ours(policy, {}, others) == others);
}

TEST_CASE("without ours: an address of this host at that time") {
  Memory memory;
  memory.source_addresses = servers({"10.0.0.7"});
  CHECK(without_ours({}, memory, "nameserver 10.0.0.7\nnameserver 10.0.0.8\n") == "nameserver 10.0.0.8\n");
}

TEST_CASE("without ours: domains and options keep the writer's") {
  Policy policy;
  policy.search.first = {"cluster.example"};
  policy.options.set = {"timeout:1"};
  CHECK(without_ours(policy, {}, "search Cluster.Example. corp.example\noptions timeout:1 edns0\n") ==
        "search corp.example\noptions edns0\n");
  CHECK(without_ours(policy, {}, "domain cluster.example\noptions timeout:3\n") == "");
}

TEST_CASE("a copy of ours is known by our comment") {
  CHECK(is_copy_of_ours("search a.example\n" + kComment));
  CHECK_FALSE(is_copy_of_ours("nameserver 127.0.0.1\n"));
}

}  // namespace
}  // namespace rg
