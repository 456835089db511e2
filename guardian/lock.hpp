// One guardian a guarded directory: a flock(2) on it, so that one on the host and one in a container see each other.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "lib/policy/policy.hpp"
#include "lib/result.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

class DirectoryLocks {
 public:
  explicit DirectoryLocks(SharedDescriptor root) : root_(std::move(root)) {}
  /// Locks the directories of these guards, each once, as they are now, and lets go of those that none of them lies in.
  /// A missing directory is passed over: try again when it may have appeared, or when one was swapped for another. An
  /// Error with EWOULDBLOCK: another guardian has it; the former locks stay.
  Result<void> take(const std::vector<Policy>& guards);
  /// True where every directory of the last take() is locked.
  [[nodiscard]] bool complete() const { return complete_; }
  void release() { locks_.clear(); }

 private:
  SharedDescriptor root_;
  struct Lock {
    dev_t device = 0;
    ino_t inode = 0;
    SharedDescriptor fd;
  };
  std::vector<Lock> locks_;
  bool complete_ = false;
};

/// The lock of a runtime directory: one guardian each. An Error with EWOULDBLOCK: it is taken.
[[nodiscard]] Result<FileDescriptor> lock_runtime(const std::string& directory);

}  // namespace rg
