// What the writer, or the upstream files, say: the lists less ours and less what is denied.
#pragma once

#include <string>
#include <vector>

#include "lib/policy/content.hpp"

namespace rg {

struct Learned {
  Lists lists;                         ///< each entry once; before max and when_empty
  bool root = false;                   ///< `search .` was said: no domain, not even the host name's
  Source source = Source::writer;      ///< writer or upstream
  std::string writer;                  ///< apparent_writer() of where the servers come from
  std::vector<DroppedServer> dropped;  ///< denied, duplicate, invalid
};

/// Nameservers and search from the upstream files where they have a server and the policy asks for them, otherwise from
/// `document`; options always from `document`.
[[nodiscard]] Learned learn(const ContentInput& input, const ResolvConf& document);

}  // namespace rg
