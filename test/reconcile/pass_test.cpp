#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

TEST_CASE("pass: what holds isn't written, and its servers are remembered") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"));
  const Outcome outcome = world.pass();
  CHECK(is<Unchanged>(outcome));
  CHECK(outcome.memory_changed);
  CHECK(world.writes() == 0);
  CHECK(world.last_good() == Texts{"192.0.2.1"});
  const Outcome again = world.pass();
  CHECK(is<Unchanged>(again));
  CHECK_FALSE(again.memory_changed);
  CHECK(again.events.empty());
}

TEST_CASE("pass: a drift is restored once, and read back") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  const Outcome outcome = world.pass();
  CHECK(is<Restored>(outcome));
  CHECK(world.bytes() == restored("192.0.2.1"));
  CHECK(world.files.log.back() == std::string("observe ") + kPath);  // the last thing it did was to look
  REQUIRE(world.guarded.memory.document.has_value());
  CHECK(world.guarded.memory.document->bytes == theirs("192.0.2.1"));
  CHECK(world.guarded.memory.written == sha256_hex(restored("192.0.2.1")));
  const auto restores = events_of(outcome, Event::Kind::restore);
  REQUIRE(restores.size() == 1);
  CHECK(restores[0]->before == theirs("192.0.2.1"));
  CHECK(restores[0]->after == restored("192.0.2.1"));
  CHECK(restores[0]->violations == Violations{Violation::required});
  CHECK(events_of(outcome, Event::Kind::rewrite).size() == 1);
  for (int i = 0; i < 3; ++i) CHECK(is<Unchanged>(world.pass()));
  CHECK(world.writes() == 1);
}

TEST_CASE("pass: after a restart our own bytes are known by their digest") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  (void)world.pass();
  World next;
  next.guarded.memory = world.guarded.memory;
  next.files.file(kPath, world.bytes());
  const Outcome outcome = next.pass();
  CHECK(is<Unchanged>(outcome));
  CHECK(next.guarded.memory.document->bytes == theirs("192.0.2.1"));
  CHECK(events_of(outcome, Event::Kind::rewrite).empty());
}

TEST_CASE("pass: a quick look is verified by a walk afresh") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"));
  (void)world.pass();
  world.files.log.clear();
  world.files.file(kPath, theirs("192.0.2.2"));
  world.options.quick = true;
  CHECK(is<Restored>(world.pass()));
  CHECK(world.files.count("look_again") == 1);
  CHECK(world.files.count("observe") == 1);
  CHECK(world.at("look_again") < world.at("replace"));
  CHECK(world.at("replace") < world.at("observe"));
}

TEST_CASE("pass: a writer who was faster once is learned from") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  world.files.before_replace.push_back([&] { world.files.file(kPath, theirs("192.0.2.2"), 0640); });
  const Outcome outcome = world.pass();
  CHECK(is<Restored>(outcome));
  CHECK(world.bytes() == restored("192.0.2.2"));
  CHECK(world.guarded.memory.document->bytes == theirs("192.0.2.2"));
  CHECK(world.guarded.memory.document->mode == 0640);
  CHECK(world.last_good() == Texts{"192.0.2.2"});
  CHECK(events_of(outcome, Event::Kind::rewrite).size() == 2);
  CHECK(events_of(outcome, Event::Kind::restore).size() == 1);
  CHECK(world.writes() == 2);
}

TEST_CASE("pass: a link that came in between is judged in its turn") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  world.files.before_replace.push_back([&] {
    world.files.file("/run/r", theirs("192.0.2.3"));
    world.files.link(kPath, "/run/r");
  });
  CHECK(is<Restored>(world.pass()));
  CHECK(world.files.nodes[kPath].kind == NodeKind::link);
  CHECK(world.files.bytes("/run/r") == restored("192.0.2.3"));
}

TEST_CASE("pass: writers who are always faster end it after a bound, and nothing of theirs is lost") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  int n = 0;
  SECTION("before each write") {
    world.files.before_every_replace = [&] { world.files.file(kPath, theirs("198.51.100." + std::to_string(++n))); };
    CHECK(is<Overtaken>(world.pass()));
    CHECK(world.writes() <= 10);
    CHECK(world.guarded.memory.document->bytes == theirs("198.51.100." + std::to_string(n)));
    world.files.before_every_replace = nullptr;
    CHECK(world.pass().holds());
    CHECK(world.bytes() == restored("198.51.100." + std::to_string(n)));
  }
  SECTION("after each write") {
    world.files.before_every_observe = [&] { world.files.file(kPath, theirs("198.51.100." + std::to_string(++n))); };
    CHECK(is<Overtaken>(world.pass()));
    CHECK(world.writes() <= 10);
    world.files.before_every_observe = nullptr;
    CHECK(world.pass().holds());
  }
  SECTION("with something that we can't learn from") {
    world.files.before_every_replace = [&] { world.files.link(kPath, "/run/" + std::to_string(++n)); };
    CHECK_FALSE(world.pass().holds());
    CHECK(world.writes() <= 10);
  }
}

TEST_CASE("pass: what says that it wrote and didn't is never a success") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"), 0600);
  SECTION("the content") {
    world.files.lies = true;
    const Outcome outcome = world.pass();
    CHECK_FALSE(outcome.holds());
    CHECK(events_of(outcome, Event::Kind::restore).empty());
    CHECK(world.writes() <= 10);
  }
  SECTION("the mode") {
    world.files.file(kPath, restored("192.0.2.1"), 0600);
    world.files.loses_attributes = true;
    const Outcome outcome = world.pass();
    CHECK(is<Failed>(outcome));  // no event will follow, and trying again at once would never end
    CHECK(events_of(outcome, Event::Kind::restore).empty());
    CHECK(world.writes() <= 10);
  }
  SECTION("another content than ours came to stand there") {
    world.files.before_every_observe = [&] {
      if (world.writes() != 0) world.files.file(kPath, "");
    };
    CHECK_FALSE(world.pass().holds());
  }
}

TEST_CASE("pass: the gate is asked once, before the first write, and what it holds is learned but not written") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  int asked = 0;
  const State why = GENERATE(State::paused, State::observing, State::contested);
  world.options.gate = [&](const Decision& decision) -> std::optional<Held> {
    ++asked;
    CHECK(decision.kind == Decision::Kind::rewrite);
    return Held{why, "held"};
  };
  Outcome outcome = world.pass();
  CHECK(held(outcome, why));
  CHECK(world.writes() == 0);
  CHECK(asked == 1);
  CHECK(world.last_good() == Texts{"192.0.2.1"});
  CHECK(events_of(outcome, Event::Kind::would_restore).size() == (why == State::observing ? 1U : 0U));
  if (why == State::observing) {
    CHECK(events_of(outcome, Event::Kind::would_restore)[0]->after == restored("192.0.2.1"));
    outcome = world.pass();
    CHECK(events_of(outcome, Event::Kind::would_restore).empty());  // once for each content
    world.files.file(kPath, theirs("192.0.2.2"));
    outcome = world.pass();
    CHECK(events_of(outcome, Event::Kind::would_restore).size() == 1);
  }
  world.options.gate = [&](const Decision&) -> std::optional<Held> {
    ++asked;
    return std::nullopt;
  };
  asked = 0;
  world.files.before_replace.push_back([&] { world.files.file(kPath, theirs("192.0.2.9")); });
  CHECK(is<Restored>(world.pass()));
  CHECK(asked == 1);
}

TEST_CASE("pass: nothing known, nothing made") {
  World world;
  world.guarded.policy.nameservers.first.clear();
  CHECK(is<Unchanged>(world.pass()));
  CHECK(world.writes() == 0);
  CHECK(world.bytes() == "(not there)");
}

TEST_CASE("pass: what is filled in is announced before it is written") {
  World world;
  world.guarded.memory.nameservers.values = servers({"192.0.2.1"});
  world.files.file(kPath, "# none\nsearch a.example\n");
  CHECK(is<Restored>(world.pass()));
  CHECK(world.files.count("intend " + sha256_hex(world.bytes())) == 1);
  CHECK(world.at("intend") < world.at("replace"));
  world.files.log.clear();
  world.files.file(kPath, theirs("192.0.2.2"));
  CHECK(is<Restored>(world.pass()));
  CHECK(world.files.count("intend") == 0);  // nothing but the writer's own
}

TEST_CASE("pass: bytes that were announced and written, but not remembered, are ours after a crash") {
  World world;
  world.guarded.memory.nameservers.values = servers({"192.0.2.1"});
  world.guarded.memory.intended = sha256_hex(restored("192.0.2.1"));
  world.files.file(kPath, restored("192.0.2.1"));
  CHECK(world.pass().holds());
  CHECK_FALSE(world.guarded.memory.document.has_value());
}

TEST_CASE("pass: kinds that are never replaced are blocked with their word") {
  World world;
  const auto [kind, word] =
      GENERATE(table<NodeKind, std::string>({{NodeKind::directory, "directory: "}, {NodeKind::other, "device: "}}));
  world.files.node(kPath, kind);
  const Outcome outcome = world.forced();
  REQUIRE(is<Refused>(outcome));
  CHECK(std::get<Refused>(outcome.result).reason.substr(0, word.size()) == word);
  CHECK(world.writes() == 0);
}

TEST_CASE("pass: a missing directory, by every kind of policy") {
  World world;
  world.guarded.policy.path = "/none/resolv.conf";
  SECTION("alone") {}
  SECTION("with link_to, whose target is good") {
    world.guarded.policy.link_to = "/run/r";
    world.files.file("/run/r", theirs("192.0.2.1"));
  }
  SECTION("with link = file") { world.guarded.policy.link = LinkMode::file; }
  const Outcome outcome = world.pass();
  REQUIRE(is<Refused>(outcome));
  CHECK(std::get<Refused>(outcome.result).reason.substr(0, 9) == "missing: ");
  CHECK(world.writes() == 0);
}

TEST_CASE("pass: what our link's target told is newer than the file that the link replaced") {
  World world;
  world.files.file(kPath, theirs("192.0.2.5"));
  world.files.file("/run/r", theirs("192.0.2.1"));
  world.guarded.policy.link_to = "/run/r";
  CHECK(is<Restored>(world.pass()));
  REQUIRE(world.files.nodes[kPath].kind == NodeKind::link);
  CHECK(world.last_good() == Texts{"192.0.2.1"});
  world.files.file("/run/r", "# none\n");
  CHECK(is<Restored>(world.forced()));
  CHECK(world.bytes() == "# none\n" + restored("192.0.2.1"));
  CHECK(is<Unchanged>(world.forced()));
  CHECK(release(world.guarded, world.files).has_value());
  CHECK(world.bytes() == theirs("192.0.2.5"));
}

TEST_CASE("pass: another guard's target is left alone, whether it holds or not") {
  World world;
  world.options.taken = [](const Seen& seen) { return seen.chain.complete ? std::string("same-file: of x") : ""; };
  world.files.file(kPath, GENERATE(std::string("nameserver 192.0.2.1\n"), restored("192.0.2.1")));
  const Outcome outcome = world.pass();
  REQUIRE(is<Refused>(outcome));
  CHECK(std::get<Refused>(outcome.result).reason == "same-file: of x");
  CHECK(world.writes() == 0);
}

TEST_CASE("pass: mode alone is one restore and no content") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"), 0600);
  const Outcome outcome = world.pass();
  CHECK(is<Restored>(outcome));
  CHECK(world.files.nodes[kPath].mode == 0644);
  CHECK(world.guarded.memory.written.empty());  // the bytes are still the writer's
  CHECK(events_of(outcome, Event::Kind::restore)[0]->violations == Violations{Violation::mode});
}

TEST_CASE("pass: an upstream file that is being written counts as it was") {
  World world;
  world.guarded.policy.upstream = {"/run/up"};
  world.files.file("/run/up", theirs("192.0.2.1"));
  world.files.file(kPath, "");
  const Outcome first = world.pass();
  CHECK(is<Restored>(first));
  CHECK(events_of(first, Event::Kind::restore)[0]->reason.empty());
  CHECK(world.bytes() == restored("192.0.2.1"));
  world.files.file("/run/up", theirs("192.0.2.9"));
  world.files.open_for_writing.insert("/run/up");
  CHECK(is<Unchanged>(world.pass()));
  CHECK(world.bytes() == restored("192.0.2.1"));
  world.files.file("/run/up", theirs("192.0.2.2"));
  world.files.open_for_writing.clear();
  const Outcome outcome = world.pass();
  CHECK(is<Restored>(outcome));
  CHECK(world.bytes() == restored("192.0.2.2"));
  CHECK_FALSE(world.guarded.other_chains.empty());
  CHECK(events_of(outcome, Event::Kind::restore)[0]->reason == "something else must hold now");  // nobody wrote
}

TEST_CASE("pass: whether any upstream file can be read is known after each look") {
  World world;
  world.guarded.policy.upstream = {"/run/links/*", "/run/up"};
  world.files.file(kPath, theirs("192.0.2.1"));
  (void)world.pass();
  CHECK_FALSE(world.guarded.upstream_read);
  const std::string path = GENERATE(std::string("/run/links/2"), std::string("/run/up"));
  world.files.directories.insert("/run/links");
  world.files.file(path, "");
  (void)world.pass();
  CHECK(world.guarded.upstream_read);
  world.files.nodes.erase(path);
  (void)world.pass();
  CHECK_FALSE(world.guarded.upstream_read);
}

TEST_CASE("look_and_decide writes nothing") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  const Decision decision = look_and_decide(world.guarded, world.files, world.options);
  CHECK(decision.kind == Decision::Kind::rewrite);
  CHECK(decision.bytes == restored("192.0.2.1"));
  CHECK(world.writes() == 0);
}

}  // namespace
}  // namespace rg::test
