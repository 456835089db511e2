#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "test/support/catch.hpp"
#include "test/tree/replacing.hpp"

namespace rg::test {
namespace {

// chattr(1): false where it isn't allowed, or unknown to the file system.
bool set_flag(const std::string& path, int flag, bool on) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  int flags = 0;
  if (!fd || ::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) != 0) return false;
  flags = on ? flags | flag : flags & ~flag;
  return ::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags) == 0;
}

struct Flagged {
  Flagged(std::string path_, int flag_) : path(std::move(path_)), flag(flag_), set(set_flag(path, flag, true)) {}
  ~Flagged() {
    if (set) set_flag(path, flag, false);
  }
  std::string path;
  int flag;
  bool set;
};

bool begins(const std::string& text, const std::string& word) { return text.substr(0, word.size()) == word; }

TEST_CASE("refusal: immutable and append-only, before and after trying") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  CHECK(files->standing_refusal(judged.name()).empty());
  const auto [what, flag] = GENERATE(table<std::string, int>(
      {{"/etc/resolv.conf", FS_IMMUTABLE_FL}, {"/etc/resolv.conf", FS_APPEND_FL}, {"/etc", FS_IMMUTABLE_FL}}));
  const Flagged flagged(root / what, flag);
  if (!flagged.set) {
    WARN("SKIP: chattr isn't allowed here");
    return;
  }
  CHECK(begins(files->standing_refusal(judged.name()), "immutable: "));
  CHECK(files->standing_refusal(judged.name()).find("chattr -") != std::string::npos);
  Replacement link = replacing(judged, "../run/x");
  link.make_link = true;
  CHECK(begins(files->foreseen_refusal(link), "immutable: "));
  const bool in_place = what != "/etc";  // the file in an immutable directory can still be written over
  const std::string foreseen = files->foreseen_refusal(replacing(judged, "ours"));
  const auto swap = files->replace(replacing(judged, "ours"));
  if (in_place) {
    REQUIRE_FALSE(swap.has_value());
    CHECK(begins(files->refusal(judged.name(), swap.error()), "immutable: "));
    CHECK(foreseen == files->refusal(judged.name(), swap.error()));
    CHECK(root.read(kGuarded) == "theirs");
  } else {
    REQUIRE(swap.has_value());
    CHECK(foreseen.empty());
    CHECK(swap->way == Swap::Way::in_place);
    CHECK(root.read(kGuarded) == "ours");
  }
  CHECK(nothing_left_beside(root));
}

TEST_CASE("refusal: what stands where our temporary file belongs is foreseen, but for a file that can go") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  const std::string temporary = "/etc/" + temporary_name("resolv.conf");
  CHECK(files->foreseen_refusal(replacing(judged, "ours")).empty());
  SECTION("a file") {
    root.write(temporary, "left");
    CHECK(files->foreseen_refusal(replacing(judged, "ours")).empty());
  }
  SECTION("a directory") {
    root.directory(temporary);
    const std::string foreseen = files->foreseen_refusal(replacing(judged, "ours"));
    CHECK(begins(foreseen, "directory: "));
    Replacement wanted = replacing(judged, "ours");
    const auto swap = files->replace(wanted);
    REQUIRE_FALSE(swap.has_value());
    CHECK(foreseen == files->refusal(judged.name(), swap.error()));
    wanted.in_place = true;
    CHECK(files->foreseen_refusal(wanted).empty());
  }
}

// Runs `body` in a child with a mount namespace of its own; 77 = skipped, 0 = all is well.
template <class Body>
int in_mount_namespace(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(77);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST_CASE("refusal: a read-only mount") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const int result = in_mount_namespace([&] {
    const std::string etc = root / "/etc";
    if (::mount(etc.c_str(), etc.c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
    if (::mount("none", etc.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 77;
    const auto files = root.files();
    const Seen judged = files->observe(kGuarded);
    const std::string foreseen = files->foreseen_refusal(replacing(judged, "ours"));
    const auto swap = files->replace(replacing(judged, "ours"));
    if (swap) return 1;
    if (foreseen != files->refusal(judged.name(), swap.error())) return 3;
    const Seen absent = files->observe("/etc/none");
    if (!begins(files->foreseen_refusal(replacing(absent, "ours")), "read-only: ")) return 4;
    return begins(foreseen, "read-only: ") ? 0 : 2;
  });
  if (result == 77) {
    WARN("SKIP: no mount namespaces here");
    return;
  }
  CHECK(result == 0);
  CHECK(root.read(kGuarded) == "theirs");
}

TEST_CASE("replace: a mount point of one file is written in place") {
  const TempRoot root;
  root.write("/source", "theirs");
  root.write(kGuarded, "below");
  const int result = in_mount_namespace([&] {
    if (::mount((root / "/source").c_str(), (root / kGuarded).c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
    const auto files = root.files();
    const Seen judged = files->observe(kGuarded);
    const auto swap = files->replace(replacing(judged, "ours"));
    if (!swap) return 1;
    if (swap->way != Swap::Way::in_place || root.read(kGuarded) != "ours") return 2;
    if (!nothing_left_beside(root)) return 3;
    // A link can't be made there: the word says so.
    const Seen now = files->observe(kGuarded);
    Replacement link = replacing(now, "../run/x");
    link.make_link = true;
    if (!files->foreseen_refusal(replacing(now, "ours")).empty()) return 6;
    const std::string foreseen = files->foreseen_refusal(link);
    const auto made = files->replace(link);
    if (made || !nothing_left_beside(root)) return 4;
    if (foreseen != files->refusal(now.name(), made.error())) return 7;
    return begins(foreseen, "permission: ") ? 0 : 5;
  });
  if (result == 77) {
    WARN("SKIP: no mount namespaces here");
    return;
  }
  CHECK(result == 0);
  CHECK(root.read("/source") == "ours");
}

TEST_CASE("mount point: a file that is one, and not what merely lies on another mount") {
  const TempRoot root;
  root.write("/source", "theirs");
  root.write(kGuarded, "below");
  root.write("/run/etc/resolv.conf", "in a directory");
  const int result = in_mount_namespace([&] {
    const auto files = root.files();
    if (is_mount_point(files->observe(kGuarded).name())) return 1;
    if (::mount((root / "/source").c_str(), (root / kGuarded).c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
    if (!is_mount_point(files->observe(kGuarded).name())) return 2;
    if (::umount((root / kGuarded).c_str()) != 0 || is_mount_point(files->observe(kGuarded).name())) return 3;
    if (::mount((root / "/run/etc").c_str(), (root / "/etc").c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
    const Seen inside = files->observe(kGuarded);
    return inside.bytes == "in a directory" && !is_mount_point(inside.name()) ? 0 : 4;
  });
  if (result == 77) {
    WARN("SKIP: no mount namespaces here");
    return;
  }
  CHECK(result == 0);
}

TEST_CASE("refusal: no permission") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  ::chmod(root.outside().c_str(), 0755);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(77);
    if (::geteuid() != 65534) ::chmod((root / "/etc").c_str(), 0555);
    if (::geteuid() != 65534) ::chmod((root / kGuarded).c_str(), 0444);
    const auto swap = files->replace(replacing(judged, "ours"));
    if (swap) ::_exit(1);
    ::_exit(begins(files->refusal(judged.name(), swap.error()), "permission: ") ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::chmod((root / "/etc").c_str(), 0755);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(root.read(kGuarded) == "theirs");
}

TEST_CASE("refusal: an I/O error is none") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  CHECK(files->refusal(judged.name(), Error(EIO, "write")).empty());
  CHECK(files->refusal(judged.name(), Error(ENOSPC, "write")).empty());
}

TEST_CASE("leftover: told, discarded, and never in the way") {
  const TempRoot root;
  root.write(kGuarded, "theirs");
  const std::string temporary = "/etc/" + temporary_name("resolv.conf");
  const auto files = root.files();
  const Seen judged = files->observe(kGuarded);
  CHECK_FALSE(files->leftover(judged.name(), false));
  SECTION("a file") {
    root.write(temporary, "left", 0640);
    const auto left = files->leftover(judged.name(), false);
    REQUIRE(left);
    CHECK(left->kind == NodeKind::file);
    CHECK(left->text == "left");
    CHECK((left->info.st_mode & 07777U) == 0640);
  }
  SECTION("a link") {
    root.link("elsewhere", temporary);
    const auto left = files->leftover(judged.name(), false);
    REQUIRE(left);
    CHECK(left->kind == NodeKind::link);
    CHECK(left->text == "elsewhere");
  }
  SECTION("discarded") {
    root.write(temporary, "left");
    files->discard_leftover(judged.name());
    CHECK_FALSE(files->leftover(judged.name(), false));
  }
  REQUIRE(files->replace(replacing(judged, "ours")).has_value());
  CHECK(root.read(kGuarded) == "ours");
  CHECK(nothing_left_beside(root));
}

TEST_CASE("replace: a full file system leaves the old file and no temporary one") {
  const TempRoot root;
  root.directory("/etc");
  const int result = in_mount_namespace([&] {
    if (::mount("tmpfs", (root / "/etc").c_str(), "tmpfs", 0, "size=64k") != 0) return 77;
    root.write(kGuarded, "theirs");
    const auto files = root.files();
    const Seen judged = files->observe(kGuarded);
    const std::string large(256 * 1024, 'x');
    const auto swap = files->replace(replacing(judged, large));
    if (swap) return 1;
    if (swap.error().code != ENOSPC || root.read(kGuarded) != "theirs") return 2;
    return nothing_left_beside(root) ? 0 : 3;
  });
  if (result == 77) {
    WARN("SKIP: no mount namespaces here");
    return;
  }
  CHECK(result == 0);
}

}  // namespace
}  // namespace rg::test
