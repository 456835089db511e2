#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>

#include "lib/tree/walk.hpp"

namespace rg {
namespace {

constexpr std::size_t kMaxMatches = 10'000;
constexpr int kTurns = 4;  // a way that changes all the time is watched, and looked at again then

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Interface numbers by value (2 before 10), everything else by its bytes.
bool before(const std::string& a, const std::string& b) {
  if (all_digits(a) && all_digits(b) && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

bool lies_in(const Step& step, const Chain& chain) {
  return std::any_of(chain.steps.begin(), chain.steps.end(),
                     [&](const Step& other) { return other.device == step.device && other.inode == step.inode; });
}

class Expansion {
 public:
  Expansion(const SharedDescriptor& root, const std::function<void(Chain)>& looked_in)
      : root_(root), looked_in_(looked_in) {}

  GlobMatch run(std::string_view pattern) {
    expand("", pattern, nullptr);
    return std::move(match_);
  }

 private:
  bool full() {
    match_.cut = match_.cut || match_.paths.size() >= kMaxMatches;
    return match_.cut;
  }

  void expand(const std::string& done, std::string_view rest, const Chain* listed) {
    const std::size_t from = rest.find_first_not_of('/');
    if (from == std::string_view::npos || full()) return;
    rest.remove_prefix(from);
    const std::string part(rest.substr(0, rest.find('/')));
    const std::string_view after = rest.substr(part.size());
    const bool last = after.find_first_not_of('/') == std::string_view::npos;
    if (has_glob(part)) return list(done, part, last ? std::string_view() : after);
    if (!last) return expand(done + "/" + part, after, listed);
    const Chain chain = look(done + "/" + part, listed);
    const bool there = chain.reached_name() && chain.name_step().kind != NodeKind::absent;
    if (there) match_.paths.push_back(done + "/" + part);
  }

  void list(const std::string& done, const std::string& part, std::string_view after) {
    const Chain chain = look(done + "/" + part, nullptr);  // the pattern as a name: its directory is what we want
    const bool is_directory = chain.complete && chain.steps.size() == chain.named + 1;
    for (const std::string& name : is_directory ? matching_names(chain, part) : std::vector<std::string>{}) {
      if (full()) return;
      if (after.empty()) match_.paths.push_back(done + "/" + name);
      if (!after.empty()) expand(done + "/" + name, after, &chain);
    }
  }

  // Told first, so that it can be watched, then looked at: what comes in between isn't missed.
  Chain look(const std::string& path, const Chain* listed) {
    Chain chain = walk(root_, path);
    for (int turn = 0; turn < kTurns; ++turn) {
      tell(chain, listed);
      Chain again = walk(root_, path);
      const bool same = same_chain(again, chain);
      chain = std::move(again);
      if (same) break;
    }
    note(chain.error);
    return chain;
  }

  void note(int error) {
    if (error != 0 && error != ENOENT && error != ENOTDIR && error != ELOOP) match_.error = error;
  }

  // What lies in the directories that were listed on the way is watched there.
  void tell(Chain chain, const Chain* listed) {
    const auto is_known = [&](const Step& step) { return listed != nullptr && lies_in(step, *listed); };
    std::erase_if(chain.steps, is_known);
    if (!chain.steps.empty()) looked_in_(std::move(chain));
  }

  std::vector<std::string> matching_names(const Chain& chain, const std::string& pattern) {
    std::vector<std::string> names;
    const int fd = ::openat(chain.steps.back().place.directory->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
    if (stream == nullptr) {
      note(errno);
      if (fd >= 0) ::close(fd);
      return names;
    }
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || names.size() > kMaxMatches) continue;
      if (::fnmatch(pattern.c_str(), entry->d_name, FNM_PERIOD | FNM_PATHNAME) == 0) names.emplace_back(name);
    }
    ::closedir(stream);
    std::sort(names.begin(), names.end(), before);
    return names;
  }

  const SharedDescriptor& root_;
  const std::function<void(Chain)>& looked_in_;
  GlobMatch match_;
};

}  // namespace

bool matches_glob(const std::string& pattern, const std::string& path) {
  return has_glob(pattern) && ::fnmatch(pattern.c_str(), path.c_str(), FNM_PERIOD | FNM_PATHNAME) == 0;
}

bool has_glob(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

GlobMatch expand_glob(const SharedDescriptor& root, const std::string& pattern,
                      const std::function<void(Chain)>& looked_in) {
  return Expansion(root, looked_in).run(pattern);
}

}  // namespace rg
