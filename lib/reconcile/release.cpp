// Giving back what the last writer left, and taking in what a killed guardian left.
#include <algorithm>

#include "lib/reconcile/pass.hpp"
#include "lib/reconcile/surroundings.hpp"
#include "lib/store/sha256.hpp"

namespace rg {
namespace {

// Whether a restore of `bytes` gives exactly what stands in the guarded file: then it is the document that ours came
// from.
bool restoring_gives_what_stands(Guarded& guarded, Files& files, const PassOptions& options, const std::string& bytes) {
  const Surroundings around = look_around(guarded, files, false);
  const Content content =
      judge_content({guarded.policy, bytes, bytes, around.upstream, guarded.memory, options.interface_exists});
  return !content.violations.empty() && content.wanted == guarded.seen.bytes;
}

Document document_of(const Leftover& left) {
  Document document;
  document.kind = left.kind == NodeKind::link ? Document::Kind::link : Document::Kind::file;
  (left.kind == NodeKind::link ? document.link_target : document.bytes) = left.text;
  document.mode = left.info.st_mode & 07777U;
  document.uid = left.info.st_uid;
  document.gid = left.info.st_gid;
  return document;
}

void take_in(Guarded& guarded, Files& files, const PassOptions& options, const Place& place, bool through_link) {
  const auto left = files.leftover(place, through_link);
  if (!left) return;
  const bool file = left->kind == NodeKind::file && guarded.seen.kind == NodeKind::file;
  if (file && restoring_gives_what_stands(guarded, files, options, left->text)) {
    guarded.memory.document = document_of(*left);
    guarded.memory.written = sha256_hex(guarded.seen.bytes);
    guarded.written = guarded.seen.bytes;
  }
  const bool replaced_link =
      left->kind == NodeKind::link && !guarded.seen.linked() && left->text != guarded.policy.link_to;
  if (replaced_link && is_ours(guarded, true)) guarded.memory.document = document_of(*left);
  files.discard_leftover(place);
}

// What was read of a file that is longer than what is ever read.
bool is_cut(const Document& document) {
  return document.kind == Document::Kind::file && document.bytes.size() > kMaxFileBytes;
}

// Who edited our own file saved our lines with his: those aren't his.
Document without_our_lines(const Guarded& guarded) {
  Document document = *guarded.memory.document;
  if (document.kind != Document::Kind::file || !is_copy_of_ours(document.bytes)) return document;
  document.bytes = without_ours(guarded.policy, guarded.memory, document.bytes);
  return document;
}

Replacement give_back(const Guarded& guarded, const Document& document) {
  const Seen& seen = guarded.seen;
  Replacement back;
  const bool at_name = document.kind == Document::Kind::link || is_our_link(guarded);
  back.place = at_name ? seen.name() : seen.target();
  back.judged_kind = at_name && seen.linked() ? NodeKind::link : seen.kind;
  back.judged_bytes = seen.bytes;
  if (seen.linked()) back.judged_link = seen.chain.name_step().link_text;
  back.judged = back.judged_kind == NodeKind::file ? &seen : nullptr;
  back.make_link = document.kind == Document::Kind::link;
  back.content = back.make_link ? document.link_target : document.bytes;
  back.mode = document.mode;
  back.label = document.label;
  back.in_place = guarded.policy.write == WriteMode::in_place;
  back.remove = document.kind == Document::Kind::absent;
  back.through_link = seen.linked() && !at_name && (document.mode & S_IROTH) != 0;
  return back;
}

}  // namespace

void take_in_leftover(Guarded& guarded, Files& files, const PassOptions& options) {
  if (!guarded.policy.enforce) return;  // who only observes removes nothing
  guarded.seen = files.observe(guarded.policy.path);
  if (!guarded.seen.chain.reached_name()) return;
  take_in(guarded, files, options, guarded.seen.name(), false);
  if (guarded.seen.chain.complete && guarded.seen.linked())
    take_in(guarded, files, options, guarded.seen.target(), true);
}

Result<Released> release(Guarded& guarded, Files& files) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    guarded.seen = files.observe(guarded.policy.path);
    const bool ours = is_ours(guarded, true) || is_our_link(guarded);
    const bool edited = !ours && guarded.seen.kind == NodeKind::file && is_copy_of_ours(guarded.seen.bytes);
    guarded.left = edited ? appended_to_ours(guarded) : std::nullopt;
    if (edited) take_document(guarded, true);
    if ((!ours && !edited) || !guarded.memory.document) return Released::nothing;
    const Document document = without_our_lines(guarded);
    if (is_cut(document)) {
      return Error{EFBIG, "give back " + guarded.policy.path +
                              ": what its writer left is longer than 1 MiB, and only the beginning of it is kept"};
    }
    const Replacement back = give_back(guarded, document);
    auto swap = files.replace(back);
    if (!swap) {
      guarded.half = HalfWritten{guarded.seen.bytes, document.bytes};
      std::string reason = files.refusal(back.place, swap.error());
      if (reason.empty()) return swap.error();
      return Error{swap.error().code, "give back " + guarded.policy.path + ": " + reason};
    }
    if (swap->out == Swap::Out::put_back) continue;
    guarded.known.reset();
    guarded.looked = false;
    guarded.written.reset();
    guarded.memory.written.clear();
    guarded.memory.intended.clear();
    if (swap->out == Swap::Out::newer) {  // a writer came in between: his is what must stand
      learn_late(guarded, guarded.seen.bytes, swap->bytes);
      guarded.seen = files.observe(guarded.policy.path);
      guarded.memory.written = sha256_hex(guarded.seen.bytes);
      continue;
    }
    return Released::given_back;
  }
  return Error{EBUSY, "give back", guarded.policy.path};
}

}  // namespace rg
