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

template <class T, class Gone>
bool forget(LastGood<T>& last_good, Gone gone) {
  const std::size_t forgotten = std::erase_if(last_good.values, gone);
  if (last_good.values.empty() && forgotten != 0) last_good = {};
  return forgotten != 0;
}

}  // namespace

void remember(Memory& memory, const Content& content, WallTime now) {
  remember_list(memory.nameservers, content.learned.nameservers, content.writer, now);
  remember_list(memory.search, content.learned.search, content.writer, now);
  remember_list(memory.options, content.learned.options, content.writer, now);
}

// An address of this host may have been a writer's before it was asked for: it isn't last good either.
bool note_source_addresses(Memory& memory, const NameserverPolicy& policy) {
  auto& all = memory.source_addresses;
  const auto before = all;
  if (!policy.written) return false;
  const auto known = [&](const Nameserver& server) { return std::find(all.begin(), all.end(), server) != all.end(); };
  for (const Nameserver& server : policy.written->told) {
    if (!known(server)) all.push_back(server);
  }
  if (all.size() > kMaxSourceAddresses) all.erase(all.begin(), all.end() - kMaxSourceAddresses);
  const bool forgot = forget(memory.nameservers, known);
  return forgot || all != before;
}

bool forget_denied(Memory& memory, const Policy& policy) {
  const auto denied = [](auto& rules) { return [&rules](const auto& one) { return rules.denied(one); }; };
  ServerRules servers(policy.nameservers);
  DomainRules domains(policy.search);
  OptionRules options(policy.options);
  const bool forgot_servers = forget(memory.nameservers, denied(servers));
  const bool forgot_domains = forget(memory.search, denied(domains));
  return forget(memory.options, denied(options)) || forgot_servers || forgot_domains;
}

}  // namespace rg
