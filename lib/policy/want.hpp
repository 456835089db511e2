// The lists that must stand in the file: ours around the learned ones, or what fills in for them.
#pragma once

#include "lib/policy/content.hpp"
#include "lib/policy/learn.hpp"

namespace rg {

struct Wanted {
  Lists lists;
  std::vector<SaidServer> servers;      ///< lists.nameservers with where each comes from
  std::vector<DroppedServer> over_max;  ///< learned servers that `max` leaves no place for
  Source source = Source::policy;       ///< of the servers between first and last
  bool filled = false;                  ///< from memory or fallback
};

[[nodiscard]] Wanted want(const ContentInput& input, const Learned& learned, const ResolvConf& document);

}  // namespace rg
