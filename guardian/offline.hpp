// Passes without a running guardian: what `apply`, `check` and `release` do by themselves.
#pragma once

#include <memory>
#include <string>

#include "guardian/lock.hpp"
#include "guardian/pauses.hpp"
#include "lib/reconcile/pass.hpp"
#include "lib/store/state_file.hpp"
#include "lib/tree/disk_files.hpp"

namespace rg {

class Offline {
 public:
  static Result<Offline> open(const std::string& root, const std::string& state_dir);

  /// Locks the guards' directories: EWOULDBLOCK where a guardian runs.
  Result<void> lock(const std::vector<Policy>& guards) { return locks_.take(guards); }
  /// Brings one guard to hold, waiting for an unfinished writer at most `settle`. Stores what it learned.
  Outcome bring_to_hold(const Policy& policy, bool paused);
  /// Looks and decides; nothing is written, not even state.
  Decision look(const Policy& policy);
  Result<Released> release(const Policy& policy);
  /// What the guarded name reads now, where that is a file.
  [[nodiscard]] const Seen& seen() const { return guarded_.seen; }

 private:
  Offline(SharedDescriptor root, std::string state_dir);
  void load(const Policy& policy);
  PassOptions options();
  std::unique_ptr<DiskFiles> files_;
  DirectoryLocks locks_;
  StateDirectory state_;
  Guarded guarded_;
};

/// if_nametoindex(3), or a number that is an interface's.
[[nodiscard]] bool interface_exists(const std::string& zone);

/// The text of root/etc/machine-id; last good lists of another machine are dropped from `memory`.
void heed_machine(Memory& memory, Files& files);

}  // namespace rg
