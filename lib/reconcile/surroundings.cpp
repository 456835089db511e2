#include "lib/reconcile/surroundings.hpp"

#include <algorithm>

#include "lib/store/sha256.hpp"

namespace rg {
namespace {

constexpr std::string_view kNetif = "/run/systemd/netif/links/";  // networkd's per-link state, sd-network(3)

bool everyone_reads(const Seen& seen) {
  return seen.kind == NodeKind::file && (!seen.linked() || (seen.info.st_mode & S_IROTH) != 0);
}

// One upstream file. While its writer has it open, what it held before counts.
void read_upstream(Guarded& guarded, Files& files, const std::string& path, Surroundings& around) {
  Seen seen = files.observe(path);
  const bool good = everyone_reads(seen);
  std::string& known = guarded.upstream_bytes[path];
  if (good && (seen.bytes == known || files.writer_open(seen) != WriterOpen::yes)) known = seen.bytes;
  const bool netif = path.substr(0, kNetif.size()) == kNetif;
  if (good) around.upstream.push_back({path.substr(path.rfind('/') + 1), known, netif});
  const bool no_answer = is_limit(seen.error);
  if (no_answer && !known.empty()) around.upstream.push_back({path.substr(path.rfind('/') + 1), known, netif});
  if (!good && !no_answer) guarded.upstream_bytes.erase(path);
  guarded.other_chains.push_back(std::move(seen.chain));
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

Node::Kind node_kind(const Seen& seen) {
  switch (seen.kind) {
    case NodeKind::file:
      return Node::Kind::file;
    case NodeKind::directory:
      return Node::Kind::directory;
    case NodeKind::other:
    case NodeKind::link:
      return Node::Kind::other;
    case NodeKind::absent:
    case NodeKind::unreadable:
      break;
  }
  if (seen.error == ELOOP) return Node::Kind::loop;
  if (seen.chain.complete) return seen.kind == NodeKind::absent ? Node::Kind::absent : Node::Kind::unreadable;
  if (seen.error == EISDIR) return Node::Kind::directory;
  return seen.error == ENOENT || seen.error == ENOTDIR ? Node::Kind::no_directory : Node::Kind::unreadable;
}

// Some of our bytes at the front, and behind them what stood there before: no writer's document.
bool is_half_written(const HalfWritten& half, std::string_view bytes) {
  if (bytes == half.before) return false;
  const std::size_t most = std::min(bytes.size(), half.wanted.size());
  std::size_t ours = 0;
  while (ours < most && bytes[ours] == half.wanted[ours]) ++ours;
  const auto rest = std::string_view(half.before).substr(std::min(ours, half.before.size()));
  return ours != 0 && bytes.substr(ours) == rest;
}

// Whether a look came through the guarded name itself: what is read there is what we put there.
bool comes_through(const Chain& chain, const Chain& guarded) {
  if (!guarded.reached_name()) return false;
  const Step& name = guarded.name_step();
  return std::any_of(chain.steps.begin(), chain.steps.end(), [&](const Step& step) { return same_name(step, name); });
}

}  // namespace

Surroundings look_around(Guarded& guarded, Files& files, bool ours) {
  Surroundings around;
  guarded.other_chains.clear();
  const Policy& policy = guarded.policy;
  for (const std::string& pattern : policy.upstream) {
    if (!has_glob(pattern)) {
      read_upstream(guarded, files, pattern, around);
      continue;
    }
    const auto keep = [&](Chain chain) { guarded.other_chains.push_back(std::move(chain)); };
    const GlobMatch match = files.expand(pattern, keep);
    if (is_limit(match.error)) around.error = match.error;
    for (const std::string& path : match.paths) read_upstream(guarded, files, path, around);
  }
  guarded.upstream_read = !around.upstream.empty();
  if (policy.link_to && !policy.link_to->empty()) {
    const bool absolute = policy.link_to->front() == '/';
    Seen seen = files.observe(absolute ? *policy.link_to : folder_of(policy.path) + *policy.link_to);
    const bool good = seen.kind == NodeKind::file && (seen.info.st_mode & S_IROTH) != 0;
    // A link to itself would be made, taken for a circle, made a file again, and so on for ever.
    if (good && !comes_through(seen.chain, guarded.seen.chain)) around.link_target = std::move(seen.bytes);
    if (is_limit(seen.error)) around.error = seen.error;
    guarded.other_chains.push_back(std::move(seen.chain));
  }
  if (ours) around.document = standing_document(guarded);
  if (!ours && guarded.seen.kind == NodeKind::file) around.document = guarded.left ? *guarded.left : guarded.seen.bytes;
  return around;
}

bool is_failed_look(const Seen& seen) {
  return node_kind(seen) == Node::Kind::unreadable && seen.error != EACCES && seen.error != EPERM;
}

Node as_node(const Seen& seen) {
  Node node;
  node.error = seen.error;
  node.kind = node_kind(seen);
  node.linked = seen.linked();
  if (node.linked) node.link_text = seen.chain.name_step().link_text;
  node.path = seen.chain.path;
  node.bytes = seen.bytes;
  node.mode = seen.info.st_mode & 07777U;
  node.links = seen.info.st_nlink;
  node.label = seen.label;
  return node;
}

bool is_our_link(const Guarded& guarded) {
  const Seen& seen = guarded.seen;
  return seen.linked() && !guarded.memory.written.empty() &&
         digest_of_link(seen.chain.name_step().link_text) == guarded.memory.written;
}

bool is_ours(Guarded& guarded, bool fresh) {
  const Seen& seen = guarded.seen;
  if (seen.kind != NodeKind::file || is_our_link(guarded)) return false;
  if (fresh && guarded.half && is_half_written(*guarded.half, seen.bytes)) {
    guarded.written = seen.bytes;
    guarded.memory.written = sha256_hex(seen.bytes);
    return true;
  }
  if (guarded.written) return seen.bytes == *guarded.written;
  const Memory& memory = guarded.memory;
  if (!fresh || (memory.written.empty() && memory.intended.empty())) return false;
  const std::string digest = sha256_hex(seen.bytes);
  if (digest != memory.written && digest != memory.intended) return false;
  guarded.written = seen.bytes;
  return true;
}

std::optional<std::string_view> standing_document(const Guarded& guarded) {
  const auto& document = guarded.memory.document;
  const bool stands = document && document->kind != Document::Kind::absent && !document->removed;
  return stands ? std::optional<std::string_view>(document->bytes) : std::nullopt;
}

std::optional<std::string> with_appended(std::optional<std::string_view> document, std::string_view before,
                                         std::string_view bytes) {
  constexpr std::size_t kMost = 64 * 1024;  // a hook that appends each minute, for years
  if (before.empty() || !bytes.starts_with(before)) return std::nullopt;
  std::string left(document.value_or(std::string_view{}));
  if (left.size() > before.size() + kMost) return std::nullopt;
  if (bytes.size() == before.size()) return left;
  if (!left.empty() && !left.ends_with('\n') && before.ends_with('\n')) left.push_back('\n');
  return left.append(bytes.substr(before.size()));
}

std::optional<std::string> appended_to_ours(const Guarded& guarded) {
  if (!guarded.written || guarded.seen.kind != NodeKind::file) return std::nullopt;
  return with_appended(
      guarded.appended_to ? std::optional<std::string_view>(*guarded.appended_to) : standing_document(guarded),
      *guarded.written, guarded.seen.bytes);
}

void take_document(Guarded& guarded, bool finished) {
  const Seen& seen = guarded.seen;
  auto& document = guarded.memory.document;
  if (seen.kind == NodeKind::unreadable || is_our_link(guarded)) return;
  if (seen.kind != NodeKind::file && !seen.linked()) {
    if (!document) document.emplace();  // there never was one
    document->removed = document->kind != Document::Kind::absent;
    document->finished = finished;
    return;
  }
  const bool at_name = guarded.policy.link == LinkMode::file || guarded.policy.link_to.has_value();
  Document taken;
  taken.kind = seen.linked() && (at_name || seen.kind != NodeKind::file) ? Document::Kind::link : Document::Kind::file;
  if (taken.kind == Document::Kind::link) taken.link_target = seen.chain.name_step().link_text;
  taken.mode = seen.info.st_mode & 07777U;
  taken.uid = seen.info.st_uid;
  taken.gid = seen.info.st_gid;
  taken.label = seen.label;
  if (guarded.left) {
    if (!guarded.appended_to) guarded.appended_to = standing_document(guarded).value_or(std::string_view{});
    if (document && document->kind == Document::Kind::file) taken = *document;  // the attributes there are ours
    taken.removed = false;
  } else {
    guarded.appended_to.reset();
    guarded.written.reset();  // nothing that comes is appended to that any more
  }
  taken.bytes = guarded.left ? *guarded.left : seen.bytes;
  taken.finished = finished;
  document = std::move(taken);
  renew_source_addresses(guarded);
}

// A writer who names a former address of this host means it; an editor who saves our own file again doesn't.
void renew_source_addresses(Guarded& guarded) {
  const auto& document = guarded.memory.document;
  const bool copied = document && is_copy_of_ours(document->bytes);
  if (!copied) guarded.memory.source_addresses.clear();
  note_source_addresses(guarded.memory, guarded.policy.nameservers);
}

void take_link(Guarded& guarded) {
  const Seen& seen = guarded.seen;
  if (!seen.linked() || is_our_link(guarded)) return;
  auto& document = guarded.memory.document;
  if (!document) document.emplace();
  document->kind = Document::Kind::link;
  document->link_target = seen.chain.name_step().link_text;
  document->removed = false;
}

Replacement replacement_for(const Guarded& guarded, const Decision& decision) {
  const Seen& seen = guarded.seen;
  Replacement wanted;
  wanted.place = decision.at_name ? seen.name() : seen.target();
  const bool link_there = decision.at_name && seen.linked();
  wanted.judged_kind = link_there ? NodeKind::link : seen.kind;
  wanted.judged_bytes = seen.bytes;
  if (link_there) wanted.judged_link = seen.chain.name_step().link_text;
  if (!link_there && seen.kind == NodeKind::file) wanted.judged = &seen;
  wanted.make_link = decision.make_link;
  wanted.content = decision.bytes;
  wanted.mode = guarded.policy.mode;
  wanted.label = decision.label;
  wanted.in_place = guarded.policy.write == WriteMode::in_place;
  wanted.only_attributes = decision.only_attributes;
  wanted.through_link = seen.linked() && !decision.at_name;
  return wanted;
}

std::string digest_of_link(std::string_view text) { return sha256_hex("symlink " + std::string(text)); }

std::string digest_of_write(const Decision& decision) {
  return decision.make_link ? digest_of_link(decision.bytes) : sha256_hex(decision.bytes);
}

}  // namespace rg
