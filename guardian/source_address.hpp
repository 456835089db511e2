// The address that the kernel would send from towards another one.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/policy/resolve.hpp"

namespace rg {

/// connect(2) of a UDP socket chooses route and source, and getsockname(2) tells it: nothing is sent, nobody is waited
/// for. Any thread: nothing stays open.
[[nodiscard]] SourceAnswer source_address(const SourceAddressOf& source);

/// Everything of a guard that the kernel has to be asked for, the servers of `requires` too.
[[nodiscard]] std::optional<Unresolved> resolve_all(Policy& policy);

/// What the last pass over each guard was told, so that the main thread wakes a lane only for another answer.
class SourceAddresses {
 public:
  explicit SourceAddresses(AskSource ask = source_address) : ask_(std::move(ask)) {}
  /// A lane, before it judges.
  Resolved resolve(Policy& policy);
  void forget(const std::string& path);
  /// The main thread: the guards that would be told something else now. What is being asked meanwhile counts: nobody
  /// knows whether the answer is older than what woke us.
  [[nodiscard]] std::vector<std::string> outdated() const;

 private:
  using Told = std::map<SourceAddressOf, SourceAnswer>;
  void note(const std::string& path, std::optional<Told> told);
  AskSource ask_;
  mutable std::mutex mutex_;
  std::map<std::string, std::optional<Told>> told_;  // of each path; nullopt: it is being asked
};

}  // namespace rg
