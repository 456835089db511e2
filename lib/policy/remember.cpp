#include <algorithm>

#include "lib/policy/content.hpp"
#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

/// A list that was learned again as it was keeps its time: equal memories need no write to disk.
template <class T>
void remember_list(LastGood<T>& last_good, const std::vector<T>& learned, const std::string& writer, WallTime now) {
  if (learned.empty() || (last_good.values == learned && last_good.writer == writer)) return;
  last_good = {learned, writer, now};
}

template <class T, class ListPolicy>
bool forget(LastGood<T>& last_good, const ListPolicy& policy) {
  const std::size_t forgotten = std::erase_if(last_good.values, [&](const T& one) { return is_denied(policy, one); });
  if (last_good.values.empty() && forgotten != 0) last_good = {};
  return forgotten != 0;
}

}  // namespace

void remember(Memory& memory, const Content& content, WallTime now) {
  remember_list(memory.nameservers, content.learned.nameservers, content.writer, now);
  remember_list(memory.search, content.learned.search, content.writer, now);
  remember_list(memory.options, content.learned.options, content.writer, now);
}

bool forget_denied(Memory& memory, const Policy& policy) {
  const bool servers = forget(memory.nameservers, policy.nameservers);
  const bool search = forget(memory.search, policy.search);
  return forget(memory.options, policy.options) || servers || search;
}

}  // namespace rg
