// The quick way along a link that a writer has just put in the place of a file: two system calls where a walk takes
// three for each directory.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "lib/tree/walk.hpp"

namespace rg {
namespace {

/// Where the way begins, by what a walk found before: its folders were no links.
struct Start {
  SharedDescriptor directory;
  std::string folder;  ///< its path; empty: the root
  std::string rest;
};

Start start_of(const SharedDescriptor& root, const Chain& before, std::string_view text) {
  if (text.starts_with('/')) return {root, {}, std::string(text.substr(1))};
  const std::string folder = before.path.substr(0, before.path.rfind('/'));
  if (!text.starts_with("../")) return {before.steps.back().place.directory, folder, std::string(text)};
  std::string_view above = folder;
  for (; text.starts_with("../"); text.remove_prefix(3)) {
    if (!above.empty()) above = above.substr(0, above.rfind('/'));
  }
  const std::string rest = std::string(above).append("/").append(text);
  return {root, {}, rest.substr(1)};
}

/// Names and nothing else: what the kernel finds by it has this path.
bool is_plain(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// Linux 5.6; older ones, qemu-user and some containers' seccomp filters refuse it. No link is followed.
int open_directory(const SharedDescriptor& from, const std::string& path) {
  constexpr long kOpenat2 = 437;                               // the same number for every architecture that we run on
  constexpr std::uint64_t kNoSymlinks = 0x04, kInRoot = 0x10;  // RESOLVE_*, linux/openat2.h
  struct {
    std::uint64_t flags, mode, resolve;
  } const how{O_PATH | O_DIRECTORY | O_CLOEXEC, 0, kNoSymlinks | kInRoot};
  return static_cast<int>(::syscall(kOpenat2, from->get(), path.c_str(), &how, sizeof how));
}

}  // namespace

std::optional<Chain> walk_link(const SharedDescriptor& root, const Chain& before, const std::string& text) {
  Start start = start_of(root, before, text);
  if (!is_plain(start.rest)) return std::nullopt;
  const std::size_t slash = start.rest.rfind('/');
  if (slash != std::string::npos) {
    const int directory = open_directory(start.directory, start.rest.substr(0, slash));
    if (directory < 0) return std::nullopt;
    start.directory = share(directory);
  }
  struct stat info {};
  if (::fstat(start.directory->get(), &info) != 0) return std::nullopt;

  Chain chain;
  chain.steps = before.steps;
  chain.steps.back().kind = NodeKind::link;
  chain.steps.back().link_text = text;
  chain.named = chain.steps.size() - 1;
  const std::string name = start.rest.substr(slash + 1);  // npos + 1: all of it
  chain.steps.push_back({{std::move(start.directory), name}, info.st_dev, info.st_ino, NodeKind::absent, {}});
  chain.path = start.folder.append("/").append(start.rest);
  chain.complete = true;
  chain.whole = false;
  return chain;
}

}  // namespace rg
