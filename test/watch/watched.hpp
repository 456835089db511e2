// A watcher on a real root, and what it told.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/watch/watcher.hpp"
#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"

namespace rg::test {

using Kind = Change::Kind;
constexpr const char* kName = "/etc/resolv.conf";

struct Told {
  GuardId guard;
  Change change;
};

class Watched {
 public:
  explicit Watched(const TempRoot& root) : root_(root), watcher_(std::move(Watcher::create().value())) {}

  /// Arms as a lane does after each pass.
  void arm(GuardId guard = 1, const std::string& path = kName, const std::vector<std::string>& others = {}) {
    const auto files = root_.files();
    const Seen seen = files->observe(path);
    std::vector<Chain> chains;
    for (const std::string& other : others) chains.push_back(walk(root_.open(), other));
    REQUIRE(watcher_.watch(guard, seen.chain, chains).has_value());
    if (seen.file) REQUIRE(watcher_.watch_inode(guard, seen.file->get()).has_value());
    (void)take();  // no event of ours stays
  }
  std::vector<Told> take() {
    std::vector<Told> told;
    for (bool more = true; more;) {
      more = false;
      watcher_.read([&](GuardId guard, const Change& change) {
        told.push_back({guard, change});
        more = true;
      });
    }
    return told;
  }
  /// The kinds that were told since, each once, in the order of the enum.
  std::vector<Kind> kinds() {
    std::vector<Kind> kinds;
    for (const Told& told : take()) kinds.push_back(told.change.kind);
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    return kinds;
  }
  bool told(Kind kind, How how) {
    const auto all = take();
    return std::any_of(all.begin(), all.end(),
                       [&](const Told& one) { return one.change.kind == kind && one.change.how == how; });
  }
  Watcher& watcher() { return watcher_; }

 private:
  const TempRoot& root_;
  Watcher watcher_;
};

using Kinds = std::vector<Kind>;

}  // namespace rg::test
