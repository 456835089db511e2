// What a glob matches, watched against the real kernel.
#include <unistd.h>

#include "test/watch/watched.hpp"

namespace rg::test {
namespace {

TEST_CASE("watcher: what a glob matches tells when it comes or goes, not when it is rewritten") {
  const TempRoot root;
  const std::string there = "/etc/netns/blue/resolv.conf", pattern = "/etc/netns/*/resolv.conf";
  root.write(there, "x");
  root.directory("/etc/netns/bare");
  const auto files = root.files();
  Watched watched(root);
  watched.watcher().begin_watch(1);
  const GlobMatch match =
      files->expand(pattern, [&](const Chain& chain) { REQUIRE(watched.watcher().add_watch(1, chain).has_value()); });
  watched.watcher().end_watch(1);
  REQUIRE(match.paths == std::vector<std::string>{there});
  SECTION("rewritten by rename, in place, and by an exchange of ours") {
    root.rename_in(there, "y");
    root.write(there, "z");
    const Seen seen = files->observe(there);
    Replacement wanted;
    wanted.place = seen.target();
    wanted.judged_kind = NodeKind::file;
    wanted.judged_bytes = seen.bytes;
    wanted.judged = &seen;
    wanted.content = "ours";
    REQUIRE(files->replace(wanted).has_value());
    CHECK(watched.take().empty());
    root.rename_in(there, "w");
    CHECK(watched.take().empty());
  }
  SECTION("removed, and made again") {
    REQUIRE(::unlink((root / there).c_str()) == 0);
    CHECK(watched.kinds() == Kinds{Kind::structure});
    root.write(there, "x");
    CHECK(watched.kinds() == Kinds{Kind::structure});
  }
  SECTION("one more, in a directory that was there and in a new one") {
    root.rename_in("/etc/netns/bare/resolv.conf", "x");
    CHECK(watched.kinds() == Kinds{Kind::structure});
    root.directory("/etc/netns/red");
    CHECK(watched.kinds() == Kinds{Kind::structure});
  }
}

}  // namespace
}  // namespace rg::test
