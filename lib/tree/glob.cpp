#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include "lib/tree/walk.hpp"

namespace rg {
namespace {

constexpr std::size_t kMaxMatches = 10'000;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Interface numbers by value (2 before 10), everything else by its bytes.
bool before(const std::string& a, const std::string& b) {
  if (all_digits(a) && all_digits(b) && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

std::vector<std::string> matching_names(const Chain& chain, const std::string& pattern) {
  std::vector<std::string> names;
  const int fd = ::openat(chain.steps.back().place.directory->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) {
    if (fd >= 0) ::close(fd);
    return names;
  }
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || names.size() >= kMaxMatches) continue;
    if (::fnmatch(pattern.c_str(), entry->d_name, FNM_PERIOD | FNM_PATHNAME) == 0) names.emplace_back(name);
  }
  ::closedir(stream);
  std::sort(names.begin(), names.end(), before);
  return names;
}

void expand(const SharedDescriptor& root, const std::string& done, std::string_view rest, GlobMatch& match) {
  const std::size_t from = rest.find_first_not_of('/');
  if (from == std::string_view::npos || match.paths.size() >= kMaxMatches) return;
  rest.remove_prefix(from);
  const std::string part(rest.substr(0, rest.find('/')));
  const std::string_view after = rest.substr(part.size());
  const bool last = after.find_first_not_of('/') == std::string_view::npos;
  if (!has_glob(part)) {
    if (!last) return expand(root, done + "/" + part, after, match);
    Chain chain = walk(root, done + "/" + part);
    const bool there = chain.reached_name() && chain.name_step().kind != NodeKind::absent;
    if (there) match.paths.push_back(done + "/" + part);
    match.looked_in.push_back(std::move(chain));  // it may come later
    return;
  }
  Chain chain = walk(root, done + "/" + part);  // the pattern as a name: its directory is what we want
  const bool listed = chain.complete && chain.steps.size() == chain.named + 1;
  const auto names = listed ? matching_names(chain, part) : std::vector<std::string>{};
  match.looked_in.push_back(std::move(chain));
  for (const std::string& name : names) {
    if (last && match.paths.size() < kMaxMatches) match.paths.push_back(done + "/" + name);
    if (!last) expand(root, done + "/" + name, after, match);
  }
}

}  // namespace

bool has_glob(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

GlobMatch expand_glob(const SharedDescriptor& root, const std::string& pattern) {
  GlobMatch match;
  expand(root, "", pattern, match);
  return match;
}

}  // namespace rg
