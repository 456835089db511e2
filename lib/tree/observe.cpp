#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>

#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

constexpr std::size_t kReadLimit = (1U << 20U) + 1;

void fail(Seen& seen, int error) {
  seen.error = error;
  seen.kind = error == ENOENT ? NodeKind::absent : NodeKind::unreadable;
}

// Somebody renamed over the name after we had opened it: what we hold is gone, and the name is another file's by now.
bool overtaken(const Seen& seen) {
  struct stat now {};
  const Place& place = seen.target();
  return seen.info.st_nlink == 0 &&
         (::fstatat(place.directory->get(), place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
          now.st_ino != seen.info.st_ino || now.st_nlink != 0);
}

bool is_hidden(const Seen& seen) { return seen.linked() && (seen.info.st_mode & S_IROTH) == 0; }

// Reads an open regular file into `seen`.
void fill(Seen& seen, int fd, bool selinux) {
  seen.file = share(fd);
  if (::fstat(fd, &seen.info) != 0) return fail(seen, errno);
  seen.kind = kind_of(seen.info.st_mode);
  if (overtaken(seen)) return fail(seen, ESTALE);
  if (seen.kind != NodeKind::file) return;
  if (is_hidden(seen)) return fail(seen, EACCES);
  auto bytes = read_whole(fd);
  if (!bytes) return fail(seen, bytes.error().code);
  if (seen.linked() && is_private(fd)) return fail(seen, EACCES);
  seen.bytes = std::move(*bytes);
  if (selinux) seen.label = read_label(fd);
}

// What stands at the last name of the chain: a regular file is opened and read, of anything else the kind is told. (A
// FIFO or a device isn't to be opened: that can do things. Nor is a file that a link leads to and not everyone may
// read: a link to a secret must not make us copy it into a file that everyone reads.)
void read_file(Seen& seen, bool selinux) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Place& place = seen.target();
  const int dir = place.directory->get();
  if (::fstatat(dir, place.name.c_str(), &seen.info, AT_SYMLINK_NOFOLLOW) != 0) return fail(seen, errno);
  seen.kind = kind_of(seen.info.st_mode);
  if (seen.kind != NodeKind::file) return;
  if (is_hidden(seen)) return fail(seen, EACCES);
  const int fd = ::openat(dir, place.name.c_str(), kFlags);
  if (fd < 0) return fail(seen, errno);
  fill(seen, fd, selinux);
  seen.chain.steps.back().kind = seen.kind;
}

// The very file that the walk found. By its name, which takes half the time of the way through /proc; where another one
// has got that meanwhile, through the walk's own O_PATH descriptor.
int open_node(const Place& place, const FinalNode& node) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  FileDescriptor named(::openat(place.directory->get(), place.name.c_str(), kFlags));
  struct stat info {};
  const bool same =
      named && ::fstat(named.get(), &info) == 0 && info.st_ino == node.info.st_ino && info.st_dev == node.info.st_dev;
  if (same) return named.release();
  const std::string self = "/proc/thread-self/fd/" + std::to_string(node.file->get());
  return ::open(self.c_str(), kFlags & ~O_NOFOLLOW);
}

// Only what the walk has found to be a regular file is opened: opening a device can do things.
void examine(Seen& seen, bool selinux) {
  const FinalNode node = std::exchange(seen.chain.node, {});
  seen.info = node.info;
  if (seen.kind != NodeKind::file) return;
  if (is_hidden(seen)) return fail(seen, EACCES);
  const int fd = open_node(seen.target(), node);
  if (fd < 0) return fail(seen, errno);
  fill(seen, fd, selinux);
}

}  // namespace

DiskFiles::DiskFiles(SharedDescriptor root, bool selinux) : root_(std::move(root)), selinux_(selinux) {}

Seen DiskFiles::observe(const std::string& path) {
  constexpr int kTries = 16;
  Seen seen = observe_once(path);
  for (int i = 1; i < kTries && seen.error == ESTALE; ++i) seen = observe_once(path);
  return seen;
}

Seen DiskFiles::observe_once(const std::string& path) {
  Seen seen;
  seen.chain = walk(root_, path);
  if (!seen.chain.complete) {
    fail(seen, seen.chain.error);
    return seen;
  }
  seen.kind = seen.chain.steps.back().kind;
  examine(seen, selinux_);
  return seen;
}

Seen DiskFiles::look_again(const std::string& path, Seen before) {
  if (!before.chain.complete || before.linked()) return observe(path);
  Seen seen;
  seen.chain = std::move(before.chain);
  read_file(seen, selinux_);
  if (seen.kind == NodeKind::file) return seen;
  before.chain = std::move(seen.chain);
  return seen.kind == NodeKind::link ? follow(path, before) : observe(path);
}

// The name has become a link: the way to it is known.
Seen DiskFiles::follow(const std::string& path, const Seen& before) {
  std::array<char, PATH_MAX> text;  // not cleared: what is used of it is what was read
  const ssize_t length =
      ::readlinkat(before.target().directory->get(), before.target().name.c_str(), text.data(), text.size());
  if (length <= 0) return observe(path);
  auto chain = walk_link(root_, before.chain, {text.data(), static_cast<std::size_t>(length)});
  if (!chain) return observe(path);
  Seen seen;
  seen.chain = std::move(*chain);
  read_file(seen, selinux_);
  return seen.kind == NodeKind::file ? seen : observe(path);
}

GlobMatch DiskFiles::expand(const std::string& pattern, const std::function<void(Chain)>& looked_in) {
  return expand_glob(root_, pattern, looked_in);
}

WriterOpen DiskFiles::writer_open(const Seen& seen) {
  return seen.file ? probe_writer(seen.file->get()) : WriterOpen::unknown;
}

Result<SharedDescriptor> open_root(const std::string& path) {
  const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_error("open", path);
  return share(fd);
}

bool selinux_enabled() {
  const FileDescriptor fd(::open("/proc/filesystems", O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  const auto text = read_whole(fd.get());
  return text && text->find("\tselinuxfs\n") != std::string::npos;
}

Result<std::string> read_whole(int fd) {
  std::string bytes;
  std::array<char, 4096> block;  // not cleared: what is used of it is what was read
  while (bytes.size() < kReadLimit) {
    const std::size_t want = std::min(block.size(), kReadLimit - bytes.size());
    const ssize_t got = ::pread(fd, block.data(), want, static_cast<off_t>(bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read");
    bytes.append(block.data(), static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) < want) break;  // a regular file gives all it has
  }
  return bytes;
}

bool is_private(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) != 0 || (info.st_mode & S_IROTH) == 0;
}

std::string read_label(int fd) {
  std::array<char, 256> text{};
  const ssize_t length = ::fgetxattr(fd, "security.selinux", text.data(), text.size());
  if (length <= 0) return {};
  std::string label(text.data(), static_cast<std::size_t>(length));
  while (!label.empty() && label.back() == '\0') label.pop_back();
  return label;
}

WriterOpen probe_writer(int fd) {
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(fd, F_SETLEASE, F_UNLCK);
    return WriterOpen::no;
  }
  return errno == EAGAIN ? WriterOpen::yes : WriterOpen::unknown;
}

}  // namespace rg
