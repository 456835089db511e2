#include <linux/fs.h>
#include <sys/ioctl.h>

#include <climits>

#include "test/support/catch.hpp"
#include "test/tree/replacing.hpp"

namespace rg::test {
namespace {

TEST_CASE("temporary name: fits a file name, is its own for each name, and never cuts a character") {
  CHECK(temporary_name("resolv.conf") == ".resolv.conf.resolv-guardian");
  CHECK(temporary_name(std::string(238, 'a')) == "." + std::string(238, 'a') + ".resolv-guardian");
  for (std::size_t size = 1; size <= NAME_MAX; ++size) CHECK(temporary_name(std::string(size, 'a')).size() <= NAME_MAX);
  CHECK(temporary_name(std::string(254, 'a') + "b") != temporary_name(std::string(254, 'a') + "c"));
  std::string umlauts = "x";
  while (umlauts.size() < 250) umlauts += "\xC3\xA4";
  const std::string name = temporary_name(umlauts);
  const std::size_t cut = name.rfind('.', name.rfind('.') - 1);
  CHECK(name[cut - 1] == '\xA4');
  CHECK(temporary_name("x" + umlauts).size() <= NAME_MAX);
}

TEST_CASE("replace: a name as long as a name can be") {
  const TempRoot root;
  const std::string path = "/etc/" + std::string(NAME_MAX, 'n');
  root.write(path, "theirs");
  const auto files = root.files();
  const Seen judged = files->observe(path);
  const auto swap = files->replace(replacing(judged, "ours"));
  REQUIRE(swap.has_value());
  CHECK(swap->way == Swap::Way::exchanged);
  CHECK(root.read(path) == "ours");
  CHECK(root.names("/etc").size() == 1);
}

TEST_CASE("replace: what stands in the way of the temporary file is named") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const std::string temporary = temporary_name("resolv.conf");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  std::string word;
  bool immutable = false;
  SECTION("a directory") {
    root.directory("/etc/" + temporary);
    word = "directory: ";
  }
  SECTION("an immutable file") {
    root.write("/etc/" + temporary, "x");
    const FileDescriptor fd(::open((root / ("/etc/" + temporary)).c_str(), O_RDONLY | O_CLOEXEC));
    int flags = FS_IMMUTABLE_FL;
    immutable = ::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags) == 0;
    if (!immutable) {
      WARN("SKIP: chattr isn't allowed here");
      return;
    }
    word = "immutable: ";
  }
  const auto swap = files->replace(replacing(judged, "ours"));
  CHECK_FALSE(swap.has_value());
  const std::string reason = swap ? "" : files->refusal(judged.name(), swap.error());
  CHECK(reason.substr(0, word.size()) == word);
  CHECK(reason.find(temporary) != std::string::npos);
  CHECK(root.read(kGuarded) == "theirs");
  if (!immutable) return;
  const FileDescriptor fd(::open((root / ("/etc/" + temporary)).c_str(), O_RDONLY | O_CLOEXEC));
  int flags = 0;
  ::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags);
}

}  // namespace
}  // namespace rg::test
