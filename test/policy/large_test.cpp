// A file of 1 MiB, whatever stands in it, is judged and composed in about linear time: its writer can't stall us.
#include "lib/policy/verbs.hpp"
#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"
#include "test/support/cpu_time.hpp"

namespace rg {
namespace {

using namespace test;
/// Generous: with each entry compared with each other it was 10 s and more, without it is some 100 ms. Seconds of CPU.
constexpr double kLong = 3;

std::string address(std::size_t i) {
  return "10." + std::to_string(i >> 16U) + "." + std::to_string((i >> 8U) & 255U) + "." + std::to_string(i & 255U);
}

template <class Word>
std::string filled(std::string bytes, const std::string& before, Word word, const std::string& after) {
  for (std::size_t i = 0;; ++i) {
    const std::string next = before + word(i) + after;
    if (bytes.size() + next.size() + 1 > kMaxFileBytes - 1) break;
    bytes += next;
  }
  return bytes + "\n";
}

std::string number(std::size_t i) { return std::to_string(i); }
std::string servers_file() { return filled("", "nameserver ", address, "\n"); }
std::string options_file() { return filled("nameserver 192.0.2.1\noptions", " o", number, ":1"); }
std::string search_file() { return filled("nameserver 192.0.2.1\nsearch", " d", number, ".Example"); }

/// Everything that makes the verbs look at each entry.
Judging judging_all() {
  Judging judging = with_first({"127.0.0.1"});
  Policy& policy = judging.policy;
  policy.nameservers.max = 0;
  policy.nameservers.deny = denies({"203.0.113.0/24"});
  policy.nameservers.prefer = prefixes({"10.0.3.0/24"});
  policy.search.first = {"first.example"};
  policy.options.set = {"edns0"};
  return judging;
}

Content judged_soon(const Judging& judging, std::optional<std::string_view> disk,
                    std::optional<std::string_view> document) {
  const CpuTime time;
  Content content = judging.of(disk, document);
  CHECK(time.seconds() < kLong);
  return content;
}

/// The file as it was written, then what was composed from it.
Content holds_soon(const Judging& judging, const std::string& file) {
  REQUIRE(file.size() <= kMaxFileBytes);
  REQUIRE(file.size() > kMaxFileBytes - 512);
  Content content = judged_soon(judging, file, file);
  CHECK_FALSE(content.violations.empty());
  CHECK(content.dropped.size() <= kMaxDropped);
  judged_soon(judging, content.wanted, file);
  return content;
}

TEST_CASE("a megabyte of nameserver lines") {
  const std::string file = servers_file();
  const std::size_t count = nameservers(parse(file)).size();
  CHECK(count > 40'000);
  Content content = holds_soon(judging_all(), file);
  CHECK(content.want.nameservers.size() == count + 1);
  CHECK(content.want.nameservers[1].text() == "10.0.3.0");
  content = holds_soon(with_first({"127.0.0.1"}), file);
  CHECK(content.want.nameservers.size() == 3);
  CHECK(content.dropped.size() == kMaxDropped);
  CHECK(content.dropped.front() == DroppedServer{"10.0.0.2", Why::over_max});
}

TEST_CASE("a megabyte of one server, of servers that are denied, and of words that are none") {
  for (const std::string word : {"192.0.2.1", "203.0.113.9", "bogus"}) {
    INFO(word);
    const std::string file = filled(
        "", "nameserver ", [&](std::size_t) { return word; }, "\n");
    Judging judging = judging_all();
    judging.memory.nameservers.values = servers({"198.51.100.1"});
    CHECK(holds_soon(judging, file).dropped.size() == kMaxDropped);
  }
  const std::string file = "nameserver " + std::string(100'000, 'x') + "\n";
  CHECK(Judging{}.of(file).dropped.front().address == std::string(kMaxDroppedText, 'x'));
}

TEST_CASE("a megabyte of options and of search domains") {
  CHECK(holds_soon(judging_all(), options_file()).want.options.size() > 60'000);
  CHECK(holds_soon(judging_all(), search_file()).want.search.size() > 50'000);
  Judging merging = judging_all();
  merging.policy.search.merge_lines = true;
  CHECK(holds_soon(merging, filled("", "search d", number, "\n")).want.search.size() > 50'000);
}

TEST_CASE("a megabyte of domains too long for glibc") {
  // `x`, then domains that glibc 2.36 would abort at behind it: each is spared.
  const std::string label = "." + std::string(62, 'a');
  const std::string tail = label + label + label + "." + std::string(48, 'a');
  const auto long_domain = [](std::size_t i) { return std::to_string(100'000 + i); };
  const std::string file = filled("search 12345678.example", " ", long_domain, tail);
  CHECK(holds_soon(judging_all(), file).want.search == Texts{"first.example", "12345678.example"});
}

TEST_CASE("a megabyte of comments, of line ends, of NULs and of CRs") {
  const Judging judging = judging_all();
  holds_soon(judging, filled("", "# comment ", number, "\n"));
  holds_soon(judging, "#" + std::string(kMaxFileBytes - 2, 'G') + "\n");
  for (const char c : {'\n', '\0', '\r', '/', ' '}) {
    INFO("character " << int{c});
    holds_soon(judging, std::string(kMaxFileBytes - 1, c) + "\n");
    holds_soon(judging, "sortlist " + std::string(kMaxFileBytes - 10, c) + "\n");
    holds_soon(judging, "nameserver " + std::string(kMaxFileBytes - 12, c) + "\n");
  }
}

TEST_CASE("another's megabyte, the writer's document and upstream files of a megabyte each") {
  Judging judging = judging_all();
  judging.policy.upstream = {"/run/x"};
  std::string netif = filled("DNS=", "", address, " ");
  judging.upstream = {{"x", servers_file(), false}, {"2", netif, true}, {"y", search_file(), false}};
  std::string other = filled(
      "", "nameserver 172", [](auto i) { return address(i).substr(2); }, "\n");
  judged_soon(judging, other, options_file());
  judging.policy.nameservers.max = 3;
  judged_soon(judging, other, search_file());
}

TEST_CASE("long lists of the policy") {
  Judging judging;
  Policy& policy = judging.policy;
  policy.nameservers.max = 0;
  for (std::size_t i = 0; i < 20'000; ++i) {
    policy.nameservers.first.push_back(*Nameserver::parse(address(i)));
    policy.nameservers.deny.emplace_back(*Prefix::parse(address(20'000 + i)));
    policy.nameservers.prefer.push_back(*Prefix::parse(address(59'999 - i)));
    policy.search.first.push_back("d" + number(i) + ".example");
    policy.search.deny.push_back("d" + number(20'000 + i) + ".example");
    policy.options.set.push_back("o" + number(i));
    policy.options.deny.push_back("o" + number(20'000 + i));
  }
  Content content = holds_soon(judging, servers_file());
  CHECK(content.want.nameservers.size() > 25'000);
  CHECK(content.want.nameservers.back().text() == address(40'000));
  CHECK(ServerRules(policy.nameservers).denied(*Nameserver::parse("::ffff:" + address(20'001))));
  content = holds_soon(judging, search_file());
  CHECK(content.want.search[20'000] == "d40000.Example");
  content = holds_soon(judging, options_file());
  CHECK(content.want.options.front() == "o40000:1");

  Memory memory;
  memory.nameservers.values = nameservers(parse(servers_file()));
  const CpuTime time;
  CHECK(forget_denied(memory, policy));
  CHECK(time.seconds() < kLong);
}

TEST_CASE("what is remembered of a long list is bounded") {
  Memory memory;
  const Content content = Judging{}.of(servers_file());
  remember(memory, content, WallTime(std::chrono::seconds(1)));
  CHECK(memory.nameservers.values.size() == kMaxLastGood);
  CHECK(memory.nameservers.values.back().text() == address(kMaxLastGood - 1));
  const Memory before = memory;
  remember(memory, content, WallTime(std::chrono::seconds(2)));
  CHECK(memory == before);
}

}  // namespace
}  // namespace rg
