// One guardian a guarded directory: a flock(2) on it, so that one on the host and one in a container see each other.
#pragma once

#include <sys/types.h>

#include <compare>
#include <functional>
#include <string>
#include <vector>

#include "lib/policy/policy.hpp"
#include "lib/result.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

/// The directory of a lock, whatever path led to it.
struct LockedNode {
  dev_t device = 0;
  ino_t inode = 0;
  friend auto operator<=>(const LockedNode&, const LockedNode&) = default;
};

struct LockTry {
  enum class Came { locked, held, missing, failed } came = Came::missing;  ///< held: by us, from before
  LockedNode node;
  FileDescriptor fd;  ///< came locked
  int error = 0;      ///< came failed
};

/// The directories that these guards lie in, each once: of a glob, the part before it.
[[nodiscard]] std::vector<std::string> lock_folders(const std::vector<Policy>& guards);

/// Locks a directory as it is now, unless `claim` says that it is ours already: a lock of our own would shut us out.
[[nodiscard]] LockTry lock_folder(const SharedDescriptor& root, const std::string& folder,
                                  const std::function<bool(const LockedNode&)>& claim);

/// Locks the directories of these guards, of which missing ones are passed over, until `locks` end. For a program that
/// ends by itself: a file system that doesn't answer holds it up.
[[nodiscard]] Result<std::vector<FileDescriptor>> lock_all(const SharedDescriptor& root,
                                                           const std::vector<Policy>& guards);

/// Another guardian has what was to be locked: EBUSY, for EWOULDBLOCK is EAGAIN, as a thread that can't be had gives
/// it.
[[nodiscard]] bool is_taken(const Error& error);

/// Why a lock can't be had: "another guardian guards this directory: /etc", or the error.
[[nodiscard]] std::string why_not_locked(const char* what, const Error& error);

/// The lock of a runtime directory: one guardian each.
[[nodiscard]] Result<FileDescriptor> lock_runtime(const std::string& directory);

}  // namespace rg
