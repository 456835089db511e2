#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <csignal>

#include "test/support/catch.hpp"
#include "test/tree/replacing.hpp"

namespace rg::test {
namespace {

// Runs `body` in a child; 77 = skipped, 0 = all is well.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

// A guarded file that is a mount point, from a file system of 64 KiB that is full but for nothing.
int mount_full_file(const TempRoot& root) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (::mount("tmpfs", (root / "/small").c_str(), "tmpfs", 0, "size=64k") != 0) return 77;
  root.write("/small/r", "theirs");
  const FileDescriptor filler(::open((root / "/small/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  while (::write(filler.get(), page.data(), page.size()) > 0) continue;
  return ::mount((root / "/small/r").c_str(), (root / kGuarded).c_str(), nullptr, MS_BIND, nullptr) == 0 ? 0 : 77;
}

TEST_CASE("in place: a full file system is an error of its own, and nothing was touched") {
  const TempRoot root;
  root.directory("/small");
  root.write(kGuarded, "below");
  const int result = in_child([&] {
    if (const int mounted = mount_full_file(root); mounted != 0) return mounted;
    const auto files = root.files();
    const Seen judged = files->observe(kGuarded);
    const std::string large = "new at the front " + std::string(10'000, 'y');
    const auto swap = files->replace(replacing(judged, large));
    if (swap) return 1;
    if (swap.error().code != ENOSPC) return 2;
    if (!files->refusal(judged.name(), swap.error()).empty()) return 3;
    if (root.read(kGuarded) != "theirs") return 4;
    if (!nothing_left_beside(root)) return 5;
    // Nobody had it open for writing: that would be an event, and wake us for the next try.
    const struct stat before = judged.info;
    const struct stat after = root.info(kGuarded);
    if (before.st_mtim.tv_nsec != after.st_mtim.tv_nsec) return 6;
    ::unlink((root / "/small/filler").c_str());
    return files->replace(replacing(judged, large)) && root.read(kGuarded) == large ? 0 : 7;
  });
  if (result == 77) {
    WARN("SKIP: no mount namespaces here");
    return;
  }
  CHECK(result == 0);
}

// RLIMIT_FSIZE ends a write(2) half-way, as a full disk would that nobody could foresee.
TEST_CASE("in place: a write that ends half-way gives the old bytes back") {
  const std::string old = GENERATE(std::string("theirs"), std::string(6000, 'o'));
  const TempRoot root;
  root.write(kGuarded, old);
  const int result = in_child([&] {
    const auto files = root.files();
    const Seen judged = files->observe(kGuarded);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5000, 5000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    const std::string large(10'000, 'y');
    Replacement wanted = replacing(judged, large);
    wanted.in_place = true;
    const auto swap = files->replace(wanted);
    if (swap) return 1;
    if (swap.error().code != EFBIG) return 2;
    return root.read(kGuarded) == old ? 0 : 3;
  });
  CHECK(result == 0);
}

}  // namespace
}  // namespace rg::test
