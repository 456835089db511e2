// What holds for every policy and every file, however broken.
#include <rapidcheck.h>

#include <algorithm>

#include "lib/policy/verbs.hpp"
#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"
#include "test/support/resolv_conf_gen.hpp"

namespace rg {
namespace {

using namespace test;

Texts some(const Texts& pool) { return *rc::gen::resize(4, rc::gen::unique<Texts>(rc::gen::elementOf(pool))); }

const Texts kServers = {"192.0.2.1",   "192.0.2.2",    "192.0.2.3", "198.51.100.1",
                        "2001:db8::1", "fe80::1%eth0", "127.0.0.1"};
const Texts kDomains = {"a.example", "b.example", "c.example", "d.example"};
const Texts kOptions = {"ndots:2", "ndots:5", "timeout:1", "edns0", "trust-ad"};

WhenEmpty any_when_empty() { return *rc::gen::element(WhenEmpty::last_good, WhenEmpty::fallback, WhenEmpty::leave); }

bool any_flag() { return *rc::gen::arbitrary<bool>(); }

/// Without what the configuration refuses: `only` beside another verb, more of ours than `max`, required and denied.
NameserverPolicy any_nameservers() {
  NameserverPolicy policy;
  policy.max = *rc::gen::element<std::size_t>(0, 1, 3, 3, 5);
  Texts ours = some(kServers);
  if (policy.max != 0 && ours.size() > policy.max) ours.resize(policy.max);
  if (*rc::gen::inRange(0, 5) == 0) {
    policy.only = servers(ours);
    return policy;
  }
  const auto split = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, ours.size() + 1));
  policy.first = servers(Texts(ours.begin(), ours.begin() + split));
  policy.last = servers(Texts(ours.begin() + split, ours.end()));
  for (const Deny& deny : denies(some(kServers))) policy.deny.push_back(deny);
  if (any_flag()) policy.deny.emplace_back(DenyWord::loopback);
  const auto hits_ours = [&](const Deny& deny) {
    NameserverPolicy one;
    one.deny = {deny};
    return std::any_of(ours.begin(), ours.end(),
                       [&](const auto& text) { return is_denied(one, *Nameserver::parse(text)); });
  };
  std::erase_if(policy.deny, hits_ours);
  if (any_flag()) policy.prefer = prefixes({"198.51.100.0/24", "2001:db8::/32"});
  policy.when_empty = any_when_empty();
  policy.fallback = servers(some(kServers));
  return policy;
}

SearchPolicy any_search() {
  SearchPolicy policy;
  if (any_flag()) return policy;
  if (*rc::gen::inRange(0, 4) == 0) {
    policy.only = some(kDomains);
    return policy;
  }
  policy.first = some({"a.example", "b.example"});
  policy.last = some({"c.example"});
  policy.deny = some({"d.example", "n.example", "."});
  policy.max = *rc::gen::element<std::size_t>(0, 4, 6);
  policy.when_empty = any_when_empty();
  policy.fallback = some(kDomains);
  policy.merge_lines = any_flag();
  return policy;
}

OptionsPolicy any_options() {
  OptionsPolicy policy;
  if (any_flag()) return policy;
  if (*rc::gen::inRange(0, 4) == 0) {
    policy.only = some({"ndots:2", "edns0"});
    return policy;
  }
  policy.set = some({"timeout:2", "edns0"});
  policy.deny = some({"trust-ad"});
  policy.max = *rc::gen::element<std::size_t>(0, 3);
  policy.when_empty = any_when_empty();
  policy.fallback = some({"ndots:5"});
  return policy;
}

Judging any_judging() {
  Judging judging;
  judging.policy.nameservers = any_nameservers();
  judging.policy.search = any_search();
  judging.policy.options = any_options();
  judging.policy.comment = any_flag();
  judging.memory.nameservers.values = servers(some(kServers));
  judging.memory.search.values = some(kDomains);
  judging.memory.options.values = some(kOptions);
  if (any_flag()) {
    judging.policy.upstream = {"/run/x"};
    judging.policy.upstream_when = any_flag() ? UpstreamWhen::always : UpstreamWhen::none_left;
    judging.upstream = {{"x", *nasty_file(), false},
                        {"2", "DNS=192.0.2.2 fe80::9\nDOMAINS=b.example ~c.example\n", any_flag()}};
  }
  return judging;
}

/// Files that mostly make sense, and files that don't.
std::string any_file() {
  if (any_flag()) return *nasty_file();
  std::string file;
  const int lines = *rc::gen::inRange(0, 10);
  for (int i = 0; i < lines; ++i) {
    file += *rc::gen::element<std::string>(
        "nameserver 192.0.2.1\n", "nameserver 192.0.2.2 # x\n", "nameserver 198.51.100.1\n", "nameserver 127.0.0.1\n",
        "nameserver fe80::1%eth0\n", "nameserver 2001:DB8::1\r\n", "nameserver bogus\n", "nameserver 127.1\n",
        "search a.example x.example .\n", "domain d.example\n", "search .\n", "options ndots:2 edns0\n",
        "options ndots:5\n", "# comment\n", "sortlist 192.0.2.0\r\n", "\n", "unknown\n");
  }
  return file;
}

bool reads_as(const std::string& bytes, const Lists& want) {
  const ResolvConf conf = parse(bytes);
  return nameservers(conf) == want.nameservers && search(conf) == want.search && options(conf) == want.options;
}

TEST_CASE("what is written holds: restoring twice changes nothing") {
  CHECK(rc::check("the document stays", [] {
    const Judging judging = any_judging();
    const std::string file = any_file();
    const Content content = judging.of(file);
    if (content.violations.empty()) return;
    RC_ASSERT(reads_as(content.wanted, content.want));
    // In brackets: RapidCheck's operators don't stop at the first half.
    RC_ASSERT((content.wanted.empty() || content.wanted.back() == '\n'));
    const Content again = judging.of(content.wanted, file);
    RC_ASSERT(again.violations.empty());
    RC_ASSERT(again.want == content.want);
    RC_ASSERT(again.learned == content.learned);
  }));
  CHECK(rc::check("what was written is taken for the writer's", [] {
    Judging judging = any_judging();
    // Two things only the remembered document tells: whether it had a server though max left none of them in ours, by
    // which upstream is asked or its domains are taken, and that a fallback was no learned one, which prefer would have
    // sorted.
    judging.policy.upstream_when = UpstreamWhen::always;
    judging.policy.nameservers.prefer.clear();
    const std::string file = any_file();
    const Content content = judging.of(file);
    if (content.violations.empty()) return;
    const bool kept = std::any_of(content.servers.begin(), content.servers.end(),
                                  [](const SaidServer& one) { return one.origin == Origin::writer; });
    if (!content.learned.nameservers.empty() && content.source != Source::upstream && !kept) return;
    const Content again = judging.of(content.wanted);
    RC_LOG() << file << "\nwritten:\n" << content.wanted << "\nthen:\n" << again.wanted;
    RC_ASSERT(again.violations.empty());
    RC_ASSERT(again.want == content.want);
  }));
  CHECK(rc::check("nobody's file", [] {
    const Judging judging = any_judging();
    const Content content = judging.absent();
    RC_ASSERT(content.nothing_to_write == content.violations.empty());
    if (content.violations.empty()) return;
    RC_ASSERT(judging.of(content.wanted, std::nullopt).violations.empty());
  }));
}

TEST_CASE("a file without violations reads exactly as wanted") {
  CHECK(rc::check("no violation, no difference", [] {
    const Content content = any_judging().of(any_file());
    const bool same_servers = content.read.nameservers == content.want.nameservers;
    if (content.violations.empty()) RC_ASSERT((same_servers && content.read.options == content.want.options));
    if (!same_servers) RC_ASSERT(!content.violations.empty());
    RC_ASSERT(std::is_sorted(content.violations.begin(), content.violations.end()));
  }));
}

TEST_CASE("the required servers stand first and last, within max, each server once, whatever the writer left") {
  CHECK(rc::check("first and last", [] {
    const Judging judging = any_judging();
    const auto& policy = judging.policy.nameservers;
    const Content content = judging.of(any_file());
    const auto& want = content.want.nameservers;
    if (policy.only) {
      RC_ASSERT(want == *policy.only);
      return;
    }
    RC_ASSERT(want.size() >= policy.first.size() + policy.last.size());
    RC_ASSERT(std::equal(policy.first.begin(), policy.first.end(), want.begin()));
    RC_ASSERT(std::equal(policy.last.rbegin(), policy.last.rend(), want.rbegin()));
    RC_ASSERT((policy.max == 0 || want.size() <= policy.max));
    RC_ASSERT(content.servers.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      RC_ASSERT(content.servers[i].server == want[i]);
      RC_ASSERT(std::count(want.begin(), want.end(), want[i]) == 1);
    }
  }));
}

template <class T, class ListPolicy>
bool none_denied(const ListPolicy& policy, const std::vector<T>& list) {
  return std::none_of(list.begin(), list.end(), [&](const T& one) { return is_denied(policy, one); });
}

TEST_CASE("nothing denied survives, nor is it learned or remembered") {
  CHECK(rc::check("deny", [] {
    const Judging judging = any_judging();
    const Policy& policy = judging.policy;
    const Content content = judging.of(any_file());
    Memory memory = judging.memory;
    forget_denied(memory, policy);
    remember(memory, content, WallTime{});
    for (const Lists& lists : {content.want, content.learned}) {
      RC_ASSERT(none_denied(policy.nameservers, lists.nameservers));
      RC_ASSERT(none_denied(policy.search, lists.search));
      RC_ASSERT(none_denied(policy.options, lists.options));
    }
    RC_ASSERT(none_denied(policy.nameservers, memory.nameservers.values));
    RC_ASSERT(none_denied(policy.search, memory.search.values));
    RC_ASSERT(none_denied(policy.options, memory.options.values));
  }));
}

TEST_CASE("a permutation of the writer's servers permutes only them") {
  CHECK(rc::check("order", [] {
    Judging judging = any_judging();
    judging.policy.nameservers.max = 0;
    judging.policy.nameservers.prefer.clear();
    judging.policy.upstream.clear();
    Texts written = some(kServers);
    const auto file = [](const Texts& addresses) {
      std::string bytes = "# head\nsearch a.example\n";
      for (const auto& address : addresses) bytes += "nameserver " + address + "\n";
      return bytes;
    };
    const Content before = judging.of(file(written));
    std::reverse(written.begin(), written.end());
    const Content after = judging.of(file(written));
    auto learned = before.learned.nameservers;
    std::reverse(learned.begin(), learned.end());
    RC_ASSERT(after.learned.nameservers == learned);
    RC_ASSERT(after.want.search == before.want.search);
    RC_ASSERT(after.want.options == before.want.options);
    const auto& policy = judging.policy.nameservers;
    auto want = before.want.nameservers;
    if (!policy.only && !learned.empty()) {
      const auto middle = want.begin() + static_cast<std::ptrdiff_t>(policy.first.size());
      std::reverse(middle, want.end() - static_cast<std::ptrdiff_t>(policy.last.size()));
    }
    RC_ASSERT(after.want.nameservers == want);
  }));
}

TEST_CASE("the writer's comments and unknown lines survive, in their order") {
  CHECK(rc::check("lines", [] {
    const Judging judging = any_judging();
    std::string file;
    Texts others;
    const int lines = *rc::gen::inRange(0, 8);
    for (int i = 0; i < lines; ++i) {
      if (any_flag()) {
        file += any_flag() ? "nameserver 192.0.2.1\n" : "search b.example\n";
        continue;
      }
      others.push_back((any_flag() ? "# comment " : "unknown ") + std::to_string(i) + "\n");
      file += others.back();
    }
    const Content content = judging.of(file);
    if (content.violations.empty()) return;
    Texts left;
    for (const Line& line : parse(content.wanted).lines) {
      if (line.kind == Line::Kind::other && !line.text.starts_with(kCommentPrefix)) left.push_back(line.text);
    }
    RC_ASSERT(left == others);
  }));
}

}  // namespace
}  // namespace rg
