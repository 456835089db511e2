#include "guardian/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
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

// 0, or an errno value.
int lock(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
  return errno == EWOULDBLOCK ? EBUSY : errno;
}

}  // namespace

bool is_taken(const Error& error) { return error.code == EBUSY; }

std::vector<std::string> lock_folders(const std::vector<Policy>& guards) {
  std::set<std::string> folders;
  for (const Policy& policy : guards) folders.insert(folder_of(policy.path));
  return {folders.begin(), folders.end()};
}

LockTry lock_folder(const SharedDescriptor& root, const std::string& folder,
                    const std::function<bool(const LockedNode&)>& claim) {
  using Came = LockTry::Came;
  const Chain chain = walk(root, folder + "/.lock");  // the name itself is never made: its directory is what we want
  if (!chain.complete) return {};
  const Step& step = chain.steps.back();
  const LockedNode node{step.device, step.inode};
  if (!claim(node)) return {Came::held, node, {}, 0};
  FileDescriptor fd(::openat(step.place.directory->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return {Came::failed, node, {}, errno};
  if (const int error = lock(fd.get()); error != 0) return {Came::failed, node, {}, error};
  return {Came::locked, node, std::move(fd), 0};
}

Result<std::vector<FileDescriptor>> lock_all(const SharedDescriptor& root, const std::vector<Policy>& guards) {
  std::vector<FileDescriptor> locks;
  std::set<LockedNode> held;
  const auto claim = [&](const LockedNode& node) { return held.insert(node).second; };
  for (const std::string& folder : lock_folders(guards)) {
    LockTry tried = lock_folder(root, folder, claim);
    if (tried.came == LockTry::Came::failed) return Error{tried.error, "lock", folder};
    if (tried.came != LockTry::Came::locked) continue;
    locks.push_back(std::move(tried.fd));
  }
  return locks;
}

std::string why_not_locked(const char* what, const Error& error) {
  if (!is_taken(error)) return error.text();
  return std::string("another guardian ") + what + ": " + error.path;
}

Result<FileDescriptor> lock_runtime(const std::string& directory) {
  const std::string path = directory + "/lock";
  FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return errno_error("open", path);
  if (const int error = lock(fd.get()); error != 0) return Error{error, "lock", path};
  return fd;
}

}  // namespace rg
