// One guardian a guarded directory: a flock(2) on it, so that one on the host and one in a container see each other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/policy/policy.hpp"
#include "lib/result.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

class DirectoryLocks {
 public:
  explicit DirectoryLocks(SharedDescriptor root) : root_(std::move(root)) {}
  /// Locks the directories of these guards, each once, and lets go of those that none of them lies in. A missing
  /// directory is passed over: try again when it may have appeared. An Error with EWOULDBLOCK: another guardian has it.
  Result<void> take(const std::vector<Policy>& guards);
  /// True where every directory of the last take() is locked.
  [[nodiscard]] bool complete() const { return complete_; }
  void release() { locks_.clear(); }

 private:
  SharedDescriptor root_;
  std::map<std::string, FileDescriptor> locks_;
  bool complete_ = false;
};

/// The lock of a runtime directory: one guardian each. An Error with EWOULDBLOCK: it is taken.
[[nodiscard]] Result<FileDescriptor> lock_runtime(const std::string& directory);

}  // namespace rg
