// What is appended to our file belongs behind what its writer had left, not behind what we had filled in or left out.
#include "lib/reconcile/surroundings.hpp"
#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

// A guard that has 192.0.2.1 and 192.0.2.2 in its memory, and whose file a script has just emptied.
struct Emptied : World {
  Emptied() {
    files.file(kPath, theirs("192.0.2.1") + theirs("192.0.2.2"));
    (void)pass();
    write("");
    options.sure = true;
    options.how = How::written;
    CHECK(is<Restored>(pass()));
    CHECK(bytes() == kOurs + theirs("192.0.2.1") + theirs("192.0.2.2"));
  }
  void write(const std::string& bytes) { files.file(kPath, bytes); }
  void append(const std::string& more) { write(bytes() + more); }
  [[nodiscard]] std::string document() const { return guarded.memory.document->bytes; }
};

}  // namespace

// BusyBox's udhcpc empties the file and appends line by line, each time with an open(2) and a close(2) of its own.
TEST_CASE("pass: a script that empties the file and appends line by line has its lines alone") {
  Emptied world;
  world.append("search example.test\n");
  CHECK(world.pass().holds());
  CHECK(world.document() == "search example.test\n");
  world.append(theirs("192.0.2.7"));
  CHECK(is<Restored>(world.pass()));
  CHECK(world.bytes() == "search example.test\n" + restored("192.0.2.7"));
  world.append(theirs("192.0.2.1"));
  CHECK(is<Unchanged>(world.pass()));
  CHECK(world.document() == "search example.test\n" + theirs("192.0.2.7") + theirs("192.0.2.1"));
  CHECK(world.last_good() == Texts{"192.0.2.7", "192.0.2.1"});
  CHECK(is<Unchanged>(world.pass()));
}

TEST_CASE("pass: what is appended is added once, however often it is looked at") {
  Emptied world;
  world.options.finished = false;
  world.options.sure = false;
  world.files.open_for_writing.insert(kPath);
  world.append("# a\n");
  CHECK(world.forced().holds());
  world.append("# b\n");
  CHECK(world.forced().holds());
  CHECK(world.forced().holds());
  CHECK(world.document() == "# a\n# b\n");
}

TEST_CASE("pass: who makes the file anew may say what we had said") {
  Emptied world;
  const std::string whole = world.bytes() + theirs("192.0.2.9");
  world.options.how = How::renamed;
  SECTION("it is all his") {
    world.write(whole);
    CHECK(world.pass().holds());
    CHECK(world.document() == whole);
    world.options.how = How::written;
    world.append("# more\n");
    CHECK(world.pass().holds());
    CHECK(world.document() == whole + "# more\n");
  }
  SECTION("ours is nothing to add to any more") {
    const std::string once = world.bytes();
    world.write(theirs("127.0.0.1") + theirs("192.0.2.5"));
    CHECK(world.pass().holds());
    world.options.how = How::written;
    world.write(once + theirs("192.0.2.9"));
    CHECK(world.pass().holds());
    CHECK(world.document() == once + theirs("192.0.2.9"));
  }
  SECTION("a copy of ours is edited") {
    world.guarded.policy.comment = true;
    world.write("");
    REQUIRE(is<Restored>(world.pass()));
    world.append(theirs("192.0.2.9"));
    CHECK(is<Restored>(world.pass()));
    CHECK(world.document() == theirs("192.0.2.9"));
    CHECK(world.last_good() == Texts{"192.0.2.9"});
  }
}

TEST_CASE("pass: what is appended behind the look is added too") {
  Emptied world;
  world.append(theirs("192.0.2.7"));
  SECTION("to what came out, before the exchange") {
    world.files.before_replace.push_back([&] { world.append(theirs("192.0.2.8")); });
  }
  SECTION("to ours, before the look back") {
    world.files.before_every_observe = [&] {
      if (world.bytes() != restored("192.0.2.7")) return;
      world.files.before_every_observe = nullptr;
      world.append(theirs("192.0.2.8"));
    };
  }
  CHECK(is<Restored>(world.pass()));
  CHECK(world.bytes() == kOurs + theirs("192.0.2.7") + theirs("192.0.2.8"));
  CHECK(world.document() == theirs("192.0.2.7") + theirs("192.0.2.8"));
}

TEST_CASE("learn_late: who had found our file by its name, and appends to it when it has come out") {
  Emptied world;
  world.append(theirs("192.0.2.7"));
  const std::string before = world.bytes();
  REQUIRE(is<Restored>(world.pass()));
  SECTION("nothing") {
    learn_late(world.guarded, before, before);
    CHECK(world.document() == theirs("192.0.2.7"));
    return;
  }
  learn_late(world.guarded, before, before + theirs("192.0.2.8"));
  CHECK(is<Restored>(world.pass()));
  CHECK(world.bytes() == kOurs + theirs("192.0.2.7") + theirs("192.0.2.8"));
}

TEST_CASE("release: what was appended stands behind what its writer had left") {
  World world;
  world.guarded.policy.comment = true;
  world.files.file(kPath, theirs("192.0.2.1") + theirs("127.0.0.1"));
  REQUIRE(is<Restored>(world.pass()));
  world.files.file(kPath, world.bytes() + theirs("192.0.2.2"));
  REQUIRE(release(world.guarded, world.files).has_value());
  CHECK(world.bytes() == theirs("192.0.2.1") + theirs("127.0.0.1") + theirs("192.0.2.2"));
}

TEST_CASE("with_appended: a document without a final newline, one that has grown, and what was not appended") {
  CHECK(with_appended("a", "x\n", "x\ny\n") == "a\ny\n");
  CHECK(with_appended("", "x\n", "x\ny") == "y");
  CHECK(with_appended("a", "x\n", "x\n") == "a");
  CHECK_FALSE(with_appended("a\n", "x\n", "z\ny\n"));
  CHECK_FALSE(with_appended("a\n", "", "y\n"));
  CHECK(with_appended(std::string(64 * 1024, '#'), "x\n", "x\ny"));
  CHECK_FALSE(with_appended(std::string(65 * 1024, '#'), "x\n", "x\ny"));
}

}  // namespace rg::test
