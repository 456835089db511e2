// The seam: whole-file verbs on a guarded tree. lib/reconcile knows a tree by these alone; tests have a fake of it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lib/result.hpp"
#include "lib/tree/walk.hpp"

namespace rg {

/// One look at a path: everything that the decision needs to know of it.
struct Seen {
  Chain chain;
  NodeKind kind = NodeKind::absent;  ///< of the final target; `absent` too where the walk came to no directory
  int error = 0;                     ///< errno of a walk or look that failed; ENOENT, ELOOP...
  std::string bytes;                 ///< kind file: at most 1 MiB
  struct stat info {};               ///< of the final target, where it was there
  std::string label;                 ///< security.selinux, where SELinux is on
  SharedDescriptor file;             ///< kind file: open for reading

  [[nodiscard]] bool linked() const { return chain.linked(); }
  [[nodiscard]] const Place& target() const { return chain.steps.back().place; }
  [[nodiscard]] const Place& name() const { return chain.name_step().place; }
};

/// Whether somebody has a file open for writing. fcntl(2) F_SETLEASE tells; `unknown` where it can't (EACCES without
/// CAP_LEASE on another's file, file systems without leases).
enum class WriterOpen { no, yes, unknown };

/// What shall stand at `place` instead of what was judged there.
struct Replacement {
  Place place;
  NodeKind judged_kind = NodeKind::absent;  ///< of the node at `place` itself: absent, file or link
  std::string_view judged_bytes;            ///< judged_kind file
  std::string_view judged_link;             ///< judged_kind link
  const Seen* judged = nullptr;             ///< whose owner, mode and extended attributes are kept; may be absent
  bool make_link = false;
  std::string_view content;  ///< the bytes, or the text of the link
  std::uint32_t mode = 0644;
  std::string label;  ///< security.selinux; empty: none is set
  bool in_place = false;
  bool only_attributes = false;  ///< mode and label alone: no content is touched
  bool remove = false;           ///< nothing shall stand there
  bool through_link = false;     ///< a link leads there: what comes out and not everyone may read stays unread
  /// Asked at the last moment, when what comes before has taken its time: true where nothing may be written any more.
  /// The Error's code is ECANCELED then.
  std::function<bool()> too_late;
  [[nodiscard]] bool is_too_late() const { return too_late && too_late(); }
};

struct Swap {
  enum class Way { exchanged, renamed, in_place, attributes };
  enum class Out {
    as_judged,  ///< what we replaced is what was judged
    newer,      ///< a newer file of a writer came out: `bytes` must be learned from
    put_back,   ///< something else (a link, a directory) had come there: it stands there again
  };
  Way way = Way::exchanged;
  Out out = Out::as_judged;
  std::string bytes;      ///< out newer
  struct stat info {};    ///< out newer: of that file
  SharedDescriptor open;  ///< what came out, where its writer still has it open
  /// What came out of an exchange, where nobody has it open: who had found it by its name just before may open it yet
  /// (open(2) looks up the name first and counts as a writer later).
  SharedDescriptor closed;
};

/// A node under the temporary name.
struct Leftover {
  NodeKind kind = NodeKind::absent;
  std::string text;  ///< its bytes, or the text of the link
  struct stat info {};
};

class Files {
 public:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  virtual ~Files() = default;

  /// Walks afresh and reads.
  virtual Seen observe(const std::string& path) = 0;
  /// Reads the final name again in the directory that `before` holds; walks afresh where that isn't a plain file.
  virtual Seen look_again(const std::string& path, Seen before) = 0;
  virtual GlobMatch expand(const std::string& pattern, const std::function<void(Chain)>& looked_in) = 0;
  virtual WriterOpen writer_open(const Seen& seen) = 0;
  /// The only writer. An Error's code tells why nothing was changed.
  virtual Result<Swap> replace(const Replacement& wanted) = 0;
  /// Why the kernel refused: one of immutable, read-only, permission, ... and what to do. Empty: not a refusal (an I/O
  /// error).
  virtual std::string refusal(const Place& place, const Error& error) = 0;
  /// What still refuses a write, told without trying: immutable and append-only files. Empty: nothing known.
  virtual std::string standing_refusal(const Place& place) = 0;
  /// The temporary file that a killed guardian left beside `place`.
  /// `through_link`: what not everyone may read isn't read (kind unreadable).
  virtual std::optional<Leftover> leftover(const Place& place, bool through_link) = 0;
  virtual void discard_leftover(const Place& place) = 0;
  /// Tries again to remove what couldn't be removed before.
  virtual void tidy() = 0;
  [[nodiscard]] virtual bool selinux() const = 0;
};

}  // namespace rg
