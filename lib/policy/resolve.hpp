// From a policy as it is written to one of addresses alone, by which everything is judged. Pure: the kernel's answers
// are arguments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/policy/policy.hpp"

namespace rg {

/// The address, or why there is none.
using SourceAnswer = std::variant<Nameserver, std::string>;
using AskSource = std::function<SourceAnswer(const SourceAddressOf& source)>;

/// Why a guard has to wait for the answer to this one.
struct Unresolved {
  SourceAddressOf source;
  std::optional<Nameserver> address;  ///< nullopt: there is none. Otherwise it can't stand where it should
  std::string why;                    ///< an error's text; with an address the list that names it already
  bool denied = false;                ///< `why` requires it, and this source denies it
  friend bool operator==(const Unresolved&, const Unresolved&) = default;
};

/// The lists were read as they are written: those without a source-address-of become the policy's own.
void take_written(NameserverPolicy& policy);

/// The lists as they are written, whatever stands in them.
[[nodiscard]] WrittenAddresses as_written(const NameserverPolicy& policy);

struct Resolved {
  std::optional<Unresolved> problem;
  bool changed = false;  ///< the lists are others than before
};
/// Puts addresses into the lists. Where one isn't known, stands there already or is denied, nothing is changed: those
/// that were told last stay, and the problem says what has to be waited for.
[[nodiscard]] Resolved resolve(NameserverPolicy& policy, const AskSource& ask);

/// The same for the servers that must answer.
[[nodiscard]] std::optional<Unresolved> resolve(std::vector<Requirement>& requirements, const AskSource& ask);

/// Whether the kernel has to be asked before this guard can be judged.
[[nodiscard]] bool has_source(const Policy& policy);

}  // namespace rg
