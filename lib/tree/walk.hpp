// The one walker: a path inside the root, component by component, every link resolved inside the root. Nobody can swap
// a link under it, and it yields every directory that was looked in: the places to watch. openat2(2) with
// RESOLVE_IN_ROOT is no substitute: it doesn't give the hops, and Linux 4.18 (RHEL 8) and qemu-user lack it. It is a
// quick look, where it is there: walk_link().
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/tree/file_descriptor.hpp"

namespace rg {

enum class NodeKind { absent, file, link, directory, other, unreadable };

[[nodiscard]] NodeKind kind_of(mode_t mode);

/// A name in a held directory: where something is read or written.
struct Place {
  SharedDescriptor directory;  ///< O_PATH
  std::string name;
};

/// One name that was looked up in one directory on the way.
struct Step {
  Place place;
  dev_t device = 0;  ///< of the directory
  ino_t inode = 0;
  NodeKind kind = NodeKind::absent;
  std::string link_text;  ///< kind link
};

/// What stood at the final name when the walk came there.
struct FinalNode {
  SharedDescriptor file;  ///< O_PATH; none where nothing was there
  struct stat info {};
};

struct Chain {
  std::vector<Step> steps;
  std::size_t named = 0;  ///< the step of the path's own last component (it may be a link that the later steps follow)
  bool complete = false;  ///< the last step is the final name: its directory exists
  bool whole = true;  ///< false: directories in the middle aren't among the steps, which is enough to read and write
  int error = 0;      ///< why it isn't complete: ENOENT, ENOTDIR, ELOOP (over 40 links), EACCES...
  std::string path;   ///< of the final name inside the root, without links; where a directory on the way is
                      ///< missing (ENOENT), what it would be
  FinalNode node;

  [[nodiscard]] bool reached_name() const { return named < steps.size(); }
  [[nodiscard]] const Step& name_step() const { return steps[named]; }
  [[nodiscard]] bool linked() const { return reached_name() && name_step().kind == NodeKind::link; }
};

/// Looks up `path` (absolute, inside `root`; `..` stops at the root). No file is opened but with O_PATH.
[[nodiscard]] Chain walk(const SharedDescriptor& root, const std::string& path);

/// The way of a link with this text at the last name of `before` (complete, its last directory held), where nothing but
/// directories lie on it: the chain of a whole walk less those in the middle, the final name not looked at. nullopt:
/// only a whole walk can tell (another link, a `..` behind a name, nothing there, no openat2(2)).
[[nodiscard]] std::optional<Chain> walk_link(const SharedDescriptor& root, const Chain& before,
                                             const std::string& text);

/// One name in one directory, whatever path led there.
[[nodiscard]] bool same_name(const Step& a, const Step& b);

/// The same directories, names and links: nothing new to watch.
[[nodiscard]] bool same_chain(const Chain& a, const Chain& b);

/// The existing paths that match a pattern (fnmatch(3) in any component; a leading dot never matches a wildcard),
/// sorted: numbers by value, other names by bytes.
struct GlobMatch {
  std::vector<std::string> paths;
  int error = 0;     ///< some directory couldn't be looked into: there may be more of them
  bool cut = false;  ///< there are more than 10,000: these are the first ones
};
/// `looked_in` gets the chain of every directory that was listed (up to the name `pattern component`) and of every
/// plain name behind one, there or not, less what the listed directory's own chain has: the places to watch.
[[nodiscard]] GlobMatch expand_glob(const SharedDescriptor& root, const std::string& pattern,
                                    const std::function<void(Chain)>& looked_in);
[[nodiscard]] bool has_glob(const std::string& path);
/// Whether a path as expand_glob() gives it matches this pattern.
[[nodiscard]] bool matches_glob(const std::string& pattern, const std::string& path);

}  // namespace rg
