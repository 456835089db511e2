#include "lib/policy/compose.hpp"

#include "lib/policy/kept_line.hpp"
#include "lib/policy/verbs.hpp"

namespace rg {
namespace {

constexpr std::string_view kComment =
    "# resolv-guardian keeps the order of these nameservers: edits are undone (`resolv-guardian pause` stops that)\n";
static_assert(kComment.starts_with(kCommentPrefix) &&
              kComment.size() <= 256);  // musl skips lines of 256 bytes and more

void append_line(std::string_view keyword, const std::vector<std::string>& words, std::string& bytes) {
  bytes += keyword;
  for (const std::string& word : words) bytes.append(" ").append(word);
  bytes += '\n';
}

/// One list's lines: written once, where the writer's first line of that kind stood, else at the end.
struct Slot {
  bool ours = true;
  bool written = false;
};

class Composer {
 public:
  Composer(const Policy& policy, const ResolvConf& document, const Lists& want)
      : document_(document), want_(want), comment_(policy.comment) {
    search_.ours = search_is_ours(policy);
    options_.ours = options_are_ours(policy.options);
    for (const Line& line : document.lines) {
      if (is_search(line) && !line.values.empty()) effective_search_ = &line;
    }
  }

  std::string compose(bool with_others) {
    bytes_.reserve(1024);
    for (const Line& line : document_.lines) {
      if (line.beyond) break;
      add(line, with_others);
    }
    write_search();
    write_nameservers();
    write_options();
    return std::move(bytes_);
  }

 private:
  static bool is_search(const Line& line) { return line.kind == Line::Kind::search || line.kind == Line::Kind::domain; }

  void add(const Line& line, bool with_others) {
    switch (line.kind) {
      case Line::Kind::other:
        if (with_others) append_kept_line(line, bytes_);
        return;
      case Line::Kind::nameserver:
        return write_nameservers();
      case Line::Kind::search:
      case Line::Kind::domain:
        if (search_.ours) return write_search();
        // An earlier one, or one without a value, changes nothing of what is read.
        if (&line == effective_search_) keep(line.kind == Line::Kind::search ? "search" : "domain", line);
        return;
      case Line::Kind::options:
        if (options_.ours) return write_options();
        if (!line.values.empty()) keep("options", line);
        return;
    }
  }

  /// The writer's line as it stands, or what is read of it where some resolver reads something else.
  void keep(std::string_view keyword, const Line& line) {
    if (!line.flaws.empty()) return append_line(keyword, line.values, bytes_);
    bytes_ += line.text;
    if (!line.text.ends_with('\n')) bytes_ += '\n';
  }

  void write_nameservers() {
    if (servers_.written) return;
    servers_.written = true;
    if (comment_ && !want_.nameservers.empty()) bytes_ += kComment;
    for (const Nameserver& server : want_.nameservers) bytes_.append("nameserver ").append(server.text()).append("\n");
  }

  void write_search() {
    if (!search_.ours || search_.written) return;
    search_.written = true;
    if (!want_.search.empty()) append_line("search", want_.search, bytes_);
  }

  void write_options() {
    if (!options_.ours || options_.written) return;
    options_.written = true;
    if (!want_.options.empty()) append_line("options", want_.options, bytes_);
  }

  const ResolvConf& document_;
  const Lists& want_;
  bool comment_;
  Slot servers_, search_, options_;
  const Line* effective_search_ = nullptr;
  std::string bytes_;
};

}  // namespace

std::string compose(const Policy& policy, const ResolvConf& document, const Lists& want) {
  std::string bytes = Composer(policy, document, want).compose(true);
  // Beyond the limit not even we would read our own lines.
  if (bytes.size() > kMaxFileBytes) bytes = Composer(policy, document, want).compose(false);
  return bytes;
}

}  // namespace rg
