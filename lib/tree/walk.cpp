#include "lib/tree/walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

namespace rg {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS, path_resolution(7)

// The components of a path, last one first, so that the next one is popped off the back.
void push_components(std::vector<std::string>& pending, std::string_view path) {
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") pending.emplace_back(part);
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

bool ends_in_slash(std::string_view path) { return path.ends_with('/') || path.ends_with("/."); }

struct Directory {
  SharedDescriptor fd;
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;
};

class Walker {
 public:
  Walker(const SharedDescriptor& root, const std::string& path) {
    struct stat info {};
    if (::fstat(root->get(), &info) != 0) chain_.error = errno;
    stack_.push_back({root, info.st_dev, info.st_ino, {}});
    push_components(pending_, path);
  }

  Chain run() {
    bool named = false;
    while (chain_.error == 0 && !pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (name == "..") {
        if (stack_.size() > 1) stack_.pop_back();
        continue;
      }
      if (pending_.empty() && !named) {
        named = true;
        chain_.named = chain_.steps.size();
      }
      step(name);
    }
    if (!named) chain_.named = chain_.steps.size();
    // Where a directory is missing: the path that it would have, if nothing below it were a link.
    if (chain_.error == ENOENT) chain_.path = whole_path();
    if (!chain_.complete && chain_.error == 0) chain_.error = EISDIR;  // it ended in `..` or `/`
    return std::move(chain_);
  }

 private:
  void step(const std::string& name) {
    Directory& here = stack_.back();
    Step step{{here.fd, name}, here.device, here.inode, NodeKind::absent, {}};
    FileDescriptor node(::openat(here.fd->get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    const bool there = node && ::fstat(node.get(), &info) == 0;
    const int why = there ? 0 : errno;
    if (there) step.kind = kind_of(info.st_mode);
    if (!there && why != ENOENT) step.kind = NodeKind::unreadable;
    if (step.kind == NodeKind::link && !read_link(node, step)) return;
    const bool last = pending_.empty();
    chain_.steps.push_back(std::move(step));
    const NodeKind kind = chain_.steps.back().kind;
    if (!last || kind == NodeKind::link) return proceed(std::move(node), info, name, why);
    if (there) chain_.node = {std::make_shared<const FileDescriptor>(std::move(node)), info};
    if (wants_directory_ && kind != NodeKind::directory) return finish(there ? ENOTDIR : why);
    finish(why == ENOENT ? 0 : why);
  }

  // Not the final name: into a directory, along a link, or no further.
  void proceed(FileDescriptor node, const struct stat& info, const std::string& name, int why) {
    const Step& step = chain_.steps.back();
    if (step.kind == NodeKind::directory) {
      stack_.push_back({std::make_shared<const FileDescriptor>(std::move(node)), info.st_dev, info.st_ino, name});
    } else if (step.kind == NodeKind::link) {
      if (++links_ > kMaxLinks) {
        chain_.error = ELOOP;
        return;
      }
      if (step.link_text.front() == '/') stack_.resize(1);
      // As the kernel resolves it: behind a final slash there must be a directory.
      if (pending_.empty()) wants_directory_ = wants_directory_ || ends_in_slash(step.link_text);
      push_components(pending_, step.link_text);
    } else {
      chain_.error = why != 0 ? why : ENOTDIR;
    }
  }

  bool read_link(const FileDescriptor& node, Step& step) {
    std::array<char, PATH_MAX> text{};
    // readlinkat(2) with an empty name reads the O_PATH descriptor itself: the very link that was looked at.
    const ssize_t length = ::readlinkat(node.get(), "", text.data(), text.size());
    if (length <= 0) {
      chain_.error = length < 0 ? errno : ENOENT;
      return false;
    }
    step.link_text.assign(text.data(), static_cast<std::size_t>(length));
    return true;
  }

  void finish(int why) {
    chain_.complete = why == 0;
    chain_.error = why;
    chain_.path = whole_path();
  }

  // Of the directories, the last name that was looked up, and what is still to come.
  std::string whole_path() {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < stack_.size(); ++i) names.push_back(stack_[i].name);
    if (!chain_.steps.empty()) names.push_back(chain_.steps.back().place.name);
    for (; !pending_.empty(); pending_.pop_back()) {
      if (pending_.back() != "..") {
        names.push_back(pending_.back());
      } else if (!names.empty()) {
        names.pop_back();
      }
    }
    std::string path;
    for (const std::string& name : names) path += "/" + name;
    return path;
  }

  Chain chain_;
  std::vector<Directory> stack_;
  std::vector<std::string> pending_;
  int links_ = 0;
  bool wants_directory_ = false;
};

}  // namespace

NodeKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return NodeKind::file;
  if (S_ISLNK(mode)) return NodeKind::link;
  if (S_ISDIR(mode)) return NodeKind::directory;
  return NodeKind::other;
}

Chain walk(const SharedDescriptor& root, const std::string& path) { return Walker(root, path).run(); }

bool same_name(const Step& a, const Step& b) {
  return a.device == b.device && a.inode == b.inode && a.place.name == b.place.name;
}

bool same_chain(const Chain& a, const Chain& b) {
  return a.named == b.named && a.complete == b.complete &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const Step& x, const Step& y) { return same_name(x, y) && x.link_text == y.link_text; });
}

}  // namespace rg
