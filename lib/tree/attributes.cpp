#include "lib/tree/attributes.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace rg {

Error failed(const char* doing, const Place& place) { return errno_error(doing, place.name); }

bool write_all(int fd, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    at += put;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// security.* stays behind: it is about the content (IMA, capabilities) or set on purpose (SELinux).
bool copy_attributes(int from, int to) {
  std::array<char, 4096> names{};
  const ssize_t length = ::flistxattr(from, names.data(), names.size());
  bool copied_acl = false;
  for (ssize_t at = 0; at < length;) {
    const char* name = names.data() + at;
    at += static_cast<ssize_t>(std::strlen(name)) + 1;
    const bool acl = std::strcmp(name, "system.posix_acl_access") == 0;
    const bool kept = acl || std::strncmp(name, "user.", 5) == 0;
    std::array<char, 4096> value{};
    const ssize_t size = kept ? ::fgetxattr(from, name, value.data(), value.size()) : -1;
    const bool copied = size >= 0 && ::fsetxattr(to, name, value.data(), static_cast<std::size_t>(size), 0) == 0;
    copied_acl = copied_acl || (acl && copied);
  }
  return copied_acl;
}

void keep_time_apart(int fd, const timespec& was, const timespec& before) {
  const bool older = was.tv_sec < before.tv_sec || (was.tv_sec == before.tv_sec && was.tv_nsec < before.tv_nsec);
  const bool future = was.tv_sec > before.tv_sec + 1;
  if (older || future) return;  // ours is of a time between `before` and now
  std::array<timespec, 2> times{};
  times[0].tv_nsec = UTIME_OMIT;
  times[1] = was;
  if (++times[1].tv_nsec >= 1'000'000'000) times[1] = {was.tv_sec + 1, 0};
  ::futimens(fd, times.data());
}

Result<void> set_label(int fd, const Replacement& wanted) {
  if (wanted.label.empty()) return {};
  const char* label = wanted.label.c_str();
  if (::fsetxattr(fd, "security.selinux", label, wanted.label.size() + 1, 0) == 0 || errno == ENOTSUP) return {};
  return failed("set the SELinux label of", wanted.place);
}

Result<void> set_owner_and_mode(int fd, const Replacement& wanted, const struct stat& made) {
  if (wanted.judged != nullptr) {
    const struct stat& was = wanted.judged->info;
    // Without CAP_CHOWN the owner can't be kept; the content and the mode matter more.
    if (made.st_uid != was.st_uid || made.st_gid != was.st_gid) (void)!::fchown(fd, was.st_uid, was.st_gid);
  }
  if ((made.st_mode & 07777U) != wanted.mode && ::fchmod(fd, wanted.mode) != 0) return failed("chmod", wanted.place);
  return {};
}

bool is_us(const struct stat& info) {
  static const uid_t uid = ::geteuid();  // asked once: two system calls on the way of every restore
  static const gid_t gid = ::getegid();
  return info.st_uid == uid && info.st_gid == gid;
}

Result<void> set_attributes(int fd, const Replacement& wanted) {
  if (auto set = set_label(fd, wanted); !set) return set.error();
  struct stat made {};
  if (::fstat(fd, &made) != 0) return failed("stat", wanted.place);
  return set_owner_and_mode(fd, wanted, made);
}

}  // namespace rg
