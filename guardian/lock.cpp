#include "guardian/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <set>

#include "lib/tree/walk.hpp"

namespace rg {
namespace {

// The part of the path before a glob, up to its last slash.
std::string folder_of(const std::string& path) {
  const std::string fixed = path.substr(0, path.find_first_of("*?["));
  const std::string folder = fixed.substr(0, fixed.rfind('/'));
  return folder.empty() ? "/" : folder;
}

}  // namespace

Result<void> DirectoryLocks::take(const std::vector<Policy>& guards) {
  std::set<std::string> wanted;
  for (const Policy& policy : guards) wanted.insert(folder_of(policy.path));
  std::erase_if(locks_, [&](const auto& lock) { return !wanted.contains(lock.first); });
  complete_ = true;
  for (const std::string& folder : wanted) {
    if (locks_.contains(folder)) continue;
    const Chain chain = walk(root_, folder + "/.lock");  // the name itself is never made: its directory is what we want
    if (!chain.complete) {
      complete_ = false;
      continue;
    }
    const int held = chain.steps.back().place.directory->get();
    FileDescriptor fd(::openat(held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return errno_error("open", folder);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return errno_error("lock", folder);
    locks_.emplace(folder, std::move(fd));
  }
  return {};
}

Result<FileDescriptor> lock_runtime(const std::string& directory) {
  const std::string path = directory + "/lock";
  FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return errno_error("open", path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return errno_error("lock", path);
  return fd;
}

}  // namespace rg
