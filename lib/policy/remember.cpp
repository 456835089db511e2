#include <algorithm>

#include "lib/policy/content.hpp"
#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

/// A list that was learned again as it was keeps its time: equal memories need no write to disk.
template <class T>
void remember_list(LastGood<T>& last_good, const std::vector<T>& learned, const std::string& writer, WallTime now) {
  const auto end = learned.begin() + static_cast<std::ptrdiff_t>(std::min(learned.size(), kMaxLastGood));
  const bool same = std::equal(last_good.values.begin(), last_good.values.end(), learned.begin(), end);
  if (learned.empty() || (same && last_good.writer == writer)) return;
  last_good = {{learned.begin(), end}, writer, now};
}

template <class T, class Rules>
bool forget(LastGood<T>& last_good, Rules rules) {
  const std::size_t forgotten = std::erase_if(last_good.values, [&](const T& one) { return rules.denied(one); });
  if (last_good.values.empty() && forgotten != 0) last_good = {};
  return forgotten != 0;
}

}  // namespace

void remember(Memory& memory, const Content& content, WallTime now) {
  remember_list(memory.nameservers, content.learned.nameservers, content.writer, now);
  remember_list(memory.search, content.learned.search, content.writer, now);
  remember_list(memory.options, content.learned.options, content.writer, now);
}

bool note_source_addresses(Memory& memory, const NameserverPolicy& policy) {
  auto& all = memory.source_addresses;
  const auto before = all;
  if (!policy.written) return false;
  for (const Nameserver& server : policy.written->told) {
    if (std::find(all.begin(), all.end(), server) == all.end()) all.push_back(server);
  }
  if (all.size() > kMaxSourceAddresses) all.erase(all.begin(), all.end() - kMaxSourceAddresses);
  return all != before;
}

bool forget_denied(Memory& memory, const Policy& policy) {
  const bool servers = forget(memory.nameservers, ServerRules(policy.nameservers));
  const bool search = forget(memory.search, DomainRules(policy.search));
  return forget(memory.options, OptionRules(policy.options)) || servers || search;
}

}  // namespace rg
