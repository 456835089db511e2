// The pauses that are in force: kept in the runtime directory, so that they outlive the process but not the boot.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/policy/memory.hpp"
#include "lib/result.hpp"

namespace rg {

class Pauses {
 public:
  /// Those of `runtime_dir` that were made in this boot (/proc/sys/kernel/random/boot_id) and aren't over.
  static Pauses load(const std::string& runtime_dir);
  /// Why those that were made aren't known: a damaged file. Empty: they are.
  [[nodiscard]] const std::string& warning() const { return warning_; }
  [[nodiscard]] std::optional<WallTime> of(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> paths() const;
  /// nullopt: no pause. Stored at once.
  Result<void> set(const std::string& path, std::optional<WallTime> until);

 private:
  std::string take(const std::string& text);
  std::string file_, warning_;
  std::map<std::string, WallTime> until_;
};

}  // namespace rg
