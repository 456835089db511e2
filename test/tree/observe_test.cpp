#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <array>
#include <cstring>

#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"

namespace rg::test {
namespace {

constexpr const char* kName = "/etc/resolv.conf";

// Tells whether somebody opened a node since this was made (O_PATH does not count).
class Opened {
 public:
  explicit Opened(const std::string& path) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(::inotify_add_watch(fd_.get(), path.c_str(), IN_OPEN) >= 0);
  }
  [[nodiscard]] bool yes() const {
    std::array<char, 4096> buffer{};
    return ::read(fd_.get(), buffer.data(), buffer.size()) > 0;
  }

 private:
  FileDescriptor fd_;
};

TEST_CASE("observe: a regular file") {
  const TempRoot root;
  root.write(kName, "nameserver 192.0.2.1\n", 0600);
  const Seen seen = root.files()->observe(kName);
  CHECK(seen.kind == NodeKind::file);
  CHECK(seen.bytes == "nameserver 192.0.2.1\n");
  CHECK((seen.info.st_mode & 07777U) == 0600);
  CHECK(seen.error == 0);
  CHECK_FALSE(seen.linked());
  REQUIRE(seen.file);
  CHECK(seen.target().name == "resolv.conf");
}

TEST_CASE("observe: what is no regular file is never opened") {
  const TempRoot root;
  root.directory("/etc");
  const std::string path = root / kName;
  SECTION("a FIFO, whose open would wait for a writer and let one in") { REQUIRE(::mkfifo(path.c_str(), 0644) == 0); }
  SECTION("a device, whose open can do things") {
    if (::mknod(path.c_str(), S_IFCHR | 0644, makedev(1, 3)) != 0) {
      WARN("SKIP: mknod isn't allowed here");
      return;
    }
  }
  const Opened opened(path);
  Seen seen = root.files()->observe(kName);
  CHECK(seen.kind == NodeKind::other);
  CHECK_FALSE(seen.file);
  CHECK_FALSE(opened.yes());
}

TEST_CASE("look_again: a FIFO that came to the name of a file isn't opened either") {
  const TempRoot root;
  root.write(kName, "x");
  const auto files = root.files();
  const Seen before = files->observe(kName);
  REQUIRE(::unlink((root / kName).c_str()) == 0);
  REQUIRE(::mkfifo((root / kName).c_str(), 0644) == 0);
  const Opened opened(root / kName);
  CHECK(files->look_again(kName, before).kind == NodeKind::other);
  CHECK_FALSE(opened.yes());
}

TEST_CASE("observe: sockets and directories") {
  const TempRoot root;
  root.directory(kName);
  CHECK(root.files()->observe(kName).kind == NodeKind::directory);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = root / "/s";
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(root.files()->observe("/s").kind == NodeKind::other);
}

TEST_CASE("observe: a link to a secret isn't read") {
  const TempRoot root;
  root.write("/etc/shadow", "secret", 0600);
  root.link("shadow", kName);
  const Opened opened(root / "/etc/shadow");
  const Seen seen = root.files()->observe(kName);
  CHECK(seen.kind == NodeKind::unreadable);
  CHECK(seen.error == EACCES);
  CHECK(seen.bytes.empty());
  CHECK_FALSE(seen.file);
  CHECK_FALSE(opened.yes());
  CHECK(root.files()->observe("/etc/shadow").bytes == "secret");  // by its own name it is
  ::chmod((root / "/etc/shadow").c_str(), 0604);
  CHECK(root.files()->observe(kName).bytes == "secret");
}

TEST_CASE("observe: only the first MiB and one byte more") {
  const TempRoot root;
  root.write(kName, std::string((1U << 20U) + 5000, 'x'));
  CHECK(root.files()->observe(kName).bytes.size() == (1U << 20U) + 1);
  root.write(kName, std::string(4096, 'y'));  // a whole block
  CHECK(root.files()->observe(kName).bytes == std::string(4096, 'y'));
  root.write(kName, "");
  CHECK(root.files()->observe(kName).kind == NodeKind::file);
}

TEST_CASE("look_again: what stands now at the name in the held directory") {
  const TempRoot root;
  root.write(kName, "old");
  const auto files = root.files();
  const Seen before = files->observe(kName);
  SECTION("rewritten") {
    root.rename_in(kName, "new");
    const Seen now = files->look_again(kName, before);
    CHECK(now.bytes == "new");
    CHECK(now.kind == NodeKind::file);
    CHECK(same_chain(now.chain, before.chain));
  }
  SECTION("gone") {
    ::unlink((root / kName).c_str());
    CHECK(files->look_again(kName, before).kind == NodeKind::absent);
  }
  SECTION("a link came") {
    ::unlink((root / kName).c_str());
    root.write("/etc/other", "other");
    root.link("other", kName);
    const Seen now = files->look_again(kName, before);
    CHECK(now.linked());
    CHECK(now.bytes == "other");
  }
  SECTION("a link to a secret came") {
    ::unlink((root / kName).c_str());
    root.write("/etc/shadow", "secret", 0600);
    root.link("shadow", kName);
    const Opened opened(root / "/etc/shadow");
    CHECK(files->look_again(kName, before).kind == NodeKind::unreadable);
    CHECK_FALSE(opened.yes());
  }
  SECTION("a directory came") {
    ::unlink((root / kName).c_str());
    root.directory(kName);
    CHECK(files->look_again(kName, before).kind == NodeKind::directory);
  }
}

TEST_CASE("look_again: from a link or an absent name it walks afresh") {
  const TempRoot root;
  root.write("/run/a", "a");
  root.write("/run/b", "b");
  root.link("/run/a", kName);
  const auto files = root.files();
  const Seen before = files->observe(kName);
  ::unlink((root / kName).c_str());
  root.link("/run/b", kName);
  CHECK(files->look_again(kName, before).bytes == "b");
  const Seen absent = files->observe("/none/resolv.conf");
  root.write("/none/resolv.conf", "there");
  CHECK(files->look_again("/none/resolv.conf", absent).bytes == "there");
}

TEST_CASE("writer_open: who has it open for writing") {
  const TempRoot root;
  root.write(kName, "x");
  const auto files = root.files();
  const Seen seen = files->observe(kName);
  CHECK(files->writer_open(seen) == WriterOpen::no);
  {
    const FileDescriptor reader(::open((root / kName).c_str(), O_RDONLY | O_CLOEXEC));
    CHECK(files->writer_open(seen) == WriterOpen::no);
    const FileDescriptor writer(::open((root / kName).c_str(), O_WRONLY | O_CLOEXEC));
    CHECK(files->writer_open(seen) == WriterOpen::yes);
  }
  CHECK(files->writer_open(seen) == WriterOpen::no);
  // No lease is left behind: it would make the next writer wait, or be told EWOULDBLOCK.
  CHECK(FileDescriptor(::open((root / kName).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)));
  CHECK(files->writer_open(files->observe("/etc/none")) == WriterOpen::unknown);
}

}  // namespace
}  // namespace rg::test
