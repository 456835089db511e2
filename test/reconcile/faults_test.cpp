// Looks and writes that fail: what is told, and what isn't learned.
#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

TEST_CASE("pass: a refusal is a reason, an I/O error a failure") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  world.files.fail_replace = EPERM;
  SECTION("the kernel refuses") {
    world.files.refusal_text = "immutable: chattr -i";
    const Outcome outcome = world.pass();
    REQUIRE(is<Refused>(outcome));
    CHECK(std::get<Refused>(outcome.result).reason == "immutable: chattr -i");
    CHECK(world.last_good() == Texts{"192.0.2.1"});  // learned all the same
    CHECK(events_of(outcome, Event::Kind::restore).empty());
    world.options.was_refused = true;
    world.files.log.clear();
    world.files.standing_text = "immutable: chattr -i";
    CHECK(is<Refused>(world.pass()));
    CHECK(world.writes() == 0);  // told without trying
    world.files.standing_text.clear();
    world.files.fail_replace = 0;
    CHECK(is<Restored>(world.pass()));
  }
  SECTION("an I/O error") {
    world.files.fail_replace = EIO;
    const Outcome outcome = world.pass();
    REQUIRE(is<Failed>(outcome));
    CHECK(std::get<Failed>(outcome.result).reason.find("Input/output") != std::string::npos);
  }
}

TEST_CASE("pass: what a failed write of ours left is no writer's document") {
  World world;
  const std::string document = theirs("192.0.2.1") + "search a.example\n";
  const std::string wanted = kOurs + document;
  world.files.file(kPath, document);
  world.files.fail_replace = ENOSPC;
  const std::size_t reached = GENERATE(16U, 30U, 50U);
  const std::string torn = wanted.substr(0, reached) + (reached < document.size() ? document.substr(reached) : "");
  world.files.before_replace.push_back([&] { world.files.file(kPath, torn); });
  REQUIRE(is<Failed>(world.pass()));
  const Outcome failed = world.pass();
  CHECK(is<Failed>(failed));
  CHECK(events_of(failed, Event::Kind::rewrite).empty());
  CHECK(failed.memory_changed);
  CHECK(world.guarded.memory.document->bytes == document);
  world.files.fail_replace = 0;
  SECTION("the next write is made of the writer's") {
    CHECK(is<Restored>(world.pass()));
    CHECK(world.bytes() == wanted);
  }
  SECTION("after a restart too") {
    World next;
    next.guarded.memory = world.guarded.memory;
    next.files.file(kPath, torn);
    CHECK(is<Restored>(next.pass()));
    CHECK(next.bytes() == wanted);
  }
  SECTION("a writer who comes since is a writer") {
    world.files.file(kPath, theirs("192.0.2.9"));
    CHECK(is<Restored>(world.pass()));
    CHECK(world.bytes() == restored("192.0.2.9"));
  }
}

}  // namespace
}  // namespace rg::test
