#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

Leftover left_file(std::string bytes) {
  Leftover left;
  left.kind = NodeKind::file;
  left.text = std::move(bytes);
  left.info.st_mode = S_IFREG | 0640;
  return left;
}

TEST_CASE("release: the writer's bytes and mode, and then nothing more") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"), 0640);
  REQUIRE(is<Restored>(world.pass()));
  REQUIRE(world.files.nodes[kPath].mode == 0644);
  const auto released = release(world.guarded, world.files);
  REQUIRE(released.has_value());
  CHECK(*released == Released::given_back);
  CHECK(world.bytes() == theirs("192.0.2.1"));
  CHECK(world.files.nodes[kPath].mode == 0640);
  CHECK(release(world.guarded, world.files).value() == Released::nothing);
  CHECK(is<Restored>(world.pass()));  // after `resume`
  CHECK(world.bytes() == restored("192.0.2.1"));
}

TEST_CASE("release: nothing where the writer's own stands") {
  World world;
  SECTION("it held from the start") { world.files.file(kPath, restored("192.0.2.1")); }
  SECTION("he has written since") {
    world.files.file(kPath, theirs("192.0.2.1"));
    (void)world.pass();
    world.files.file(kPath, theirs("192.0.2.2"));
  }
  SECTION("nothing is there") {}
  const std::string before = world.bytes();
  world.files.log.clear();
  CHECK(release(world.guarded, world.files).value() == Released::nothing);
  CHECK(world.bytes() == before);
  CHECK(world.writes() == 0);
}

TEST_CASE("release: a link comes back as a link, whatever the reason that it was replaced") {
  World world;
  SECTION("link = file") {
    world.files.file("/run/r", theirs("192.0.2.1"));
    world.files.link(kPath, "/run/r");
    world.guarded.policy.link = LinkMode::file;
  }
  SECTION("it led out of write_within") {
    world.files.file("/elsewhere/r", theirs("192.0.2.1"));
    world.files.link(kPath, "/elsewhere/r");
  }
  SECTION("link = file came with a reload, after the file had been looked at") {
    world.files.file("/run/r", restored("192.0.2.1"));
    world.files.link(kPath, "/run/r");
    REQUIRE(is<Unchanged>(world.pass()));
    world.guarded.policy.link = LinkMode::file;
  }
  const std::string target = world.files.nodes[kPath].text;
  REQUIRE(is<Restored>(world.pass()));
  REQUIRE(world.files.nodes[kPath].kind == NodeKind::file);
  const std::string behind = world.files.bytes(target);
  CHECK(release(world.guarded, world.files).value() == Released::given_back);
  CHECK(world.files.nodes[kPath].kind == NodeKind::link);
  CHECK(world.bytes() == target);
  CHECK(world.files.bytes(target) == behind);
}

TEST_CASE("release: our link gives way to the writer's file") {
  World world;
  world.guarded.policy.link_to = "/run/r";
  world.files.file("/run/r", theirs("192.0.2.1"));
  world.files.file(kPath, theirs("192.0.2.2"), 0600);
  REQUIRE(is<Restored>(world.pass()));
  REQUIRE(world.files.nodes[kPath].kind == NodeKind::link);
  CHECK(release(world.guarded, world.files).value() == Released::given_back);
  CHECK(world.files.nodes[kPath].kind == NodeKind::file);
  CHECK(world.bytes() == theirs("192.0.2.2"));
  CHECK(world.files.nodes[kPath].mode == 0600);
  CHECK(world.files.bytes("/run/r") == theirs("192.0.2.1"));
}

TEST_CASE("release: through a followed link the target gets its bytes back, the link stays") {
  World world;
  world.files.file("/run/r", theirs("192.0.2.1"));
  world.files.link(kPath, "/run/r");
  REQUIRE(is<Restored>(world.pass()));
  CHECK(release(world.guarded, world.files).value() == Released::given_back);
  CHECK(world.files.nodes[kPath].kind == NodeKind::link);
  CHECK(world.files.bytes("/run/r") == theirs("192.0.2.1"));
}

TEST_CASE("release: a file that nobody but us made goes") {
  World world;
  REQUIRE(is<Restored>(world.pass()));
  CHECK(release(world.guarded, world.files).value() == Released::given_back);
  CHECK(world.bytes() == "(not there)");
}

TEST_CASE("release: a writer who comes in between keeps what he wrote") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  REQUIRE(is<Restored>(world.pass()));
  SECTION("a file") {
    world.files.before_replace.push_back([&] { world.files.file(kPath, theirs("192.0.2.7")); });
    REQUIRE(release(world.guarded, world.files).has_value());
    CHECK(world.bytes() == theirs("192.0.2.7"));
  }
  SECTION("a link") {
    world.files.before_replace.push_back([&] { world.files.link(kPath, "/run/x"); });
    REQUIRE(release(world.guarded, world.files).has_value());
    CHECK(world.bytes() == "/run/x");
  }
}

TEST_CASE("release: a writer who makes a file that we were about to remove keeps it") {
  World world;
  REQUIRE(is<Restored>(world.pass()));
  world.files.before_replace.push_back([&] { world.files.file(kPath, theirs("192.0.2.7")); });
  CHECK(release(world.guarded, world.files).value() == Released::nothing);
  CHECK(world.bytes() == theirs("192.0.2.7"));
}

TEST_CASE("release: an error is told") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  REQUIRE(is<Restored>(world.pass()));
  world.files.fail_replace = EROFS;
  const auto released = release(world.guarded, world.files);
  REQUIRE(released.has_error());
  CHECK(released.error().code == EROFS);
  CHECK(world.bytes() == restored("192.0.2.1"));
  world.files.fail_replace = 0;
  CHECK(release(world.guarded, world.files).value() == Released::given_back);
}

TEST_CASE("release: a document of which only the beginning is known is never written back") {
  World world;
  const std::string large = theirs("192.0.2.1") + std::string(kMaxFileBytes, '#');
  world.files.file(kPath, large.substr(0, kMaxFileBytes + 1));  // as it is read
  REQUIRE(is<Restored>(world.pass()));
  const std::string ours = world.bytes();
  world.files.log.clear();
  const auto released = release(world.guarded, world.files);
  REQUIRE(released.has_error());
  CHECK(released.error().code == EFBIG);
  CHECK(released.error().text().find("1 MiB") != std::string::npos);
  CHECK(world.bytes() == ours);
  CHECK(world.writes() == 0);
}

TEST_CASE("release: a link comes back that nothing could be read through") {
  World world;
  world.guarded.policy.link = LinkMode::file;
  SECTION("to a file that isn't everyone's") {
    world.files.file("/run/r", theirs("192.0.2.1"), 0600);
    world.files.link(kPath, "/run/r");
  }
  SECTION("in a circle") {
    world.files.link(kPath, "/run/r");
    world.files.link("/run/r", kPath);
  }
  SECTION("a plain file stood there before") {
    world.files.file(kPath, theirs("192.0.2.1"));
    REQUIRE(is<Restored>(world.pass()));
    world.files.file("/run/r", theirs("192.0.2.2"), 0600);
    world.files.link(kPath, "/run/r");
  }
  REQUIRE(is<Restored>(world.forced()));
  REQUIRE(world.files.nodes[kPath].kind == NodeKind::file);
  CHECK(is<Unchanged>(world.pass()));
  World next;  // after a restart
  next.guarded.policy = world.guarded.policy;
  next.guarded.memory = world.guarded.memory;
  next.files.nodes = world.files.nodes;
  CHECK(release(next.guarded, next.files).value() == Released::given_back);
  CHECK(next.files.nodes[kPath].kind == NodeKind::link);
  CHECK(next.bytes() == "/run/r");
}

TEST_CASE("release: why it is refused is told") {
  World world;
  world.files.file(kPath, theirs("192.0.2.1"));
  REQUIRE(is<Restored>(world.pass()));
  world.files.fail_replace = EPERM;
  world.files.refusal_text = "immutable: chattr -i lets it be written";
  const auto released = release(world.guarded, world.files);
  REQUIRE(released.has_error());
  CHECK(released.error().text().find("immutable: ") != std::string::npos);
}

TEST_CASE("leftover: who only observes leaves it") {
  World world;
  world.guarded.policy.enforce = false;
  world.files.file(kPath, restored("192.0.2.1"));
  world.files.leftovers[kPath] = left_file(theirs("192.0.2.1"));
  take_in_leftover(world.guarded, world.files, world.options);
  CHECK(world.files.leftovers.size() == 1);
}

TEST_CASE("leftover: learned from exactly when restoring it gives what stands") {
  World world;
  world.files.file(kPath, restored("192.0.2.1"));
  SECTION("it is the document that ours came from") {
    world.files.leftovers[kPath] = left_file(theirs("192.0.2.1"));
    take_in_leftover(world.guarded, world.files, world.options);
    REQUIRE(world.guarded.memory.document.has_value());
    CHECK(world.guarded.memory.document->bytes == theirs("192.0.2.1"));
    CHECK(world.guarded.memory.document->mode == 0640);
    CHECK(is<Unchanged>(world.pass()));
    CHECK(release(world.guarded, world.files).value() == Released::given_back);
    CHECK(world.bytes() == theirs("192.0.2.1"));
  }
  SECTION("it is our own unfinished write, or an older one") {
    for (const std::string& bytes : {std::string(), std::string("name"), kOurs, restored("192.0.2.1"),
                                     restored("192.0.2.2"), theirs("192.0.2.2")}) {
      world.files.leftovers[kPath] = left_file(bytes);
      take_in_leftover(world.guarded, world.files, world.options);
      CHECK_FALSE(world.guarded.memory.document.has_value());
    }
  }
  SECTION("the file isn't what restoring it gives: its writer has been there since") {
    world.files.file(kPath, theirs("192.0.2.3"));
    world.files.leftovers[kPath] = left_file(theirs("192.0.2.1"));
    take_in_leftover(world.guarded, world.files, world.options);
    CHECK_FALSE(world.guarded.memory.document.has_value());
  }
  CHECK(world.files.leftovers.empty());
}

TEST_CASE("leftover: beside the target of a link too") {
  World world;
  world.files.file("/run/r", restored("192.0.2.1"));
  world.files.link(kPath, "/run/r");
  world.files.leftovers["/run/r"] = left_file(theirs("192.0.2.1"));
  take_in_leftover(world.guarded, world.files, world.options);
  CHECK(world.files.leftovers.empty());
  REQUIRE(world.guarded.memory.document.has_value());
  CHECK(world.guarded.memory.document->bytes == theirs("192.0.2.1"));
}

TEST_CASE("leftover: a link that was replaced by our file") {
  World world;
  world.guarded.policy.link = LinkMode::file;
  world.files.file(kPath, restored("192.0.2.1"));
  Leftover left;
  left.kind = NodeKind::link;
  left.text = "/run/r";
  world.files.leftovers[kPath] = left;
  SECTION("known as ours") {
    world.guarded.memory.written = sha256_hex(restored("192.0.2.1"));
    take_in_leftover(world.guarded, world.files, world.options);
    REQUIRE(world.guarded.memory.document.has_value());
    CHECK(world.guarded.memory.document->link_target == "/run/r");
  }
  SECTION("not ours") {
    take_in_leftover(world.guarded, world.files, world.options);
    CHECK_FALSE(world.guarded.memory.document.has_value());
  }
  CHECK(world.files.leftovers.empty());
}

}  // namespace
}  // namespace rg::test
