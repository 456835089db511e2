// The one fake of the seam lib/tree/files.hpp: a tree in memory that records what was asked of it, writers that come in
// between, and faults.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/tree/files.hpp"

namespace rg::test {

struct FakeNode {
  NodeKind kind = NodeKind::file;
  std::string text;  ///< bytes, or the text of the link (absolute)
  std::uint32_t mode = 0644;
  std::uint64_t links = 1;
  std::string label;
};

/// Paths are absolute and plain; a link leads to an absolute path. A parent that isn't in `directories` is missing.
class FakeFiles final : public Files {
 public:
  FakeFiles();

  // The tree, as a writer changes it.
  void file(const std::string& path, std::string bytes, std::uint32_t mode = 0644);
  void link(const std::string& path, std::string target);
  void node(const std::string& path, NodeKind kind);
  void remove(const std::string& path) { nodes.erase(path); }
  [[nodiscard]] std::string bytes(const std::string& path) const;
  std::map<std::string, FakeNode> nodes;
  std::set<std::string> directories = {"/etc", "/run", "/elsewhere"};
  std::set<std::string> open_for_writing;  ///< the content of these is still being written
  std::map<std::string, Leftover> leftovers;

  // Faults and races.
  std::deque<std::function<void()>> before_replace;  ///< one is carried out (and dropped) before each replace()
  std::function<void()> before_every_replace;        ///< a writer without end
  std::function<void()> before_every_observe;
  std::map<std::string, int> fail_observe;  ///< errno of a look at this final target
  int fail_replace = 0;                     ///< errno of every replace(); nothing changes
  bool lies = false;                        ///< says that it wrote, and didn't
  bool loses_attributes = false;
  std::string refusal_text, standing_text;
  bool leases = true;  ///< false: nobody can tell who has it open
  bool with_selinux = false;

  // What was done.
  std::vector<std::string> log;  ///< "observe PATH", "replace PATH", "intend DIGEST" (by the test), ...
  [[nodiscard]] std::size_t count(const std::string& prefix) const;

  Seen observe(const std::string& path) override;
  Seen look_again(const std::string& path, Seen before) override;
  GlobMatch expand(const std::string& pattern, const std::function<void(Chain)>& looked_in) override;
  WriterOpen writer_open(const Seen& seen) override;
  Result<Swap> replace(const Replacement& wanted) override;
  std::string refusal(const Place& place, const Error& error) override;
  std::string standing_refusal(const Place& place) override;
  std::optional<Leftover> leftover(const Place& place, bool through_link) override;
  void discard_leftover(const Place& place) override;
  void tidy() override {}
  [[nodiscard]] bool selinux() const override { return with_selinux; }

 private:
  Seen look(const std::string& path) const;
  static std::string path_of(const Place& place) { return place.name; }  // a Place here is a whole path
  Result<Swap> put(const std::string& path, const Replacement& wanted);
};

}  // namespace rg::test
