#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"

namespace rg::test {
namespace {

using Texts = std::vector<std::string>;

Texts expand(const TempRoot& root, const std::string& pattern) {
  return root.files()->expand(pattern, [](const Chain&) {}).paths;
}

TEST_CASE("glob: numbers by their value, other names by their bytes") {
  const TempRoot root;
  for (const char* name : {"10", "2", "1", "b", "a", "100"}) root.write(std::string("/links/") + name, "x");
  CHECK(expand(root, "/links/*") == Texts{"/links/1", "/links/2", "/links/10", "/links/100", "/links/a", "/links/b"});
}

TEST_CASE("glob: a leading dot never matches a wildcard") {
  const TempRoot root;
  root.write("/links/.2.tmp", "x");
  root.write("/links/3", "x");
  CHECK(expand(root, "/links/*") == Texts{"/links/3"});
  CHECK(expand(root, "/links/?2.tmp").empty());
  CHECK(expand(root, "/links/[.]2.tmp").empty());
  CHECK(expand(root, "/links/.2*") == Texts{"/links/.2.tmp"});
}

TEST_CASE("glob: in any component, and only what is there") {
  const TempRoot root;
  root.write("/etc/netns/blue/resolv.conf", "x");
  root.write("/etc/netns/red/resolv.conf", "x");
  root.directory("/etc/netns/bare");                   // no resolv.conf in it: nothing to guard, and nothing to make
  root.write("/etc/netns/file", "x");                  // no directory
  root.link("/none", "/etc/netns/green/resolv.conf");  // a name is there, wherever it leads
  CHECK(expand(root, "/etc/netns/*/resolv.conf") ==
        Texts{"/etc/netns/blue/resolv.conf", "/etc/netns/green/resolv.conf", "/etc/netns/red/resolv.conf"});
  CHECK(expand(root, "/e*/netns/r?d/resolv*") == Texts{"/etc/netns/red/resolv.conf"});
  CHECK(expand(root, "/none/*").empty());
}

TEST_CASE("glob: what must be watched to see the next match") {
  const TempRoot root;
  root.write("/etc/netns/blue/resolv.conf", "x");
  root.directory("/etc/netns/bare");
  bool listed = false, bare = false;
  std::size_t steps = 0;
  (void)root.files()->expand("/etc/netns/*/resolv.conf", [&](const Chain& chain) {
    if (chain.steps.back().place.name == "*") listed = true;
    if (chain.path == "/etc/netns/bare/resolv.conf") bare = true;
    steps += chain.steps.size();
  });
  CHECK(steps == 3 + 2);  // what leads to all of them is told once
  CHECK(listed);          // a new directory
  CHECK(bare);            // the file in a directory that has none yet
  root.directory("/run");
  std::vector<Chain> missing;
  (void)root.files()->expand("/run/none/links/*", [&](Chain chain) { missing.push_back(std::move(chain)); });
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].steps.back().place.name == "none");  // its nearest existing parent
}

TEST_CASE("glob: what can't be looked into isn't taken for empty") {
  const TempRoot root;
  for (int i = 0; i < 60; ++i) root.write("/etc/netns/n" + std::to_string(i) + "/resolv.conf", "x");
  const auto files = root.files();
  rlimit before{}, few{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const auto expand = [&] { return files->expand("/etc/netns/*/resolv.conf", [](const Chain&) {}); };
  CHECK(expand().error == 0);
  few = {static_cast<rlim_t>(::dup(0)) + 2, before.rlim_max};  // nothing can be opened any more but a few
  ::setrlimit(RLIMIT_NOFILE, &few);
  const GlobMatch match = expand();
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(match.error == EMFILE);
}

TEST_CASE("glob: links are followed inside the root alone") {
  const TempRoot root;
  root.link("../canary", "/out");
  root.link(root.outside(), "/abs");
  CHECK(expand(root, "/out/*").empty());
  CHECK(expand(root, "/abs/canary/*").empty());
  CHECK(expand(root, "/../canary/*").empty());
}

TEST_CASE("glob: bounded") {
  const TempRoot root("/dev/shm");
  root.directory("/many");
  for (int i = 0; i < 10'050; ++i) {
    const FileDescriptor fd(
        ::open((root / ("/many/" + std::to_string(i))).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
  CHECK(expand(root, "/many/*").size() == 10'000);
}

TEST_CASE("has_glob") {
  CHECK(has_glob("/etc/*"));
  CHECK(has_glob("/etc/?"));
  CHECK(has_glob("/etc/[a]"));
  CHECK_FALSE(has_glob("/etc/resolv.conf"));
}

}  // namespace
}  // namespace rg::test
