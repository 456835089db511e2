// The final targets of all guards, of every lane: two guards on one file would undo each other for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "lib/tree/walk.hpp"

namespace rg {

class Targets {
 public:
  /// `order`: of its table in the configuration. Any thread.
  void set(const std::string& path, std::size_t order, const Chain& chain);
  void forget(const std::string& path);
  /// The guard before this one, in the configuration's order, that has this target; empty: none.
  [[nodiscard]] std::string earlier(const std::string& path, std::size_t order, const Chain& chain) const;

 private:
  struct Node {  // a name in a directory, as same_name() compares them
    dev_t device = 0;
    ino_t inode = 0;
    std::string name;
    friend auto operator<=>(const Node&, const Node&) = default;
  };
  using Place = std::pair<std::size_t, std::string>;  // order, path
  static Node node_of(const Chain& chain);
  void erase(const std::string& path);
  mutable std::mutex mutex_;
  std::atomic<std::size_t> guards_{0};
  std::map<std::string, std::pair<Node, Place>> of_;
  std::multimap<Node, Place> guards_of_;
};

}  // namespace rg
