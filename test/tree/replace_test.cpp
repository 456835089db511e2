#include <sys/inotify.h>
#include <sys/xattr.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "test/support/catch.hpp"
#include "test/tree/replacing.hpp"

namespace rg::test {
namespace {

TEST_CASE("replace: the judged file is exchanged for ours") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  const ino_t inode = root.info(kGuarded).st_ino;
  const auto swap = files->replace(replacing(judged, "ours, and longer"));
  REQUIRE(swap.has_value());
  CHECK(swap->way == Swap::Way::exchanged);
  CHECK(swap->out == Swap::Out::as_judged);
  CHECK_FALSE(swap->open);
  CHECK(root.read(kGuarded) == "ours, and longer");
  CHECK(root.info(kGuarded).st_ino != inode);
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: when it is too late nothing is written, however it would be") {
  const TempRoot root;
  root.write(kGuarded, "judged", 0600);
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  Replacement wanted = replacing(judged, "ours");
  wanted.too_late = [] { return true; };
  SECTION("by an exchange") {}
  SECTION("in place") { wanted.in_place = true; }
  SECTION("attributes alone") { wanted.only_attributes = true; }
  const auto swap = files->replace(wanted);
  REQUIRE_FALSE(swap.has_value());
  CHECK(swap.error().code == ECANCELED);
  CHECK(root.read(kGuarded) == "judged");
  CHECK((root.info(kGuarded).st_mode & 07777U) == 0600);
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: a newer file comes out and is told") {
  const TempRoot root;
  root.write(kGuarded, "judged");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  root.rename_in(kGuarded, "newer", 0640);
  const auto swap = files->replace(replacing(judged, "ours"));
  REQUIRE(swap.has_value());
  CHECK(swap->out == Swap::Out::newer);
  CHECK(swap->bytes == "newer");
  CHECK((swap->info.st_mode & 07777U) == 0640);
  CHECK_FALSE(swap->open);
  CHECK(root.read(kGuarded) == "ours");
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: what comes out and is still written is handed over open") {
  const TempRoot root;
  root.write(kGuarded, "judged");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  const FileDescriptor writer(::open((root / kGuarded).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  REQUIRE(::write(writer.get(), "half", 4) == 4);
  const auto swap = files->replace(replacing(judged, "ours"));
  REQUIRE(swap.has_value());
  CHECK(swap->out == Swap::Out::newer);
  REQUIRE(swap->open);
  REQUIRE(::write(writer.get(), "+rest", 5) == 5);
  CHECK(read_whole(swap->open->get()).value() == "half+rest");
  CHECK(root.read(kGuarded) == "ours");
}

TEST_CASE("replace: what can't be learned from stands there again") {
  const TempRoot root;
  root.write(kGuarded, "judged");
  root.write("/etc/target", "target");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  SECTION("a secret, where a link leads to the place: it isn't even opened") {
    root.write("/etc/secret", "secret", 0600);
    const FileDescriptor opened(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    REQUIRE(::inotify_add_watch(opened.get(), (root / "/etc/secret").c_str(), IN_OPEN) >= 0);
    REQUIRE(::rename((root / "/etc/secret").c_str(), (root / kGuarded).c_str()) == 0);
    Replacement wanted = replacing(judged, "ours");
    wanted.through_link = true;
    const auto swap = files->replace(wanted);
    REQUIRE(swap.has_value());
    CHECK(swap->out == Swap::Out::put_back);
    char event[256];
    CHECK(::read(opened.get(), event, sizeof event) < 0);
    CHECK(root.read(kGuarded) == "secret");
    CHECK((root.info(kGuarded).st_mode & 07777U) == 0600);
    CHECK(nothing_left_beside(root));
    return;
  }
  REQUIRE(::unlink((root / kGuarded).c_str()) == 0);
  SECTION("a link") {
    root.link("target", kGuarded);
    const auto swap = files->replace(replacing(judged, "ours"));
    REQUIRE(swap.has_value());
    CHECK(swap->out == Swap::Out::put_back);
    CHECK(root.link_text(kGuarded) == "target");
    CHECK(root.read("/etc/target") == "target");
  }
  SECTION("a directory") {
    root.write(std::string(kGuarded) + "/inside", "kept");
    const auto swap = files->replace(replacing(judged, "ours"));
    REQUIRE(swap.has_value());
    CHECK(swap->out == Swap::Out::put_back);
    CHECK(root.read(std::string(kGuarded) + "/inside") == "kept");
  }
  SECTION("a FIFO") {
    REQUIRE(::mkfifo((root / kGuarded).c_str(), 0600) == 0);
    const auto swap = files->replace(replacing(judged, "ours"));
    REQUIRE(swap.has_value());
    CHECK(swap->out == Swap::Out::put_back);
    CHECK(S_ISFIFO(root.info(kGuarded).st_mode));
  }
  SECTION("nothing: it stays gone until it is judged so") {
    const auto swap = files->replace(replacing(judged, "ours"));
    REQUIRE(swap.has_value());
    CHECK(swap->out == Swap::Out::put_back);
    CHECK(root.info(kGuarded).st_mode == 0);
  }
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: a judged link gives way to a file; another link or a file is put back") {
  const TempRoot root;
  root.write("/run/target", "target");
  root.link("../run/target", kGuarded);
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  SECTION("as judged") {
    const auto swap = files->replace(replacing(judged, "ours"));
    REQUIRE(swap.has_value());
    CHECK(swap->out == Swap::Out::as_judged);
    CHECK(S_ISREG(root.info(kGuarded).st_mode));
    CHECK(root.read(kGuarded) == "ours");
  }
  SECTION("another link") {
    ::unlink((root / kGuarded).c_str());
    root.link("../run/other", kGuarded);
    CHECK(files->replace(replacing(judged, "ours"))->out == Swap::Out::put_back);
    CHECK(root.link_text(kGuarded) == "../run/other");
  }
  SECTION("a file") {
    root.rename_in(kGuarded, "file");
    CHECK(files->replace(replacing(judged, "ours"))->out == Swap::Out::put_back);
    CHECK(root.read(kGuarded) == "file");
  }
  CHECK(root.read("/run/target") == "target");
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: by a link") {
  const TempRoot root;
  root.write(kGuarded, "judged");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  Replacement wanted = replacing(judged, "../run/r.conf");
  wanted.make_link = true;
  SECTION("as judged") { CHECK(files->replace(wanted)->out == Swap::Out::as_judged); }
  SECTION("a newer file is learned from all the same") {
    root.rename_in(kGuarded, "newer");
    const auto swap = files->replace(wanted);
    CHECK(swap->out == Swap::Out::newer);
    CHECK(swap->bytes == "newer");
  }
  CHECK(root.link_text(kGuarded) == "../run/r.conf");
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: a missing file is made, unless somebody makes it first") {
  const TempRoot root;
  root.directory("/etc");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  REQUIRE(judged.kind == NodeKind::absent);
  SECTION("nobody") {
    CHECK(files->replace(replacing(judged, "ours"))->out == Swap::Out::as_judged);
    CHECK(root.read(kGuarded) == "ours");
    CHECK((root.info(kGuarded).st_mode & 07777U) == 0644);
  }
  SECTION("a file") {
    root.write(kGuarded, "theirs");
    CHECK(files->replace(replacing(judged, "ours"))->out == Swap::Out::put_back);
    CHECK(root.read(kGuarded) == "theirs");
  }
  SECTION("a dangling link") {
    root.link("nowhere", kGuarded);
    CHECK(files->replace(replacing(judged, "ours"))->out == Swap::Out::put_back);
    CHECK(root.link_text(kGuarded) == "nowhere");
  }
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: in place keeps the inode") {
  const TempRoot root;
  root.write(kGuarded, "of middle length");
  REQUIRE(::link((root / kGuarded).c_str(), (root / "/other-name").c_str()) == 0);
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  const ino_t inode = root.info(kGuarded).st_ino;
  for (const std::string content : {"much longer than what was there before", "short", ""}) {
    const Seen now = files->observe(kGuarded);
    Replacement wanted = replacing(now, content);
    wanted.in_place = true;
    const auto swap = files->replace(wanted);
    REQUIRE(swap.has_value());
    CHECK(swap->way == Swap::Way::in_place);
    CHECK(swap->out == Swap::Out::as_judged);
    CHECK(root.read("/other-name") == content);
    CHECK(root.info(kGuarded).st_ino == inode);
  }
  SECTION("somebody was faster: nothing is touched") {
    root.write(kGuarded, "newer");
    Replacement wanted = replacing(judged, "ours");
    wanted.in_place = true;
    CHECK(files->replace(wanted)->out == Swap::Out::put_back);
    CHECK(root.read(kGuarded) == "newer");
  }
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: in place, nothing but a regular file is opened") {
  const TempRoot root;
  root.write(kGuarded, "judged");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  REQUIRE(::unlink((root / kGuarded).c_str()) == 0);
  REQUIRE(::mkfifo((root / kGuarded).c_str(), 0600) == 0);
  Replacement wanted = replacing(judged, "ours");
  wanted.in_place = true;
  const auto swap = files->replace(wanted);
  REQUIRE(swap.has_value());
  CHECK(swap->out == Swap::Out::put_back);
  CHECK(S_ISFIFO(root.info(kGuarded).st_mode));
}

TEST_CASE("replace: removing takes away what was judged and nothing else") {
  const TempRoot root;
  root.write(kGuarded, "judged");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  Replacement wanted = replacing(judged, "");
  wanted.remove = true;
  SECTION("as judged") {
    CHECK(files->replace(wanted)->out == Swap::Out::as_judged);
    CHECK(root.info(kGuarded).st_mode == 0);
  }
  SECTION("a newer file stays") {
    root.rename_in(kGuarded, "newer");
    CHECK(files->replace(wanted)->out == Swap::Out::put_back);
    CHECK(root.read(kGuarded) == "newer");
  }
  SECTION("a link stays") {
    ::unlink((root / kGuarded).c_str());
    root.link("elsewhere", kGuarded);
    CHECK(files->replace(wanted)->out == Swap::Out::put_back);
    CHECK(root.link_text(kGuarded) == "elsewhere");
  }
  CHECK(nothing_left_beside(root));
}

// What came out is put back in turn while the writer goes on: whatever the order, his last node is the one that stands.
TEST_CASE("replace: nodes that come while one is put back are never exchanged for an older one") {
  const TempRoot root;
  root.link("0", kGuarded);
  const auto files = root.files();
  Replacement wanted = replacing(files->observe(kGuarded), "ours");
  wanted.judged_kind = NodeKind::link;
  wanted.judged_link = "judged long ago";
  const std::string name = root / kGuarded, temporary = name + ".new";
  std::function<void(int)> make = [&](int i) { (void)!::symlink(std::to_string(i).c_str(), temporary.c_str()); };
  std::function<std::string()> stands = [&] { return root.link_text(kGuarded); };
  SECTION("links") {}
  SECTION("secrets, all alike where they aren't read") {
    wanted.through_link = true;
    make = [&](int i) { root.write("/etc/resolv.conf.new", std::to_string(i), 0600); };
    stands = [&] { return root.read(kGuarded); };
  }
  int older = 0;
  for (int last = 1000; last <= 30'000; last += 1000) {
    std::atomic<bool> through = false;
    std::thread writer([&] {
      for (int i = last - 999; i <= last; ++i) {
        make(i);
        (void)!::rename(temporary.c_str(), name.c_str());
      }
      through = true;
    });
    while (!through) (void)files->replace(wanted);
    writer.join();
    older += stands() == std::to_string(last) ? 0 : 1;
  }
  CHECK(older == 0);
}

}  // namespace
}  // namespace rg::test
