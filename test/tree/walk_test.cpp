#include <atomic>
#include <thread>

#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"

namespace rg::test {
namespace {

ino_t inode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_ino;
}

TEST_CASE("walk: every name that was looked up is a step, in its directory") {
  const TempRoot root;
  root.write("/etc/resolv.conf", "x");
  const Chain chain = walk(root.open(), "/etc/resolv.conf");
  REQUIRE(chain.steps.size() == 2);
  CHECK(chain.steps[0].place.name == "etc");
  CHECK(chain.steps[0].inode == inode_of(root.path()));
  CHECK(chain.steps[0].kind == NodeKind::directory);
  CHECK(chain.steps[1].place.name == "resolv.conf");
  CHECK(chain.steps[1].inode == inode_of(root / "/etc"));
  CHECK(chain.steps[1].kind == NodeKind::file);
  CHECK(chain.named == 1);
  CHECK(chain.complete);
  CHECK(chain.error == 0);
  CHECK(chain.path == "/etc/resolv.conf");
  CHECK_FALSE(chain.linked());
  CHECK(walk(root.open(), "//etc/.//resolv.conf/").path == "/etc/resolv.conf");
}

TEST_CASE("walk: an absolute link starts again at the root, not at the host's") {
  const TempRoot root;
  root.write("/run/r/resolv.conf", "x");
  root.link("/run/r/resolv.conf", "/etc/resolv.conf");
  const Chain chain = walk(root.open(), "/etc/resolv.conf");
  CHECK(chain.complete);
  CHECK(chain.linked());
  CHECK(chain.name_step().link_text == "/run/r/resolv.conf");
  CHECK(chain.path == "/run/r/resolv.conf");
  CHECK(chain.steps.size() == 5);
  CHECK(chain.steps.back().inode == inode_of(root / "/run/r"));
}

TEST_CASE("walk: no way leads out of the root") {
  const TempRoot root;
  root.directory("/etc");
  const auto files = root.files();
  for (const std::string& text :
       {std::string("../../../canary/secret"), std::string("/../canary/secret"), root.outside() + "/canary/secret",
        std::string("../../../../../../../../etc/passwd")}) {
    ::unlink((root / "/etc/resolv.conf").c_str());
    root.link(text, "/etc/resolv.conf");
    const Seen seen = files->observe("/etc/resolv.conf");
    CHECK(seen.kind == NodeKind::absent);
    CHECK(seen.bytes.empty());
  }
  CHECK(files->observe("/../canary/secret").kind == NodeKind::absent);
  CHECK(files->observe("/etc/../../canary/secret").kind == NodeKind::absent);
  root.write("/canary/secret", "inside");
  CHECK(files->observe("/../../canary/secret").bytes == "inside");
}

TEST_CASE("walk: `..` leaves the directory that was really entered") {
  const TempRoot root;
  root.write("/private/resolv.conf", "right");
  root.write("/resolv.conf", "wrong");
  root.directory("/private/etc");
  root.link("private/etc", "/etc");
  CHECK(root.files()->observe("/etc/../resolv.conf").bytes == "right");
}

TEST_CASE("walk: links in the middle are hops too") {
  const TempRoot root;
  root.write("/private/etc/resolv.conf", "x");
  root.link("/private/etc", "/etc");
  const Chain chain = walk(root.open(), "/etc/resolv.conf");
  CHECK(chain.complete);
  CHECK_FALSE(chain.linked());  // the name itself is none
  CHECK(chain.path == "/private/etc/resolv.conf");
  REQUIRE(chain.steps.size() == 4);
  CHECK(chain.steps[0].kind == NodeKind::link);
  CHECK(chain.named == 3);
}

TEST_CASE("walk: as many links as the kernel follows, and no circle for ever") {
  const TempRoot root;
  root.write("/f0", "end");
  for (int i = 1; i <= 41; ++i) root.link("f" + std::to_string(i - 1), "/f" + std::to_string(i));
  CHECK(walk(root.open(), "/f40").complete);
  const Chain beyond = walk(root.open(), "/f41");
  CHECK_FALSE(beyond.complete);
  CHECK(beyond.error == ELOOP);

  root.link("b", "/a");
  root.link("a", "/b");
  const Chain circle = walk(root.open(), "/a");
  CHECK(circle.error == ELOOP);
  CHECK(circle.linked());
  CHECK(circle.steps.size() <= 42);
  CHECK(root.files()->observe("/a").error == ELOOP);
}

TEST_CASE("walk: where it ends early") {
  const TempRoot root;
  root.write("/etc/file", "x");
  SECTION("a missing parent") {
    const Chain chain = walk(root.open(), "/etc/netns/blue/resolv.conf");
    CHECK_FALSE(chain.complete);
    CHECK(chain.error == ENOENT);
    CHECK_FALSE(chain.reached_name());
    REQUIRE(chain.steps.size() == 2);  // its nearest existing parent is what to watch
    CHECK(chain.steps.back().place.name == "netns");
    CHECK(chain.steps.back().kind == NodeKind::absent);
    CHECK(root.files()->observe("/etc/netns/blue/resolv.conf").kind == NodeKind::absent);
  }
  SECTION("a missing name") {
    const Chain chain = walk(root.open(), "/etc/none");
    CHECK(chain.complete);
    CHECK(chain.error == 0);
    CHECK(chain.steps.back().kind == NodeKind::absent);
  }
  SECTION("a file on the way") {
    const Chain chain = walk(root.open(), "/etc/file/resolv.conf");
    CHECK(chain.error == ENOTDIR);
    CHECK_FALSE(chain.reached_name());
  }
  SECTION("a link to the root") {
    root.link("/", "/etc/resolv.conf");
    const Chain chain = walk(root.open(), "/etc/resolv.conf");
    CHECK_FALSE(chain.complete);
    CHECK(chain.error == EISDIR);
    CHECK(chain.linked());
    CHECK(chain.path.empty());
  }
  SECTION("the root itself, and a path that ends in `..`") {
    for (const std::string path : {"/", "/etc/..", "", "."}) {
      const Chain chain = walk(root.open(), path);
      CHECK_FALSE(chain.complete);
      CHECK(chain.error == EISDIR);
      CHECK_FALSE(chain.reached_name());
      CHECK_FALSE(chain.linked());
    }
  }
  SECTION("a dangling link: its target's place is known") {
    root.link("../run/none", "/etc/resolv.conf");
    root.directory("/run");
    const Chain chain = walk(root.open(), "/etc/resolv.conf");
    CHECK(chain.complete);
    CHECK(chain.path == "/run/none");
    CHECK(chain.steps.back().kind == NodeKind::absent);
  }
}

// Two threads swap a directory and a name for links that would lead out, were one of them followed by the kernel.
TEST_CASE("walk: links swapped under it never lead out") {
  const TempRoot root;
  root.write("/etc/d/resolv.conf", "inside");
  root.write("/etc/plain", "inside");
  root.link("../../canary", "/etc/out");
  root.link(root.outside() + "/canary/secret", "/etc/escape");
  ::symlink("secret", (root.outside() + "/canary/resolv.conf").c_str());
  std::atomic<bool> stop = false;
  std::atomic<int> swaps = 0;
  std::thread swapper([&] {
    const auto exchange = [&](const char* a, const char* b) {
      if (::renameat2(AT_FDCWD, (root / a).c_str(), AT_FDCWD, (root / b).c_str(), RENAME_EXCHANGE) == 0) ++swaps;
    };
    while (!stop) {
      exchange("/etc/d", "/etc/out");
      exchange("/etc/plain", "/etc/escape");
    }
  });
  const auto files = root.files();
  int inside = 0;
  for (int i = 0; i < 20000 && (i < 1500 || inside < 100 || swaps < 100); ++i) {
    for (const std::string path : {"/etc/d/resolv.conf", "/etc/plain", "/etc/d/../../canary/secret"}) {
      const Seen seen = files->observe(path);
      if (seen.bytes == kCanary) FAIL("reached the canary by " + path);
      inside += seen.bytes == "inside" ? 1 : 0;
    }
  }
  stop = true;
  swapper.join();
  CHECK(inside > 0);
  CHECK(swaps > 0);
}

TEST_CASE("same_chain: what must be watched anew, and what need not") {
  const TempRoot root;
  root.write("/run/a/resolv.conf", "x");
  root.link("../run/a/resolv.conf", "/etc/resolv.conf");
  const auto look = [&] { return walk(root.open(), "/etc/resolv.conf"); };
  const Chain before = look();
  CHECK(same_chain(before, look()));
  SECTION("the file rewritten or gone") {
    root.rename_in("/run/a/resolv.conf", "y");
    CHECK(same_chain(before, look()));
    ::unlink((root / "/run/a/resolv.conf").c_str());
    CHECK(same_chain(before, look()));
  }
  SECTION("another link text to the same file") {
    ::unlink((root / "/etc/resolv.conf").c_str());
    root.link("/run/a/resolv.conf", "/etc/resolv.conf");
    CHECK_FALSE(same_chain(before, look()));
  }
  SECTION("a file instead of the link") {
    root.rename_in("/etc/resolv.conf", "y");
    CHECK_FALSE(same_chain(before, look()));
  }
  SECTION("another directory of the same name") {
    ::rename((root / "/run/a").c_str(), (root / "/run/old").c_str());
    root.directory("/run/a");
    CHECK_FALSE(same_chain(before, look()));
  }
  SECTION("its directory gone") {
    ::rename((root / "/run/a").c_str(), (root / "/run/old").c_str());
    CHECK_FALSE(same_chain(before, look()));
  }
}

}  // namespace
}  // namespace rg::test
