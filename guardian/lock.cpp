#include "guardian/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
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
  std::set<std::string> folders;
  for (const Policy& policy : guards) folders.insert(folder_of(policy.path));
  complete_ = true;
  std::vector<Lock> taken;
  for (const std::string& folder : folders) {
    const Chain chain = walk(root_, folder + "/.lock");  // the name itself is never made: its directory is what we want
    if (!chain.complete) {
      complete_ = false;
      continue;
    }
    const Step& step = chain.steps.back();
    // Two paths may lead to one directory: it is locked once, and a lock of our own doesn't shut us out.
    const auto is_it = [&](const Lock& lock) { return lock.device == step.device && lock.inode == step.inode; };
    if (std::any_of(taken.begin(), taken.end(), is_it)) continue;
    if (const auto held = std::find_if(locks_.begin(), locks_.end(), is_it); held != locks_.end()) {
      taken.push_back(*held);
      continue;
    }
    const SharedDescriptor fd = share(::openat(step.place.directory->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!*fd) return errno_error("open", folder);
    if (::flock(fd->get(), LOCK_EX | LOCK_NB) != 0) return errno_error("lock", folder);
    taken.push_back({step.device, step.inode, fd});
  }
  locks_ = std::move(taken);
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
