// The seam on a real root directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/tree/files.hpp"

namespace rg {

/// The name of the temporary file beside `name`: fixed, so that SELinux policy and a clean-up can know it.
[[nodiscard]] std::string temporary_name(const std::string& name);

class DiskFiles final : public Files {
 public:
  /// `root`: an O_PATH descriptor of the root directory. `selinux`: whether labels are read and set.
  DiskFiles(SharedDescriptor root, bool selinux);

  Seen observe(const std::string& path) override;
  Seen look_again(const std::string& path, Seen before) override;
  GlobMatch expand(const std::string& pattern, const std::function<void(Chain)>& looked_in) override;
  WriterOpen writer_open(const Seen& seen) override;
  Result<Swap> replace(const Replacement& wanted) override;
  std::string refusal(const Place& place, const Error& error) override;
  std::string standing_refusal(const Place& place) override;
  /// What would refuse this, as far as a look without writing can tell: attributes, mounts, what stands in the way.
  /// Never whether whoever looks has the rights. Empty: nothing known.
  [[nodiscard]] std::string foreseen_refusal(const Replacement& wanted);
  std::optional<Leftover> leftover(const Place& place, bool through_link) override;
  void discard_leftover(const Place& place) override;
  void tidy() override;
  [[nodiscard]] bool selinux() const override { return selinux_; }

  /// When a new file's data is given to the disk: never (there is none), before it is visible, or right behind that.
  enum class Sync { none, before, behind };
  /// A file that was made and has no other name than the temporary one yet. To close it can wait until it is visible.
  struct New {
    FileDescriptor file;  ///< none: a link
    timespec begun{};     ///< the kernel's coarse clock before it was made
    Sync sync = Sync::none;
  };

 private:
  Seen observe_once(const std::string& path);
  Seen follow(const std::string& path, const Seen& before);
  Result<New> make_temporary(const Replacement& wanted, const std::string& temporary);
  /// What is known of the directory that was written in last: while it is held, its number can't be another's.
  struct Folder {
    SharedDescriptor directory;
    Sync sync = Sync::none;
    std::uint32_t mode =
        kNone;  ///< a file made in it with this mode gets just that, and us as owner (umask, ACLs, BSD groups)
    static constexpr std::uint32_t kNone = ~0U;
  };
  Folder folder_;
  std::vector<Place> littered_;  ///< where our temporary file couldn't be removed (chattr +a)
  SharedDescriptor root_;
  bool selinux_;
};

/// Opens a root directory. O_PATH.
[[nodiscard]] Result<SharedDescriptor> open_root(const std::string& path);

/// Whether this kernel runs SELinux: only then does it register selinuxfs (security/selinux/selinuxfs.c), seen from a
/// container without /sys/fs/selinux too.
[[nodiscard]] bool selinux_enabled();

/// fsync(2) of a file that was made visible and of its directory: the durable half of a write, off the hot path.
void make_durable(const Place& place);

/// Whether what stands at `place` is itself a mount point: then it can only be written in place, and a rename where it
/// comes from leaves an orphan here.
[[nodiscard]] bool is_mount_point(const Place& place);

/// Reads at most 1 MiB and one byte more from the start of an open file.
[[nodiscard]] Result<std::string> read_whole(int fd);

/// Not everyone may read it; asked behind a reading, as who writes a secret makes the file private before.
[[nodiscard]] bool is_private(int fd);

/// security.selinux of an open file, empty if none.
[[nodiscard]] std::string read_label(int fd);

/// Whether somebody has this file open for writing. The lease is given back at once: a held one blocks writers.
[[nodiscard]] WriterOpen probe_writer(int fd);

}  // namespace rg
