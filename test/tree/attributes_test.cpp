// What a replaced file hands on beside its bytes: mode, owner, ACL, extended attributes, time of modification.
#include <sys/xattr.h>

#include <array>
#include <cstring>

#include "test/support/catch.hpp"
#include "test/tree/replacing.hpp"

namespace rg::test {
namespace {

struct Umask {
  explicit Umask(mode_t mask) : was(::umask(mask)) {}
  ~Umask() { ::umask(was); }
  mode_t was;
};

TEST_CASE("replace: attributes only") {
  const TempRoot root;
  root.write(kGuarded, "content", 0600);
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  const struct stat before = root.info(kGuarded);
  Replacement wanted = replacing(judged, "content");
  wanted.only_attributes = true;
  SECTION("the mode alone changes") {
    const auto swap = files->replace(wanted);
    REQUIRE(swap.has_value());
    CHECK(swap->way == Swap::Way::attributes);
    const struct stat after = root.info(kGuarded);
    CHECK((after.st_mode & 07777U) == 0644);
    CHECK(after.st_ino == before.st_ino);
    CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    CHECK(root.read(kGuarded) == "content");
  }
  SECTION("a directory that came there keeps its mode") {
    ::unlink((root / kGuarded).c_str());
    root.directory(kGuarded);
    ::chmod((root / kGuarded).c_str(), 0755);
    CHECK(files->replace(wanted)->out == Swap::Out::put_back);
    CHECK((root.info(kGuarded).st_mode & 07777U) == 0755);
  }
  SECTION("a FIFO that came there isn't waited for") {
    ::unlink((root / kGuarded).c_str());
    REQUIRE(::mkfifo((root / kGuarded).c_str(), 0600) == 0);
    CHECK(files->replace(wanted)->out == Swap::Out::put_back);
    CHECK((root.info(kGuarded).st_mode & 07777U) == 0600);
  }
}

TEST_CASE("replace: the mode is exact, whatever the umask and the ACLs say") {
  const TempRoot root;
  root.write(kGuarded, "theirs", 0600);
  const auto files = root.files();
  const Umask umask(GENERATE(0000, 0022, 0077, 0777));
  const mode_t mode = GENERATE(0644, 0664, 0600, 0400, 0755);
  Seen judged = files->observe(kGuarded);
  Replacement wanted = replacing(judged, "ours");
  wanted.mode = mode;
  REQUIRE(files->replace(wanted).has_value());
  CHECK((root.info(kGuarded).st_mode & 07777U) == mode);
  judged = files->observe(kGuarded);
  wanted = replacing(judged, "again");
  wanted.in_place = true;
  wanted.mode = 0640;
  REQUIRE(files->replace(wanted).has_value());
  CHECK((root.info(kGuarded).st_mode & 07777U) == 0640);
}

TEST_CASE("replace: the mode and the owner are exact for one file after another in a held directory") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  const Umask umask(GENERATE(0022, 0077));
  const bool give_away = GENERATE(false, true);
  Seen seen = files->observe(kGuarded);
  int n = 0;
  for (const mode_t mode : {0644, 0664, 0600, 0666, 0644, 0755}) {
    const bool owned = give_away && n % 2 == 0 && ::chown((root / kGuarded).c_str(), 101, 102) == 0;
    seen = files->look_again(kGuarded, seen);
    const std::string content = "ours " + std::to_string(++n);
    Replacement wanted = replacing(seen, content);
    wanted.mode = mode;
    REQUIRE(files->replace(wanted).has_value());
    CHECK((root.info(kGuarded).st_mode & 07777U) == mode);
    if (owned) CHECK(root.info(kGuarded).st_uid == 101);
    if (owned) CHECK(root.info(kGuarded).st_gid == 102);
  }
  // Made anew by us, then another's: the owner isn't remembered from one to the other.
  ::unlink((root / kGuarded).c_str());
  seen = files->look_again(kGuarded, seen);
  REQUIRE(files->replace(replacing(seen, "made")).has_value());
  CHECK((root.info(kGuarded).st_mode & 07777U) == 0644);
  CHECK(root.info(kGuarded).st_uid == ::geteuid());
}

// system.posix_acl_access, linux/posix_acl_xattr.h: version 2, then tag, permissions, id. A mask entry is what stat(2)
// shows as the permissions of the group.
TEST_CASE("replace: an ACL is kept and the mode is exact all the same") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  struct {
    std::uint32_t version = 2;
    std::array<Entry, 5> entries{{{0x01, 6, ~0U}, {0x02, 6, 12345}, {0x04, 4, ~0U}, {0x10, 6, ~0U}, {0x20, 4, ~0U}}};
  } acl;
  if (::setxattr((root / kGuarded).c_str(), "system.posix_acl_access", &acl, sizeof acl, 0) != 0) {
    WARN("SKIP: no ACLs on this file system");
    return;
  }
  REQUIRE((root.info(kGuarded).st_mode & 07777U) == 0664);
  const Umask umask(GENERATE(0000, 0022));
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  REQUIRE(files->replace(replacing(judged, "ours")).has_value());
  CHECK((root.info(kGuarded).st_mode & 07777U) == 0644);
  std::array<char, 256> value{};
  CHECK(::getxattr((root / kGuarded).c_str(), "system.posix_acl_access", value.data(), value.size()) == sizeof acl);
}

TEST_CASE("replace: owner, group and user attributes are the replaced file's") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const std::string path = root / kGuarded;
  const bool attributes = ::setxattr(path.c_str(), "user.note", "kept", 4, 0) == 0;
  const bool owned = ::geteuid() == 0 && ::chown(path.c_str(), 101, 102) == 0;
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  REQUIRE(files->replace(replacing(judged, "ours")).has_value());
  const struct stat after = root.info(kGuarded);
  if (owned) {
    CHECK(after.st_uid == 101);
    CHECK(after.st_gid == 102);
  } else {
    WARN("SKIP: only root can give a file away");
  }
  CHECK((after.st_mode & 07777U) == 0644);
  if (attributes) {
    std::array<char, 16> value{};
    CHECK(::getxattr(path.c_str(), "user.note", value.data(), value.size()) == 4);
    CHECK(std::memcmp(value.data(), "kept", 4) == 0);
  } else {
    WARN("SKIP: no user.* attributes on this file system");
  }
}

// Go looks at the time of modification and nothing else. By quick looks: a stat of the directory in between would make
// Linux 6.13 and later give fine-grained stamps, which differ by themselves.
TEST_CASE("replace: the time of modification is never the replaced one's") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  Seen judged = files->observe(kGuarded);
  int equal = 0;
  for (int i = 0; i < 300; ++i) {
    root.rename_in(kGuarded, "theirs");
    judged = files->look_again(kGuarded, judged);
    REQUIRE(files->replace(replacing(judged, "ours")).has_value());
    const struct stat after = root.info(kGuarded);
    const timespec &was = judged.info.st_mtim, &is = after.st_mtim;
    equal += was.tv_sec == is.tv_sec && was.tv_nsec == is.tv_nsec ? 1 : 0;
  }
  CHECK(equal == 0);
}

}  // namespace
}  // namespace rg::test
