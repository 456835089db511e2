#include "guardian/targets.hpp"

#include <algorithm>

namespace rg {

Targets::Node Targets::node_of(const Chain& chain) {
  const Step& last = chain.steps.back();
  return {last.device, last.inode, last.place.name};
}

void Targets::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  erase(path);
}

void Targets::erase(const std::string& path) {
  const auto known = of_.find(path);
  if (known == of_.end()) return;
  const auto [from, to] = guards_of_.equal_range(known->second.first);
  const auto his = std::find_if(from, to, [&](const auto& entry) { return entry.second.second == path; });
  if (his != to) guards_of_.erase(his);
  of_.erase(known);
  guards_ = of_.size();
}

void Targets::set(const std::string& path, std::size_t order, const Chain& chain) {
  const std::lock_guard lock(mutex_);
  erase(path);
  if (!chain.complete) return;
  const Node node = node_of(chain);
  const Place place{order, path};
  of_.emplace(path, std::pair{node, place});
  guards_of_.emplace(node, place);
  guards_ = of_.size();
}

std::string Targets::earlier(const std::string& path, std::size_t order, const Chain& chain) const {
  if (!chain.complete || guards_ == 0) return {};
  const Node node = node_of(chain);
  const Place mine{order, path};
  const std::lock_guard lock(mutex_);
  const auto [from, to] = guards_of_.equal_range(node);
  for (auto other = from; other != to; ++other) {
    if (other->second.second != path && other->second < mine) return other->second.second;
  }
  return {};
}

}  // namespace rg
