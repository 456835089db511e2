// Search and options: when they are ours to change, and to what.
#include "lib/policy/verbs.hpp"
#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"

namespace rg {
namespace {

using namespace test;

TEST_CASE("search is the writer's where no verb and no upstream is given") {
  const Content content = Judging{}.of("search a.example a.example .\nnameserver 192.0.2.1\n");
  CHECK(content.violations.empty());
  CHECK(content.want.search == Texts{"a.example", "a.example", "."});
  CHECK(content.learned.search == Texts{"a.example"});
}

TEST_CASE("each verb makes search ours, and so does an upstream") {
  CHECK_FALSE(search_is_ours(Policy{}));
  Policy policy;
  policy.upstream = {"/x"};
  CHECK(search_is_ours(policy));
  const auto ours = [](auto change) {
    Policy changed;
    change(changed.search);
    return search_is_ours(changed);
  };
  CHECK(ours([](SearchPolicy& search) { search.first = {"x"}; }));
  CHECK(ours([](SearchPolicy& search) { search.last = {"x"}; }));
  CHECK(ours([](SearchPolicy& search) { search.only = Texts{}; }));
  CHECK(ours([](SearchPolicy& search) { search.deny = {"x"}; }));
  CHECK(ours([](SearchPolicy& search) { search.max = 6; }));
  CHECK(ours([](SearchPolicy& search) { search.when_empty = WhenEmpty::last_good; }));
  CHECK(ours([](SearchPolicy& search) { search.fallback = {"x"}; }));
  CHECK(ours([](SearchPolicy& search) { search.merge_lines = true; }));
}

TEST_CASE("search: first, the writer's, last; each once, without case and final dot") {
  Judging judging;
  judging.policy.search.first = {"svc.cluster.example", "cluster.example"};
  judging.policy.search.last = {"last.example"};
  const Content content = judging.of("search Example.com last.example example.com. CLUSTER.example\n");
  CHECK(content.want.search == Texts{"svc.cluster.example", "cluster.example", "Example.com", "last.example"});
  CHECK(content.learned.search == Texts{"Example.com"});
  CHECK(content.violations == Violations{Violation::search});
  CHECK(judging.of("search SVC.cluster.example. cluster.example last.example\n").violations.empty());
}

TEST_CASE("a domain line behind the search line wins, and goes") {
  Judging judging;
  judging.policy.search.only = Texts{"example.com", "example.net"};
  const Content content = judging.of("search example.com example.net\ndomain isp.example.org\nnameserver 192.0.2.1\n");
  CHECK(content.violations == Violations{Violation::search});
  CHECK(content.wanted.find("domain") == std::string::npos);
  CHECK(judging.of("domain x.example\nsearch example.com example.net\nnameserver 192.0.2.1\n").violations.empty());
}

TEST_CASE("only with an empty list: no search line") {
  Judging judging;
  judging.policy.search.only = Texts{};
  const Content content = judging.of("search .\nnameserver 127.0.0.1\n");
  CHECK(content.want.search.empty());
  CHECK(content.wanted.find("search") == std::string::npos);
}

TEST_CASE("merge_lines takes the domains of every line, otherwise the last one alone counts") {
  Judging judging;
  judging.policy.search.first = {"example.com"};
  const std::string_view file = "search vpn.example.net\ndomain d.example\nsearch example.com\n";
  CHECK(judging.of(file).want.search == Texts{"example.com"});
  CHECK(judging.of(file).violations.empty());
  judging.policy.search.merge_lines = true;
  CHECK(judging.of(file).want.search == Texts{"example.com", "vpn.example.net", "d.example"});
  CHECK(judging.of(file).violations == Violations{Violation::search});
}

TEST_CASE("max cuts the learned domains, deny takes them out") {
  Judging judging;
  judging.policy.search.max = 6;
  CHECK(judging.of("search a.x b.x c.x a.x b.x c.x d.x e.x f.x g.x\n").want.search ==
        Texts{"a.x", "b.x", "c.x", "d.x", "e.x", "f.x"});
  judging.policy.search.max = 2;
  judging.policy.search.last = {"last.x"};
  judging.policy.search.deny = {"A.X."};
  CHECK(judging.of("search a.x b.x c.x\n").want.search == Texts{"b.x", "last.x"});
}

TEST_CASE("illegal names are dropped: with one of them musl sends no query at all") {
  const std::string label(63, 'l');
  CHECK(is_searchable(label + ".example"));
  CHECK(is_searchable("example."));
  CHECK(is_searchable("_tcp.example"));
  for (const std::string& name :
       {std::string("."), std::string(), std::string("a..example"), std::string(".example"), std::string("a.example.."),
        label + "x.example", label + "." + label + "." + label + "." + label}) {
    INFO(name);
    CHECK_FALSE(is_searchable(name));
  }
  Judging judging;
  judging.policy.search.first = {"a.example"};
  CHECK(judging.of("search a..example b.example " + label + "x\n").want.search == Texts{"a.example", "b.example"});
}

TEST_CASE("a search list that makes glibc abort is never written") {
  // Entries so far take 56 bytes or less and the next one doesn't fit into 256 with them (measured: 57 is safe).
  const auto name = [](std::size_t size) {
    std::string text;
    while (text.size() + 64 < size) text += std::string(62, 'l') + ".";
    return text + std::string(size - text.size(), 'e');
  };
  REQUIRE(is_searchable(name(246)));
  REQUIRE(name(246).size() == 246);
  Judging judging;
  judging.policy.search.first = {"a.example"};
  CHECK(judging.of("search " + name(246) + " b.example\n").want.search == Texts{"a.example", "b.example"});
  CHECK(judging.of("search " + name(245) + " b.example\n").want.search == Texts{"a.example", name(245), "b.example"});
  judging.policy.search.first = {std::string(55, 'a')};
  CHECK(judging.of("search " + name(200) + "\n").want.search.size() == 1);
  judging.policy.search.first = {std::string(56, 'a')};
  CHECK(judging.of("search " + name(200) + "\n").want.search.size() == 2);
}

TEST_CASE("search when the writer left none: `search .` is none") {
  Judging judging;
  judging.policy.search.when_empty = WhenEmpty::last_good;
  judging.memory.search.values = {"internal.example.net", "denied.example"};
  judging.policy.search.deny = {"denied.example"};
  for (const char* file : {"# No DNS servers known.\n", "search .\n", "search\n", "search denied.example\n"}) {
    INFO(file);
    CHECK(judging.of(file).want.search == Texts{"internal.example.net"});
    CHECK(judging.of(file).filled);
  }
  judging.memory = {};
  judging.policy.search.fallback = {"fallback.example"};
  CHECK(judging.of("search .\n").want.search == Texts{"fallback.example"});
}

TEST_CASE("`search .` stays where nothing takes its place: without a line the host name's domain is searched") {
  Judging judging;
  judging.policy.search.max = 6;
  CHECK(judging.of("search .\n").violations.empty());
  judging.policy.search.deny = {"."};
  CHECK(judging.of("search .\n").want.search.empty());
}

TEST_CASE("options are the writer's where no verb is given") {
  const Content content = Judging{}.of("options ndots:2 ndots:3\noptions edns0\n");
  CHECK(content.violations.empty());
  CHECK(content.want.options == Texts{"ndots:2", "ndots:3", "edns0"});
}

TEST_CASE("set options stand behind the learned ones and replace another value of theirs") {
  Judging judging;
  judging.policy.options.set = {"timeout:2", "edns0"};
  const Content content = judging.of("options timeout:5 trust-ad edns0\noptions ndots:2\n");
  CHECK(content.want.options == Texts{"trust-ad", "ndots:2", "timeout:2", "edns0"});
  CHECK(content.learned.options == Texts{"trust-ad", "ndots:2"});
  CHECK(content.violations == Violations{Violation::options});
}

TEST_CASE("options: only, deny, max, one value an option") {
  Judging judging;
  judging.policy.options.deny = {"rotate", "attempts"};
  CHECK(judging.of("options rotate attempts:3 ndots:5 edns0 ndots:2\n").want.options == Texts{"ndots:2", "edns0"});
  judging.policy.options.max = 1;
  CHECK(judging.of("options ndots:5 edns0\n").want.options == Texts{"ndots:5"});
  judging.policy.options = {};
  judging.policy.options.only = Texts{};
  CHECK(judging.of("options edns0 trust-ad\n").want.options.empty());
  judging.policy.options.only = Texts{"timeout:2"};
  CHECK(judging.of("options edns0\n").want.options == Texts{"timeout:2"});
}

TEST_CASE("options when the writer left none") {
  Judging judging;
  judging.policy.options.when_empty = WhenEmpty::last_good;
  judging.policy.options.set = {"timeout:1"};
  judging.memory.options.values = {"ndots:5", "timeout:9"};
  CHECK(judging.of("nameserver 192.0.2.1\n").want.options == Texts{"ndots:5", "timeout:1"});
  CHECK(judging.of("options timeout:3\n").want.options == Texts{"ndots:5", "timeout:1"});
  CHECK(judging.of("options edns0\n").want.options == Texts{"edns0", "timeout:1"});
  judging.policy.options.when_empty = WhenEmpty::fallback;
  judging.policy.options.fallback = {"rotate"};
  CHECK(judging.of("").want.options == Texts{"rotate", "timeout:1"});
}

}  // namespace
}  // namespace rg
