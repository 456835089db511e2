#include <rapidcheck.h>

#include <algorithm>
#include <string>

#include "lib/report/reasons.hpp"
#include "lib/report/status.hpp"
#include "test/report/examples.hpp"
#include "test/support/catch.hpp"
#include "test/support/cpu_time.hpp"

using namespace rg;

namespace {

GuardStatus guard(const std::string& path, State state, const std::string& reason = "") {
  GuardStatus guard;
  guard.path = path;
  guard.state = state;
  guard.reason = reason;
  return guard;
}

Status status_of(std::vector<GuardStatus> guards) {
  Status status;
  status.guards = std::move(guards);
  return status;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool harmless(const std::string& text, const std::string& kept = "") {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return (c >= ' ' && c <= '~') || kept.find(c) != std::string::npos; });
}

const std::string kHostile("\x1b[2J\n\r\0\x9b\xff", 9);

Event hostile_event() {
  Event event = example_event();
  event.path = event.writer.apparent = event.writer.comm = event.writer.exe = event.writer.unit = kHostile;
  event.outcome = event.reason = kHostile;
  event.before = "nameserver fe80::1%" + kHostile + "\n";
  event.after = kHostile + "\nnameserver fe80::1%\x9b\n";
  return event;
}

}  // namespace

TEST_CASE("status_line: which guards don't hold and why") {
  CHECK(status_line(status_of({})) == "holds: 0 of 0");
  CHECK(status_line(status_of({guard("/a", State::holds, "fine"), guard("/b", State::holds)})) == "holds: 2 of 2");
  CHECK(status_line(status_of({guard("/a", State::holds), guard("/b", State::blocked, "immutable: chattr -i /b"),
                               guard("/c", State::waiting)})) ==
        "holds: 1 of 3; /b is blocked: immutable: chattr -i /b; /c is waiting");
  Status refused = status_of({guard("/a", State::holds)});
  refused.config_error = "config.toml:3:1: found `pth`";
  CHECK(status_line(refused) == "holds: 1 of 1; configuration refused: config.toml:3:1: found `pth`");
}

TEST_CASE("status_line: only `holds` holds") {
  for (int i = 1; i <= static_cast<int>(State::failed); ++i) {
    CHECK(status_line(status_of({guard("/a", static_cast<State>(i))})).starts_with("holds: 0 of 1; /a is "));
  }
}

TEST_CASE("status_line: short, whatever there is to say") {
  std::vector<GuardStatus> guards(10'000, guard("/a", State::failed, std::string(5000, 'x')));
  guards[0].state = State::holds;
  const std::string line = status_line(status_of(guards));
  CHECK(line.size() < 4096);
  CHECK(line.starts_with("holds: 1 of 10000; /a is failed: x"));
  CHECK(line.ends_with("...; and 9991 more"));
}

TEST_CASE("status_text: a guard in a few lines") {
  CHECK(status_text(example_status()) ==
        "resolv-guardian 0.1.0 (pid 42, since 2026-11-30T19:25:06.000001Z): generation 3, reconciling, 0 of 1 guards "
        "hold\n"
        "configuration /etc/resolv-guardian/config.toml\n"
        "configuration refused, the one before it stays in force: config.toml:3:1: no\n"
        "\n"
        "/etc/resolv.conf: paused since 2026-11-30T19:25:07.000001Z, until it is resumed, attempt 1\n"
        "  reason       by hand\n"
        "  nameservers  127.0.0.1 (first), fe80::1%eth0 (last-good)\n"
        "  search       a.example\n"
        "  options      edns0\n"
        "  source       last-good; learned fe80::1%eth0 from NetworkManager at 2026-11-30T19:25:06.500000Z\n"
        "  dropped      192.0.2.9 (over-max)\n"
        "  counts       4 rewrites, 3 restores, 2 failures; the last restore took 84 us\n"
        "  to do        resolv-guardian resume /etc/resolv.conf\n");
}

TEST_CASE("status_text: what helps a guard that waits for the address of this host") {
  GuardStatus one = guard("/a", State::waiting);
  const Nameserver api = *Nameserver::parse("192.0.2.5"), own = *Nameserver::parse("10.0.0.7");
  one.reason = unresolved_reason({{api}, std::nullopt, "Network is unreachable"});
  CHECK(one.reason == "no source address towards 192.0.2.5: Network is unreachable");
  CHECK(contains(status_text(status_of({one})), "ip route get ADDRESS"));
  one.reason = unresolved_reason({{api}, own, "deny"});
  CHECK(one.reason == "the source address towards 192.0.2.5 is 10.0.0.7, which `deny` names");
  CHECK(contains(status_text(status_of({one})), "change the list that the reason names"));
  CHECK(unresolved_reason({{api}, own, "last"}) ==
        "the source address towards 192.0.2.5 is 10.0.0.7, which `last` names too");
  CHECK(unresolved_reason({{api}, own, "first", true}) ==
        "the source address towards 192.0.2.5 is 10.0.0.7, which `first` names, and it is denied");
  one.reason = requires_reason("192.0.2.1 refuses a.example (REFUSED)");
  CHECK(contains(status_text(status_of({one})), "dig @SERVER NAME"));
}

TEST_CASE("status_text: every state that needs somebody says what to do") {
  const auto text = [](State state) { return status_text(status_of({guard("/a", state, "because")})); };
  for (const State state :
       {State::settling, State::waiting, State::contested, State::paused, State::observing, State::failed}) {
    CHECK(contains(text(state), "  to do  "));
  }
  CHECK(!contains(text(State::holds), "to do"));
  CHECK(contains(text(State::holds), "nameservers  none\n"));
  CHECK(contains(text(State::blocked), "reason       because\n"));
  Status status = status_of({guard("/a", State::paused)});
  status.guards[0].paused_until = example_time();
  CHECK(contains(status_text(status), ", until 2026-11-30T19:25:06.000001Z\n"));
}

TEST_CASE("status: a server that the policy did not place has no origin") {
  Status status = status_of({guard("/a", State::settling)});
  status.guards[0].read.nameservers = {*Nameserver::parse("192.0.2.7")};
  CHECK(contains(status_text(status), "192.0.2.7 (not judged yet)"));
}

TEST_CASE("status: hostile names and contents stay text") {
  Status status = example_status();
  status.version = status.config_path = status.config_error = kHostile;
  GuardStatus& one = status.guards[0];
  one.path = one.reason = one.learned_writer = kHostile;
  one.read.search = one.read.options = {kHostile};
  one.dropped = {{kHostile, Why::invalid}};
  const std::size_t lines = static_cast<std::size_t>(std::count(kHostile.begin(), kHostile.end(), '\n'));
  REQUIRE(lines == 1);
  CHECK(harmless(status_text(status), "\n"));
  CHECK(harmless(status_line(status)));
  const std::string text = status_text(status), plain = status_text(example_status());
  CHECK(std::count(text.begin(), text.end(), '\n') == std::count(plain.begin(), plain.end(), '\n'));
}

TEST_CASE("event_text: one line for each kind") {
  Event event;
  event.kind = Event::Kind::restore;
  event.path = "/etc/resolv.conf";
  event.how = How::renamed;
  event.writer.apparent = "NetworkManager";
  event.violations = {Violation::required, Violation::order};
  event.before = "nameserver 192.0.2.1\n";
  event.after = "nameserver 127.0.0.1\nnameserver 192.0.2.1\n";
  event.took_us = 84;
  CHECK(event_text(event) ==
        "restore /etc/resolv.conf: rewritten by NetworkManager (renamed): required, order; "
        "reads 127.0.0.1, 192.0.2.1 (84 us)");
  event.reason = "something else must hold now";
  CHECK(event_text(event) ==
        "restore /etc/resolv.conf: something else must hold now: required, order; reads 127.0.0.1, 192.0.2.1 (84 us)");
  event.reason.clear();
  event.kind = Event::Kind::would_restore;
  CHECK(event_text(event) ==
        "would-restore /etc/resolv.conf: rewritten by NetworkManager (renamed): required, order; "
        "would read 127.0.0.1, 192.0.2.1");
  event.kind = Event::Kind::failure;
  event.outcome = "failed";
  event.reason = "rename: No space left on device";
  CHECK(event_text(event) ==
        "failure /etc/resolv.conf: rewritten by NetworkManager (renamed): required, order; "
        "failed: rename: No space left on device");
  event.how = How::unknown;
  event.violations.clear();
  CHECK(event_text(event) == "failure /etc/resolv.conf: failed: rename: No space left on device");
  event.kind = Event::Kind::state;
  CHECK(event_text(event) == "state /etc/resolv.conf: failed: rename: No space left on device");
  event.kind = Event::Kind::rewrite;
  event.violations.clear();
  event.how = How::written;
  event.reason.clear();
  CHECK(event_text(event) ==
        "rewrite /etc/resolv.conf: rewritten by NetworkManager (written); reads 127.0.0.1, 192.0.2.1");
  event.kind = Event::Kind::reload;
  event.path.clear();
  event.generation = 4;
  event.outcome = "applied";
  CHECK(event_text(event) == "reload: generation 4: applied");
}

TEST_CASE("event_text: how it came about and who did it") {
  Event event;
  event.path = "/a";
  event.violations = {Violation::absent};
  event.how = How::removed;
  CHECK(event_text(event) == "rewrite /a: removed: absent; reads no file");
  event.after = "# nothing\n";
  event.how = How::start;
  CHECK(event_text(event) == "rewrite /a: found at the start: absent; reads no nameserver");
  event.how = How::relinked;
  event.writer = {"dhcpcd", 7, "sh", "/bin/sh", "x.service"};
  CHECK(event_text(event) == "rewrite /a: changed by sh[7] of x.service (relinked): absent; reads no nameserver");
  event.writer = {"dhcpcd", 7, "", "", ""};
  CHECK(contains(event_text(event), "by process [7] "));
}

TEST_CASE("event_text: hostile names and contents stay one line, in every kind") {
  for (int kind = 0; kind <= static_cast<int>(Event::Kind::reload); ++kind) {
    Event event = hostile_event();
    event.kind = static_cast<Event::Kind>(kind);
    CHECK(harmless(event_text(event)));
  }
  CHECK(harmless(event_diff(hostile_event()), "\n\t"));
}

TEST_CASE("event_diff: of what an event knows") {
  CHECK(event_diff(example_event()) ==
        "--- /etc/resolv.conf\n+++ /etc/resolv.conf\n@@ -1 +1 @@\n-nameserver 192.0.2.1\n+nameserver 127.0.0.1\n");
  Event event = example_event();
  event.before.reset();
  CHECK(event_diff(event).empty());
  event = example_event();
  event.after.reset();
  CHECK(event_diff(event).empty());
}

TEST_CASE("40,000 servers: each with its origin in the status, the first and their number in an event's line") {
  Status status = example_status();
  GuardStatus& long_one = status.guards[0];
  Event event = example_event();
  event.after = "";
  for (int i = 0; i < 40'000; ++i) {
    const std::string address = "10.0." + std::to_string(i / 200) + "." + std::to_string(i % 200);
    long_one.read.nameservers.push_back(*Nameserver::parse(address));
    long_one.servers.push_back({long_one.read.nameservers.back(), Origin::writer});
    *event.after += "nameserver " + address + "\n";
  }
  const rg::test::CpuTime time;
  CHECK(contains(status_text(status), ", 10.0.199.199 (writer)\n"));
  CHECK(contains(event_text(event), " 10.0.0.15 and 39984 more"));
  CHECK(time.seconds() < 1);
}
