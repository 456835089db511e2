// Every row of what inotify tells of a change, against the real kernel: inotify queues an event before the system call
// that caused it returns, so that nothing here waits.
#include "lib/watch/watcher.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"
#include "test/watch/watched.hpp"

namespace rg::test {
namespace {

TEST_CASE("watcher: what happens to the guarded name") {
  const TempRoot root;
  root.write(kName, "x");
  Watched watched(root);
  watched.arm();
  const std::string path = root / kName;
  SECTION("truncate and write: unfinished until it is closed") {
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    CHECK(watched.kinds() == Kinds{Kind::unfinished});
    REQUIRE(::write(fd.get(), "y", 1) == 1);
    CHECK(watched.kinds() == Kinds{Kind::unfinished});
    fd = FileDescriptor();
    CHECK(watched.told(Kind::finished, How::written));
  }
  SECTION("truncate(2) by path: never closed") {
    REQUIRE(::truncate(path.c_str(), 0) == 0);
    CHECK(watched.kinds() == Kinds{Kind::unfinished});
  }
  SECTION("a store through a shared mapping shows when it is unmapped") {
    FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    void* memory = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    REQUIRE(memory != MAP_FAILED);
    fd = FileDescriptor();
    *static_cast<char*>(memory) = 'y';
    CHECK(watched.kinds().empty());
    REQUIRE(::munmap(memory, 1) == 0);
    CHECK(watched.told(Kind::finished, How::written));
  }
  SECTION("temp and rename: finished") {
    root.rename_in(kName, "y");
    CHECK(watched.told(Kind::finished, How::renamed));
  }
  SECTION("exchange: finished, though the last event says that it is gone") {
    root.write("/etc/other", "y");
    (void)watched.take();
    REQUIRE(::renameat2(AT_FDCWD, (root / "/etc/other").c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0);
    CHECK(watched.told(Kind::finished, How::renamed));
  }
  SECTION("deleted") {
    REQUIRE(::unlink(path.c_str()) == 0);
    CHECK(watched.told(Kind::touched, How::removed));
  }
  SECTION("renamed away") {
    REQUIRE(::rename(path.c_str(), (root / "/etc/away").c_str()) == 0);
    CHECK(watched.told(Kind::touched, How::removed));
  }
  SECTION("symlink(2) and link(2) make it in one step") {
    REQUIRE(::unlink(path.c_str()) == 0);
    (void)watched.take();
    SECTION("symlink") { root.link("elsewhere", kName); }
    SECTION("link") {
      root.write("/elsewhere", "z");
      REQUIRE(::link((root / "/elsewhere").c_str(), path.c_str()) == 0);
    }
    CHECK(watched.told(Kind::unfinished, How::relinked));
  }
  SECTION("made by open: unfinished, then closed") {
    REQUIRE(::unlink(path.c_str()) == 0);
    watched.arm();
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    CHECK(watched.kinds() == Kinds{Kind::unfinished});
    fd = FileDescriptor();
    CHECK(watched.kinds() == Kinds{Kind::finished});
  }
  SECTION("chmod, chown, utimensat") {
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    CHECK(watched.told(Kind::touched, How::attributes));
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0);
    CHECK(watched.told(Kind::touched, How::attributes));
  }
  SECTION("written through another hard link elsewhere: the inode tells") {
    REQUIRE(::link(path.c_str(), (root / "/hard").c_str()) == 0);
    (void)watched.take();
    FileDescriptor fd(::open((root / "/hard").c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(::write(fd.get(), "y", 1) == 1);
    CHECK(watched.told(Kind::unfinished, How::written));
    fd = FileDescriptor();
    CHECK(watched.told(Kind::finished, How::written));
  }
}

TEST_CASE("watcher: other names cost no call at all") {
  const TempRoot root;
  root.write(kName, "x");
  root.write("/etc/hosts", "x");
  Watched watched(root);
  watched.arm();
  root.write("/etc/hosts", "y");
  root.rename_in("/etc/hosts", "z");
  root.write("/etc/resolv.conf.bak", "y");
  root.write("/etc/resolv.con", "y");
  root.write("/etc/.resolv.conf.resolv-guardian", "y");
  REQUIRE(::unlink((root / "/etc/hosts").c_str()) == 0);
  root.directory("/etc/sub");
  root.write("/etc/sub/resolv.conf", "y");
  const FileDescriptor reader(::open((root / kName).c_str(), O_RDONLY | O_CLOEXEC));
  CHECK(watched.take().empty());
}

TEST_CASE("watcher: the target of a link, and the way to it") {
  const TempRoot root;
  root.write("/run/r/resolv.conf", "x");
  root.link("../run/r/resolv.conf", kName);
  Watched watched(root);
  watched.arm();
  SECTION("rewritten") {
    root.rename_in("/run/r/resolv.conf", "y");
    CHECK(watched.told(Kind::finished, How::renamed));
  }
  SECTION("written in place") {
    root.write("/run/r/resolv.conf", "y");
    const Kinds kinds = watched.kinds();
    CHECK(std::count(kinds.begin(), kinds.end(), Kind::finished) == 1);
  }
  SECTION("the link itself replaced") {
    root.link("elsewhere", "/etc/new");
    (void)watched.take();
    REQUIRE(::rename((root / "/etc/new").c_str(), (root / kName).c_str()) == 0);
    CHECK(watched.told(Kind::structure, How::renamed));
  }
  SECTION("its directory renamed away") {
    REQUIRE(::rename((root / "/run/r").c_str(), (root / "/run/old").c_str()) == 0);
    CHECK(watched.told(Kind::structure, How::unknown));
  }
  SECTION("its directory removed and made anew") {
    REQUIRE(::unlink((root / "/run/r/resolv.conf").c_str()) == 0);
    REQUIRE(::rmdir((root / "/run/r").c_str()) == 0);
    CHECK(watched.told(Kind::structure, How::removed));
    CHECK(watched.watcher().lost(1));  // whatever the inode number of the new one is
    watched.arm();
    CHECK_FALSE(watched.watcher().lost(1));
    root.directory("/run/r");
    CHECK(watched.told(Kind::structure, How::relinked));
    watched.arm();
    root.write("/run/r/resolv.conf", "y");
    CHECK(watched.told(Kind::finished, How::written));
  }
  SECTION("a directory higher up renamed away") {
    REQUIRE(::rename((root / "/run").c_str(), (root / "/gone").c_str()) == 0);
    const Kinds kinds = watched.kinds();
    CHECK(std::count(kinds.begin(), kinds.end(), Kind::structure) == 1);
  }
}

TEST_CASE("watcher: a missing directory's parent tells when it comes") {
  const TempRoot root;
  root.directory("/etc");
  Watched watched(root);
  watched.arm(1, "/etc/netns/blue/resolv.conf");
  root.directory("/etc/netns");
  CHECK(watched.kinds() == Kinds{Kind::structure});
  watched.arm(1, "/etc/netns/blue/resolv.conf");
  root.directory("/etc/netns/blue");
  CHECK(watched.kinds() == Kinds{Kind::structure});
  watched.arm(1, "/etc/netns/blue/resolv.conf");
  root.write("/etc/netns/blue/resolv.conf", "x");
  const Kinds kinds = watched.kinds();
  CHECK(std::count(kinds.begin(), kinds.end(), Kind::finished) == 1);
  CHECK(std::count(kinds.begin(), kinds.end(), Kind::structure) == 0);
}

TEST_CASE("watcher: other chains and patterns are structure") {
  const TempRoot root;
  root.write(kName, "x");
  root.directory("/run/links");
  root.write("/run/nm/resolv.conf", "x");
  Watched watched(root);
  watched.arm(1, kName, {"/run/links/*", "/run/nm/resolv.conf"});
  SECTION("a match comes") {
    root.write("/run/links/3", "x");
    CHECK(watched.kinds() == Kinds{Kind::structure});
  }
  SECTION("a name with a leading dot never matches") {
    root.write("/run/links/.3.tmp", "x");
    CHECK(watched.take().empty());
  }
  SECTION("an upstream file is rewritten") {
    root.rename_in("/run/nm/resolv.conf", "y");
    CHECK(watched.kinds() == Kinds{Kind::structure});
  }
}

TEST_CASE("watcher: two guards in one directory share its watch") {
  const TempRoot root;
  root.write("/etc/a", "x");
  root.write("/etc/b", "x");
  Watched watched(root);
  watched.arm(1, "/etc/a");
  watched.arm(2, "/etc/b");
  root.rename_in("/etc/a", "y");
  for (const Told& told : watched.take()) CHECK(told.guard == 1);
  root.rename_in("/etc/b", "y");
  const auto told = watched.take();
  REQUIRE_FALSE(told.empty());
  for (const Told& one : told) CHECK(one.guard == 2);
  // One is given up: the other is watched as before.
  watched.watcher().forget(1);
  watched.arm(2, "/etc/b");
  root.rename_in("/etc/a", "z");
  CHECK(watched.take().empty());
  root.rename_in("/etc/b", "z");
  CHECK_FALSE(watched.take().empty());
}

TEST_CASE("watcher: two guards whose files are one inode are both told") {
  const TempRoot root;
  root.write("/etc/a", "x");
  root.directory("/run");
  REQUIRE(::link((root / "/etc/a").c_str(), (root / "/run/b").c_str()) == 0);
  Watched watched(root);
  watched.arm(1, "/etc/a");
  watched.arm(2, "/run/b");
  watched.arm(1, "/etc/a");  // again, as after each pass
  REQUIRE(::truncate((root / "/etc/a").c_str(), 0) == 0);
  std::vector<GuardId> guards;
  for (const Told& told : watched.take()) guards.push_back(told.guard);
  std::sort(guards.begin(), guards.end());
  CHECK(guards == std::vector<GuardId>{1, 2});
  watched.watcher().forget(2);
  REQUIRE(::truncate((root / "/etc/a").c_str(), 1) == 0);
  const auto told = watched.take();
  REQUIRE(told.size() == 1);
  CHECK(told[0].guard == 1);
}

TEST_CASE("watcher: what is forgotten is never told again") {
  const TempRoot root;
  root.write(kName, "x");
  Watched watched(root);
  watched.arm(1, kName, {"/run/none"});
  const FileDescriptor writer(::open((root / kName).c_str(), O_WRONLY | O_CLOEXEC));
  const FileDescriptor orphan(::open((root / kName).c_str(), O_RDONLY | O_CLOEXEC));
  root.rename_in(kName, "y");
  watched.arm();
  REQUIRE(watched.watcher().watch_orphan(1, orphan.get()).has_value());
  (void)watched.take();
  watched.watcher().forget(1);
  root.rename_in(kName, "z");
  REQUIRE(::truncate((root / kName).c_str(), 0) == 0);
  REQUIRE(::write(writer.get(), "w", 1) == 1);
  { const FileDescriptor closing(::open(("/proc/self/fd/" + std::to_string(orphan.get())).c_str(), O_WRONLY)); }
  CHECK(watched.take().empty());
}

TEST_CASE("watcher: a file without a name is watched until its writer closes it") {
  const TempRoot root;
  root.write(kName, "x");
  Watched watched(root);
  watched.arm();
  FileDescriptor writer(::open((root / kName).c_str(), O_WRONLY | O_CLOEXEC));
  const FileDescriptor held(::open((root / kName).c_str(), O_RDONLY | O_CLOEXEC));
  root.rename_in(kName, "ours");
  const auto watch = watched.watcher().watch_orphan(1, held.get());
  REQUIRE(watch.has_value());
  watched.arm();
  REQUIRE(::write(writer.get(), "late", 4) == 4);
  CHECK(watched.take().empty());
  writer = FileDescriptor();
  // The directory tells of it too: the file had this name when its writer opened it.
  auto told = watched.take();
  std::erase_if(told, [](const Told& one) { return one.change.kind == Kind::finished; });
  REQUIRE(told.size() == 1);
  CHECK(told[0].change.kind == Kind::orphan);
  CHECK(told[0].change.watch == *watch);
  watched.watcher().forget_orphan(*watch);
  CHECK(watched.take().empty());
  root.rename_in(kName, "next");  // the guarded name is watched as before
  CHECK(watched.told(Kind::finished, How::renamed));
}

TEST_CASE("watcher: an overflow concerns every guard, and watching goes on") {
  const TempRoot root("/dev/shm");
  root.write(kName, "x");
  Watched watched(root);
  watched.arm();
  const std::string a = root / "/etc/a", b = root / "/etc/b";
  root.write("/etc/a", "x");
  for (int i = 0; i < 40'000; ++i) {  // over fs.inotify.max_queued_events, 16384 by default
    REQUIRE(::rename((i % 2 == 0 ? a : b).c_str(), (i % 2 == 0 ? b : a).c_str()) == 0);
  }
  bool every = false;
  int reads = 0;
  for (; reads < 200 && !every; ++reads) {
    watched.watcher().read([&](GuardId guard, const Change& change) {
      every = every || (guard == kEveryGuard && change.kind == Kind::structure);
    });
  }
  CHECK(every);
  CHECK(reads > 1);  // one buffer a call: it never drains until empty
  (void)watched.take();
  root.rename_in(kName, "y");
  CHECK(watched.told(Kind::finished, How::renamed));
}

}  // namespace
}  // namespace rg::test
