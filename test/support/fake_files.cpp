#include "test/support/fake_files.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace rg::test {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

mode_t type_of(NodeKind kind) {
  if (kind == NodeKind::directory) return S_IFDIR;
  return kind == NodeKind::link ? S_IFLNK : S_IFREG;
}

}  // namespace

FakeFiles::FakeFiles() = default;

void FakeFiles::file(const std::string& path, std::string bytes, std::uint32_t mode) {
  nodes[path] = {NodeKind::file, std::move(bytes), mode, 1, {}};
}
void FakeFiles::link(const std::string& path, std::string target) {
  nodes[path] = {NodeKind::link, std::move(target), 0777, 1, {}};
}
void FakeFiles::node(const std::string& path, NodeKind kind) { nodes[path] = {kind, {}, 0755, 1, {}}; }

std::string FakeFiles::bytes(const std::string& path) const {
  const auto found = nodes.find(path);
  return found == nodes.end() ? "(not there)" : found->second.text;
}

std::size_t FakeFiles::count(const std::string& prefix) const {
  return static_cast<std::size_t>(std::count_if(
      log.begin(), log.end(), [&](const std::string& line) { return line.substr(0, prefix.size()) == prefix; }));
}

Seen FakeFiles::look(const std::string& path) const {
  Seen seen;
  std::string at = path;
  for (int hops = 0;; ++hops) {
    if (directories.count(folder_of(at)) == 0) {
      seen.chain.named = hops == 0 ? seen.chain.steps.size() + 1 : 0;
      seen.chain.error = seen.error = ENOENT;
      seen.chain.steps.push_back({{nullptr, folder_of(at)}, 1, 1, NodeKind::absent, {}});
      return seen;
    }
    const auto found = nodes.find(at);
    const NodeKind kind = found == nodes.end() ? NodeKind::absent : found->second.kind;
    Step step{{nullptr, at}, 1, std::hash<std::string>{}(folder_of(at)), kind, {}};
    if (kind == NodeKind::link) step.link_text = found->second.text;
    seen.chain.steps.push_back(step);
    if (kind != NodeKind::link) break;
    if (hops == 40) {
      seen.chain.error = seen.error = ELOOP;
      seen.kind = NodeKind::unreadable;
      return seen;
    }
    at = found->second.text;
  }
  seen.chain.complete = true;
  seen.chain.path = at;
  if (const auto fault = fail_observe.find(at); fault != fail_observe.end()) {
    seen.kind = NodeKind::unreadable;
    seen.error = fault->second;
    return seen;
  }
  const auto found = nodes.find(at);
  if (found == nodes.end()) return seen;
  const FakeNode& node = found->second;
  seen.kind = node.kind;
  seen.info.st_mode = node.mode | type_of(node.kind);
  seen.info.st_nlink = node.links;
  seen.label = node.label;
  if (node.kind != NodeKind::file) return seen;
  if (seen.linked() && (node.mode & S_IROTH) == 0) {
    seen.kind = NodeKind::unreadable;
    seen.error = EACCES;
    return seen;
  }
  seen.bytes = node.text;
  return seen;
}

Seen FakeFiles::observe(const std::string& path) {
  log.push_back("observe " + path);
  if (before_every_observe) before_every_observe();
  return look(path);
}

Seen FakeFiles::look_again(const std::string& path, Seen) {
  log.push_back("look_again " + path);
  return look(path);
}

GlobMatch FakeFiles::expand(const std::string& pattern, const std::function<void(Chain)>&) {
  GlobMatch match;
  for (const auto& [path, node] : nodes) {
    if (::fnmatch(pattern.c_str(), path.c_str(), FNM_PERIOD | FNM_PATHNAME) == 0) match.paths.push_back(path);
  }
  return match;
}

WriterOpen FakeFiles::writer_open(const Seen& seen) {
  if (!leases || seen.kind != NodeKind::file) return WriterOpen::unknown;
  return open_for_writing.count(seen.chain.path) != 0 ? WriterOpen::yes : WriterOpen::no;
}

Result<Swap> FakeFiles::replace(const Replacement& wanted) {
  const std::string path = path_of(wanted.place);
  log.push_back("replace " + path);
  if (before_every_replace) before_every_replace();
  if (!before_replace.empty()) {
    const auto race = std::move(before_replace.front());
    before_replace.pop_front();
    race();
  }
  if (fail_replace != 0) return Error(fail_replace, "replace", path);
  if (lies) return Swap{};
  return put(path, wanted);
}

// What the contract of Swap says, on a map.
Result<Swap> FakeFiles::put(const std::string& path, const Replacement& wanted) {
  Swap swap;
  const auto found = nodes.find(path);
  if (wanted.only_attributes) {
    swap.way = Swap::Way::attributes;
    if (found != nodes.end() && !loses_attributes) found->second.mode = wanted.mode;
    if (found != nodes.end() && !wanted.label.empty() && !loses_attributes) found->second.label = wanted.label;
    return swap;
  }
  const FakeNode there = found == nodes.end() ? FakeNode{NodeKind::absent, {}, 0, 0, {}} : found->second;
  const std::string_view judged = wanted.judged_kind == NodeKind::link ? wanted.judged_link : wanted.judged_bytes;
  const bool as_judged = there.kind == wanted.judged_kind && there.text == judged;
  const bool can_learn =
      there.kind == NodeKind::file && wanted.judged_kind == NodeKind::file && !wanted.in_place && !wanted.remove;
  if (!as_judged && !can_learn) {
    swap.out = Swap::Out::put_back;
    return swap;
  }
  if (!as_judged) {
    swap.out = Swap::Out::newer;
    swap.bytes = there.text;
    swap.info.st_mode = there.mode | S_IFREG;
  }
  if (open_for_writing.erase(path) != 0) swap.open = share(-1);
  if (wanted.remove) {
    nodes.erase(path);
    return swap;
  }
  nodes[path] = {wanted.make_link ? NodeKind::link : NodeKind::file, std::string(wanted.content), wanted.mode, 1,
                 wanted.label};
  return swap;
}

std::string FakeFiles::refusal(const Place&, const Error&) { return refusal_text; }
std::string FakeFiles::standing_refusal(const Place&) {
  log.emplace_back("standing_refusal");
  return standing_text;
}

std::optional<Leftover> FakeFiles::leftover(const Place& place, bool /*through_link*/) {
  const auto found = leftovers.find(path_of(place));
  return found == leftovers.end() ? std::nullopt : std::optional(found->second);
}

void FakeFiles::discard_leftover(const Place& place) { leftovers.erase(path_of(place)); }

}  // namespace rg::test
