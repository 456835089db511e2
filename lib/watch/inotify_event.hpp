// What the kernel's inotify(7) bytes say, without a system call.
#pragma once

#include <sys/inotify.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace rg {

struct InotifyEvent {
  int watch = -1;
  std::uint32_t mask = 0;
  std::string_view name;  ///< empty: the watched node itself
};

/// Calls `each(InotifyEvent)` for every whole event in `bytes`. A cut one at the end is left out: the kernel never
/// cuts.
template <class Each>
void decode_inotify(std::string_view bytes, Each each) {
  while (bytes.size() >= sizeof(inotify_event)) {
    inotify_event head{};
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.len > bytes.size() - sizeof head) return;
    std::string_view name = bytes.substr(sizeof head, head.len);
    name = name.substr(0, name.find('\0'));  // padded with NULs
    each(InotifyEvent{head.wd, head.mask, name});
    bytes.remove_prefix(sizeof head + head.len);
  }
}

}  // namespace rg
