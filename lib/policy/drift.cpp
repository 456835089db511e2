#include "lib/policy/drift.hpp"

#include <algorithm>

#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

using Servers = std::vector<Nameserver>;

using ServerFinder = Finder<SameServer>;

/// Those of `servers` that stand among `others` too, each once, in their order.
Servers common(const Servers& servers, ServerFinder& others) {
  Servers both;
  both.reserve(servers.size());
  ServerFinder taken(both);
  for (const Nameserver& server : servers) {
    if (others.contains(server) && !taken.contains(server)) both.push_back(server);
  }
  return both;
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
  ServerRules rules(policy);
  ServerFinder in_read(read), in_want(want), in_learned(learned);
  const auto theirs = [&](const Nameserver& server) { return !rules.ours(server) && !rules.denied(server); };
  const bool empty = std::any_of(want.begin(), want.end(), [&](const auto& one) { return !rules.ours(one); }) &&
                     std::none_of(read.begin(), read.end(), theirs);
  if (empty) found.push_back(Violation::empty);
  if (std::any_of(want.begin(), want.end(),
                  [&](const auto& server) { return !in_read.contains(server) && (!empty || rules.ours(server)); })) {
    found.push_back(Violation::required);
  }
  if (common(read, in_want) != common(want, in_read)) found.push_back(Violation::order);
  bool too_many = false;  // cut, or never meant to stand here (only): a learned server that isn't wanted
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (in_read.find(read[i]) != i) found.push_back(Violation::duplicate);
    if (in_want.contains(read[i])) continue;
    const bool is_learned = in_learned.contains(read[i]);
    too_many |= is_learned;
    if (rules.denied(read[i])) {
      found.push_back(Violation::denied);
    } else if (!is_learned) {
      found.push_back(Violation::foreign);
    }
  }
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
