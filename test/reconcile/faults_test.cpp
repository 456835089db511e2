// Looks and writes that fail: what is told, and what isn't learned.
#include <system_error>

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

TEST_CASE("pass: a look that fails is a failure with its reason, and no rewrite") {
  World world;
  const int error = GENERATE(EMFILE, ENFILE, ENOMEM, EIO);
  world.files.file(kPath, restored("192.0.2.1"));
  REQUIRE(is<Unchanged>(world.pass()));
  const Memory before = world.guarded.memory;
  world.files.fail_observe[kPath] = error;
  const Outcome outcome = world.forced();
  REQUIRE(is<Failed>(outcome));
  CHECK(std::get<Failed>(outcome.result).reason.find(std::generic_category().message(error)) != std::string::npos);
  CHECK(outcome.events.empty());
  CHECK(world.writes() == 0);
  CHECK(world.guarded.memory == before);
  world.files.fail_observe.clear();
  const Outcome again = world.pass();
  CHECK(is<Unchanged>(again));
  CHECK(again.events.empty());
}

TEST_CASE("pass: a look that isn't allowed is a refusal") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"));
  world.files.fail_observe[kPath] = EACCES;
  const Outcome outcome = world.forced();
  REQUIRE(is<Refused>(outcome));
  CHECK(std::get<Refused>(outcome.result).reason.substr(0, 12) == "permission: ");
}

TEST_CASE("pass: our own limits are no reason to replace a link, or to forget an upstream") {
  World world;
  world.files.file("/run/r", theirs("192.0.2.1"));
  SECTION("link = file") {
    world.guarded.policy.link = LinkMode::file;
    world.files.link(kPath, "/run/r");
    world.files.fail_observe["/run/r"] = EMFILE;
    CHECK(is<Failed>(world.forced()));
  }
  SECTION("link_to") {
    world.guarded.policy.link_to = "/run/r";
    world.files.link(kPath, "/run/r");
    REQUIRE(is<Unchanged>(world.pass()));
    world.files.fail_observe["/run/r"] = EMFILE;
    CHECK(is<Failed>(world.forced()));
  }
  SECTION("link_to, and a plain file stands there") {
    world.guarded.policy.link_to = "/run/r";
    world.files.file(kPath, theirs("192.0.2.2"));
    world.files.fail_observe["/run/r"] = EMFILE;
    CHECK(is<Failed>(world.forced()));
  }
  SECTION("upstream") {
    world.guarded.policy.upstream = {"/run/r"};
    world.files.file(kPath, restored("192.0.2.1"));
    REQUIRE(is<Unchanged>(world.pass()));
    world.files.fail_observe["/run/r"] = EMFILE;
    CHECK(is<Unchanged>(world.pass()));
  }
  CHECK(world.writes() == 0);
}

TEST_CASE("pass: a link_to that leads back to the guarded name shows nothing") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  SECTION("it is the name itself") { world.guarded.policy.link_to = "resolv.conf"; }
  SECTION("its target is a link to the name") {
    world.files.link("/run/r", kPath);
    world.guarded.policy.link_to = "/run/r";
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(world.pass().holds());
    CHECK(world.files.nodes[kPath].kind == NodeKind::file);
    CHECK(world.bytes() == restored("192.0.2.1"));
  }
  CHECK(world.writes() == 1);
}

TEST_CASE("pass: a mode that nobody could read through a link is refused before anything is written") {
  World world;
  world.guarded.policy.mode = 0640;
  world.files.link(kPath, "/run/r");
  SECTION("the target drifts") { world.files.file("/run/r", theirs("192.0.2.1")); }
  SECTION("it holds but for the mode") { world.files.file("/run/r", restored("192.0.2.1")); }
  SECTION("it isn't there") {}
  const std::string before = world.files.bytes("/run/r");
  const Outcome outcome = world.forced();
  REQUIRE(is<Refused>(outcome));
  CHECK(std::get<Refused>(outcome.result).reason.substr(0, 12) == "permission: ");
  CHECK(world.writes() == 0);
  CHECK(world.files.bytes("/run/r") == before);
  world.guarded.policy.link = LinkMode::file;  // no link, nothing to be read through
  CHECK(is<Restored>(world.forced()));
}

}  // namespace
}  // namespace rg::test
