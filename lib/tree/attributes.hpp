// What a file has beside its bytes: owner, mode, label, extended attributes, time of modification. For lib/tree alone.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <string_view>

#include "lib/tree/files.hpp"

namespace rg {

/// The Error for the current errno, of a name in a held directory.
[[nodiscard]] Error failed(const char* doing, const Place& place);

/// With pwrite(2), from `at` on; false with errno, what was written until then stays.
[[nodiscard]] bool write_all(int fd, std::string_view bytes, off_t at);

/// user.* and POSIX ACLs go over. True if an ACL did: its mask has become the group's permissions then (acl(5)).
bool copy_attributes(int from, int to);

/// Go compares the time of modification and nothing else; stamps are a clock tick apart (4 ms), so that two rewrites in
/// one tick look alike. Ours is moved past `was`, the replaced file's, where it could equal it. `before`: the kernel's
/// coarse clock before ours was written; no stamp made since is older.
void keep_time_apart(int fd, const timespec& was, const timespec& before);

[[nodiscard]] Result<void> set_label(int fd, const Replacement& wanted);

/// The mode and owner of a file that was just made, where they aren't what is wanted.
[[nodiscard]] Result<void> set_owner_and_mode(int fd, const Replacement& wanted, const struct stat& made);

/// Label and mode of a node that stays.
[[nodiscard]] Result<void> set_attributes(int fd, const Replacement& wanted);

/// Whether we own it, user and group.
[[nodiscard]] bool is_us(const struct stat& info);

}  // namespace rg
