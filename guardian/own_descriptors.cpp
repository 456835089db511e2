#include "guardian/own_descriptors.hpp"

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace rg {
namespace {

// ThreadSanitizer knows one table a process: the same number in two of them would be a race to it.
#ifdef __SANITIZE_THREAD__
constexpr bool kKnowsTables = false;
#else
constexpr bool kKnowsTables = true;
#endif

#ifndef SYS_close_range
#define SYS_close_range 436  // one number on every architecture
#endif
constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE, Linux 5.9

// Seccomp filters of container runtimes know unshare(2) as a way into namespaces and refuse it; close_range(2) they let
// through.
bool unshare_table() {
  constexpr unsigned kNone = ~0U;
  return ::syscall(SYS_close_range, kNone, kNone, kUnshare) == 0 || ::unshare(CLONE_FILES) == 0;
}

std::vector<int> open_descriptors() {
  std::vector<int> open;
  DIR* stream = ::opendir("/proc/thread-self/fd");
  if (stream == nullptr) return open;
  while (const dirent* entry = ::readdir(stream)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > STDERR_FILENO && fd != ::dirfd(stream)) open.push_back(fd);
  }
  ::closedir(stream);
  return open;
}

}  // namespace

bool own_descriptors(std::vector<int> keep) {
  if (!kKnowsTables || !unshare_table()) return false;
  for (const int fd : open_descriptors()) {
    if (std::find(keep.begin(), keep.end(), fd) == keep.end()) ::close(fd);
  }
  return true;
}

}  // namespace rg
