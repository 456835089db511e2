#include "lib/policy/drift.hpp"

#include <algorithm>

#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

using Servers = std::vector<Nameserver>;

bool contains(const Servers& servers, const Nameserver& server) {
  return std::find(servers.begin(), servers.end(), server) != servers.end();
}

/// Those of `servers` that stand in `others` too, each once, in their order.
Servers common(const Servers& servers, const Servers& others) {
  Servers both;
  for (const Nameserver& server : servers) {
    if (contains(others, server) && !contains(both, server)) both.push_back(server);
  }
  return both;
}

bool has_duplicate(const Servers& servers) {
  for (auto server = servers.begin(); server != servers.end(); ++server) {
    if (std::find(servers.begin(), server, *server) != server) return true;
  }
  return false;
}

bool same_domains(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return same_domain(x, y); });
}

/// The read list isn't the wanted one: all that is wrong with it, for people. At least one is found: two lists of the
/// same servers, each once, differ in their order.
void find_server_drift(const NameserverPolicy& policy, const Servers& read, const Wanted& wanted,
                       const Servers& learned, std::vector<Violation>& found) {
  const Servers& want = wanted.lists.nameservers;
  const auto theirs = [&](const Nameserver& server) { return !is_ours(policy, server) && !is_denied(policy, server); };
  const bool empty = std::any_of(want.begin(), want.end(), [&](const auto& one) { return !is_ours(policy, one); }) &&
                     std::none_of(read.begin(), read.end(), theirs);
  if (empty) found.push_back(Violation::empty);
  if (std::any_of(want.begin(), want.end(),
                  [&](const auto& server) { return !contains(read, server) && (!empty || is_ours(policy, server)); })) {
    found.push_back(Violation::required);
  }
  if (common(read, want) != common(want, read)) found.push_back(Violation::order);
  for (const Nameserver& server : read) {
    if (contains(want, server)) continue;
    if (is_denied(policy, server)) {
      found.push_back(Violation::denied);
    } else if (!contains(learned, server)) {
      found.push_back(Violation::foreign);
    }
  }
  if (has_duplicate(read)) found.push_back(Violation::duplicate);
  // Cut, or never meant to stand here (only): a learned server that isn't wanted is one too many.
  const bool too_many = std::any_of(read.begin(), read.end(), [&](const Nameserver& server) {
    return contains(learned, server) && !contains(want, server);
  });
  if (policy.max != 0 && read.size() > policy.max) {
    found.push_back(Violation::over_max);
  } else if (too_many) {
    found.push_back(policy.only ? Violation::foreign : Violation::over_max);
  }
}

}  // namespace

std::vector<Violation> find_drift(const Policy& policy, const ResolvConf& disk, const Lists& read, const Wanted& wanted,
                                  const Learned& learned) {
  std::vector<Violation> found;
  if (read.nameservers != wanted.lists.nameservers) {
    find_server_drift(policy.nameservers, read.nameservers, wanted, learned.lists.nameservers, found);
  }
  if (!same_domains(read.search, wanted.lists.search)) found.push_back(Violation::search);
  if (read.options != wanted.lists.options) found.push_back(Violation::options);
  if (std::any_of(disk.lines.begin(), disk.lines.end(), [](const Line& line) { return !line.flaws.empty(); })) {
    found.push_back(Violation::misread);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace rg
