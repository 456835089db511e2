// Writers in the middle of their work: what waits for them, and what is learned when they are through.
#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

TEST_CASE("pass: another name of an older file is whole at once: its servers are good for later") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  world.files.nodes[kPath].links = 2;
  world.options.how = How::relinked;  // link(2): no event says that it was closed
  world.options.finished = false;
  SECTION("nobody writes it") {
    CHECK(is<Restored>(world.pass()));
    CHECK(world.last_good() == Texts{"192.0.2.1"});
  }
  SECTION("somebody does") {
    world.files.open_for_writing.insert(kPath);
    CHECK(held(world.pass(), State::settling));
    CHECK(world.writes() == 0);
    CHECK(world.last_good() == Texts{});
  }
}

TEST_CASE("pass: a writer at work on what we just wrote is waited for") {
  World world;
  world.options.sure = true;
  world.options.quick = true;
  world.files.file(kPath, restored("192.0.2.1"));
  (void)world.pass();
  world.files.file(kPath, theirs("192.0.2.2"));
  bool truncated = false;
  world.files.before_every_observe = [&] {  // the first look back at it
    if (std::exchange(truncated, true)) return;
    world.files.file(kPath, "");
    world.files.open_for_writing.insert(kPath);
  };
  CHECK(held(world.pass(), State::settling));
  CHECK(world.bytes().empty());
  world.files.open_for_writing.clear();
  world.files.file(kPath, theirs("192.0.2.3"));
  CHECK(is<Restored>(world.pass()));
  CHECK(world.bytes() == restored("192.0.2.3"));
}

TEST_CASE("pass: an unfinished content waits, and isn't learned") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"));
  (void)world.pass();
  SECTION("an event says so") {
    world.files.file(kPath, "nameserver 192.0.2.");
    world.options.finished = false;
    CHECK(held(world.pass(), State::settling));
    CHECK(world.writes() == 0);
    CHECK(world.last_good() == Texts{"192.0.2.1"});
    world.files.file(kPath, theirs("192.0.2.22"));
    world.options.finished = true;
    CHECK(is<Restored>(world.pass()));
    CHECK(world.last_good() == Texts{"192.0.2.22"});
  }
  SECTION("its writer has it open: judged as it stands when time is up, but never last good") {
    world.files.file(kPath, theirs("192.0.2.2"));
    world.files.open_for_writing.insert(kPath);
    CHECK(held(world.pass(), State::settling));
    CHECK(world.writes() == 0);
    const Outcome outcome = world.forced();
    CHECK(is<Restored>(outcome));
    CHECK(world.bytes() == restored("192.0.2.2"));
    REQUIRE(outcome.still_open.size() == 1);
    CHECK(world.last_good() == Texts{"192.0.2.1"});
    // He closes it: what he wrote is the document now.
    learn_late(world.guarded, outcome.still_open[0].bytes, theirs("192.0.2.2") + theirs("192.0.2.3"));
    CHECK(is<Restored>(world.pass()));
    CHECK(world.bytes() == kOurs + theirs("192.0.2.2") + theirs("192.0.2.3"));
    CHECK(world.last_good() == Texts{"192.0.2.2", "192.0.2.3"});
  }
  SECTION("an event says that it is finished, and yet it comes out open: judged at once, but never last good") {
    world.files.file(kPath, theirs("192.0.2.2"));
    world.files.open_for_writing.insert(kPath);
    world.options.sure = true;
    CHECK(is<Restored>(world.pass()));
    CHECK(world.last_good() == Texts{"192.0.2.1"});
    CHECK_FALSE(world.guarded.memory.document->finished);
  }
  SECTION("an open file that already holds is learned when it is closed") {
    world.files.file(kPath, restored("192.0.2.2"));
    world.files.open_for_writing.insert(kPath);
    CHECK(is<Unchanged>(world.pass()));
    CHECK(world.last_good() == Texts{"192.0.2.1"});
    world.files.open_for_writing.clear();
    CHECK(is<Unchanged>(world.pass()));
    CHECK(world.last_good() == Texts{"192.0.2.2"});
    CHECK(world.guarded.memory.document->bytes == restored("192.0.2.2"));
    CHECK(world.writes() == 0);
  }
  SECTION("a link is whole at once") {
    world.files.file("/run/r", theirs("192.0.2.5"));
    world.files.link(kPath, "/run/r");
    world.options.finished = false;
    world.options.how = How::relinked;
    CHECK(is<Restored>(world.pass()));
    CHECK(world.files.bytes("/run/r") == restored("192.0.2.5"));
  }
  SECTION("another name of an older file too") {
    world.files.nodes[kPath] = {NodeKind::file, theirs("192.0.2.6"), 0644, 2, {}};
    world.options.finished = false;
    world.options.how = How::relinked;
    CHECK(is<Restored>(world.pass()));
  }
}

TEST_CASE("pass: a deleted file waits for its writer, then comes back from memory") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"));
  (void)world.pass();
  world.files.remove(kPath);
  world.options.finished = false;
  CHECK(held(world.pass(), State::settling));
  CHECK(held(world.pass(), State::settling));
  CHECK(world.writes() == 0);
  const Outcome outcome = world.forced();
  CHECK(is<Restored>(outcome));
  CHECK(world.bytes() == restored("192.0.2.1"));
  CHECK(outcome.decision.content.source == Source::last_good);
  CHECK(events_of(outcome, Event::Kind::restore)[0]->violations == Violations{Violation::absent});
  CHECK(is<Unchanged>(world.pass()));
}

TEST_CASE("pass: a file that never was there isn't waited for") {
  World world;
  CHECK(is<Restored>(world.pass()));
  CHECK(world.bytes() == kOurs);
}

}  // namespace
}  // namespace rg::test
