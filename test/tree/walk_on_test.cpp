// Going on from a held directory must find what a whole walk finds.
#include <filesystem>

#include "lib/tree/disk_files.hpp"
#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"

using namespace rg;
using rg::test::TempRoot;

static void fill(const TempRoot& root) {
  root.write("etc/resolv.conf", "nameserver 192.0.2.1\n");
  root.write("etc/other", "nameserver 192.0.2.2\n");
  root.write("run/far", "nameserver 192.0.2.3\n");
}

TEST_CASE("walk_on: the same chain as a whole walk, whatever the name has become") {
  const TempRoot root;
  fill(root);
  const SharedDescriptor top = root.open();
  const Chain before = walk(top, "/etc/resolv.conf");
  REQUIRE(before.complete);
  CHECK(same_chain(walk_on(top, before), before));

  for (const char* text : {"other", "/run/far", "/etc/other", "./other", "missing", "/run/missing"}) {
    CAPTURE(text);
    std::filesystem::remove(root / "etc/resolv.conf");
    root.link(text, "etc/resolv.conf");
    const Chain whole = walk(top, "/etc/resolv.conf");
    const Chain on = walk_on(top, before);
    CHECK(same_chain(on, whole));
    CHECK(on.path == whole.path);
    CHECK(on.named == whole.named);
  }
}

TEST_CASE("walk_on: a link that climbs out of the held directory needs a whole walk, and look_again makes it") {
  const TempRoot root;
  fill(root);
  const SharedDescriptor top = root.open();
  DiskFiles files(top, false);
  const Seen before = files.observe("/etc/resolv.conf");
  std::filesystem::remove(root / "etc/resolv.conf");
  root.link("../run/far", "etc/resolv.conf");
  CHECK(walk_on(top, before.chain).error == EAGAIN);
  const Seen seen = files.look_again("/etc/resolv.conf", before);
  CHECK(seen.bytes == "nameserver 192.0.2.3\n");
  CHECK(seen.chain.path == "/run/far");
  CHECK(seen.linked());
}
