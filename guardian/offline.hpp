// Passes without a running guardian: what `apply`, `check` and `release` do by themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "guardian/lock.hpp"
#include "guardian/pauses.hpp"
#include "lib/reconcile/pass.hpp"
#include "lib/store/state_file.hpp"
#include "lib/tree/disk_files.hpp"

namespace rg {

/// A file of a guard: the guard's own, or one that its glob matches.
struct FilePolicy {
  Policy policy;
  std::size_t guard = 0;
};

class Offline {
 public:
  static Result<Offline> open(const std::string& root, const std::string& state_dir);

  /// Locks the guards' directories: is_taken() where a guardian runs.
  Result<void> lock(const std::vector<Policy>& guards);
  /// The policies of single files, in the order of the configuration: one for each file that a glob matches.
  /// An Error: which files match can't be told.
  [[nodiscard]] Result<std::vector<FilePolicy>> files(const std::vector<Policy>& guards);
  /// Brings one guard to hold, waiting for an unfinished writer at most `settle`. Stores what it learned.
  Outcome bring_to_hold(const Policy& policy, bool paused);
  /// Looks and decides; nothing is written, not even state. A target that an earlier guard has is refused.
  Decision look(const Policy& policy);
  Result<Released> release(const Policy& policy);
  /// What the guarded name reads now, where that is a file.
  [[nodiscard]] const Seen& seen() const { return guarded_.seen; }
  /// What the last call has to warn of: a damaged memory, one that can't be saved, a restore that would be refused.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Offline(SharedDescriptor root, std::string state_dir);
  void load(const Policy& policy, StateDirectory::Access access);
  PassOptions options();
  void save();
  void warn_of_mount();
  void warn_of_refusal(const Decision& decision);
  [[nodiscard]] std::string taken_by_another(const Seen& seen) const;
  void take(const Seen& seen);
  std::unique_ptr<DiskFiles> files_;
  SharedDescriptor root_;
  std::vector<FileDescriptor> locks_;
  StateDirectory state_;
  Guarded guarded_;
  std::vector<std::string> warnings_;
  struct Target {
    std::string guard;
    Step step;
  };
  std::vector<Target> targets_;  // of the guards that were looked at, in their order
};

}  // namespace rg
