// Whatever writers did, in whatever order, and however often a pass came in between.
#include <rapidcheck.h>

#include "test/reconcile/world.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

constexpr const char* kTarget = "/run/r";

std::string server_of(int n) { return "192.0.2." + std::to_string(n % 5 + 1); }

// One step of a writer or of the guardian.
void step(World& world, int n) {
  const int value = n / 16;
  FakeFiles& files = world.files;
  const bool linked = files.nodes.count(kPath) != 0 && files.nodes[kPath].kind == NodeKind::link;
  const std::string path = linked ? kTarget : kPath;
  switch (n % 16) {
    case 0:
    case 1:
      return files.file(kPath, theirs(server_of(value)), value % 2 == 0 ? 0644 : 0600);
    case 2:
      return files.file(kTarget, theirs(server_of(value)));
    case 3:
      return files.link(kPath, value % 7 == 0 ? "/none/r" : kTarget);
    case 4:
      return files.remove(path);
    case 5:
      files.file(path, "");
      files.open_for_writing.insert(path);
      world.options.finished = false;
      return;
    case 6:
      return files.open_for_writing.clear();
    case 7:
      files.before_replace.push_back([&files, value] { files.file(kPath, theirs(server_of(value))); });
      return;
    case 8:
      world.options.finished = value % 2 == 0;
      return;
    case 9:
      return files.file(path, restored(server_of(value)));
    case 10:
      (void)world.forced();
      return;
    case 11:
      (void)release(world.guarded, world.files);
      return;
    default:
      (void)world.pass();
  }
}

void play(World& world) {
  const LinkMode mode = *rc::gen::element(LinkMode::follow, LinkMode::file);
  world.guarded.policy.link = mode;
  for (const int n : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 16 * 70))) step(world, n);
  world.files.before_replace.clear();
  world.files.open_for_writing.clear();
  world.options.finished = true;
}

TEST_CASE("pass: any history of writers") {
  CHECK(rc::check("once they are quiet it holds, and then nothing is written any more", [] {
    World world;
    play(world);
    const Outcome outcome = world.forced();
    const bool dangling = is<Refused>(outcome);  // a followed link into a directory that isn't there
    RC_ASSERT(dangling || outcome.holds());
    if (dangling) return;
    const std::size_t writes = world.writes();
    const auto nodes = world.bytes();
    for (int i = 0; i < 3; ++i) RC_ASSERT(is<Unchanged>(world.pass()));
    RC_ASSERT(world.writes() == writes);
    RC_ASSERT(world.bytes() == nodes);
    const Seen seen = world.files.observe(kPath);
    RC_ASSERT(seen.bytes.substr(0, kOurs.size()) == kOurs);
    RC_ASSERT((seen.info.st_mode & 07777U) == 0644U);
  }));
  CHECK(rc::check("the newest finished content of a writer is never lost", [] {
    World world;
    play(world);
    const std::string newest = "198.51.100.7";
    if (*rc::gen::arbitrary<bool>()) {
      world.files.before_replace.push_back([&] { world.files.file(kPath, theirs(newest)); });
      world.files.file(kPath, theirs("198.51.100.6"));
    } else {
      world.files.file(kPath, theirs(newest));
    }
    RC_ASSERT(world.pass().holds());
    RC_ASSERT(world.bytes() == restored(newest));
    RC_ASSERT(world.last_good() == Texts{newest});
    RC_ASSERT(release(world.guarded, world.files).value() == Released::given_back);
    RC_ASSERT(world.bytes() == theirs(newest));
  }));
}

}  // namespace
}  // namespace rg::test
