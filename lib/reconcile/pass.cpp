#include "lib/reconcile/pass.hpp"

#include <algorithm>
#include <chrono>

#include "lib/reconcile/surroundings.hpp"
#include "lib/resolv/owner.hpp"
#include "lib/store/sha256.hpp"

namespace rg {
namespace {

constexpr int kTurns = 8;  // a bound on the work of one wake-up; more events are on their way where it isn't enough
constexpr int kAttributeTurns = 3;

std::optional<std::string> content_of(const Seen& seen) {
  return seen.kind == NodeKind::file ? std::optional(seen.bytes) : std::nullopt;
}

bool is_content_of(const std::optional<std::string>& known, const Seen& seen) {
  return known ? seen.kind == NodeKind::file && seen.bytes == *known : seen.kind != NodeKind::file;
}

}  // namespace

class Pass {
 public:
  Pass(Guarded& guarded, Files& files, const PassOptions& options)
      : guarded_(guarded), files_(files), options_(options) {}

  Outcome run() {
    begun_ = options_.now();
    for (int turn = 0; turn < kTurns; ++turn) {
      look(turn == 0 && options_.quick);
      if (turn > 0 || !options_.sure) ask_for_writer();
      if (decide_now()) break;
    }
    return std::move(outcome_);
  }

  Decision judge_only() {
    look(false);
    judge();
    return std::move(outcome_.decision);
  }

 private:
  void look(bool quick) {
    const std::string& path = guarded_.policy.path;
    guarded_.seen = quick ? files_.look_again(path, std::move(guarded_.seen)) : files_.observe(path);
    fresh_ = !guarded_.looked || !is_content_of(guarded_.known, guarded_.seen);
    ours_ = is_ours(guarded_, fresh_);
    if (ours_ && guarded_.half) outcome_.memory_changed = true;
    if (ours_) guarded_.appended_to.reset();
    guarded_.left = what_is_left();
    const auto& document = guarded_.memory.document;
    learnable_ = !ours_ && (fresh_ || (document && !document->finished));
    finished_ = options_.finished;
    open_ = false;
  }

  // Who makes the file anew may say what we had said; who wrote into ours, or copied our comment, has added to it.
  std::optional<std::string> what_is_left() const {
    auto left = ours_ ? std::nullopt : appended_to_ours(guarded_);
    const bool added = options_.how == How::written || writes_ != 0 || (left && is_copy_of_ours(guarded_.seen.bytes));
    return added ? std::move(left) : std::nullopt;
  }

  // Two system calls that a finished write needn't wait for: who still has it open then is asked of what came out.
  void ask_for_writer() {
    if (!learnable_) return;
    const WriterOpen writer = files_.writer_open(guarded_.seen);
    open_ = writer == WriterOpen::yes;
    // A link is whole at once, and so is another name of an older file. truncate(2) and a killed writer give no closing
    // event: when time is up, a lease tells that nobody has it open.
    const bool made = options_.how == How::relinked;  // IN_CREATE: symlink(2), link(2) or open(2)
    const bool whole = made && (guarded_.seen.linked() || guarded_.seen.info.st_nlink > 1);
    finished_ = !open_ && (options_.finished || whole || (options_.force && writer == WriterOpen::no));
  }

  void judge() {
    const Surroundings around = look_around(guarded_, files_, ours_);
    const Circumstances now{around.document, around.link_target, around.upstream,
                            guarded_.memory, files_.selinux(),   options_.interface_exists};
    Node node = as_node(guarded_.seen);
    if (around.error != 0) node.kind = Node::Kind::unreadable;
    if (around.error != 0) node.error = around.error;
    outcome_.decision = decide(guarded_.policy, node, now);
  }

  // True: this is the end of the pass.
  bool decide_now() {
    judge();
    Decision& decision = outcome_.decision;
    if (decision.kind == Decision::Kind::keep) return keep();
    if (std::string taken = options_.taken ? options_.taken(guarded_.seen) : std::string{}; !taken.empty()) {
      return end(Refused{std::move(taken)});
    }
    if (decision.kind == Decision::Kind::refuse) {
      note_content();
      if (decision.failed) return end(Failed{decision.refusal});
      return end(Refused{decision.refusal});
    }
    // A file that is open or gone again behind our own write is a writer's at work: ours would be in his way.
    const bool at_work = writes_ == 0 || open_ || guarded_.seen.kind == NodeKind::absent;
    if (at_work && !options_.force && unfinished()) return end(Held{State::settling, "its writer isn't through"});
    if (writes_ == 0 && options_.gate) {
      if (auto held = options_.gate(decision)) {
        learn();
        note_content();
        if (held->why == State::observing) note_would_restore();
        return end(std::move(*held));
      }
    }
    return write();
  }

  // Deleted, made, truncated or still open: replacing it now would lose what its writer is about to write. A script
  // that has emptied the file and closed it (BusyBox's udhcpc) loses nothing: what it appends to ours is added to its
  // own.
  bool unfinished() const {
    if (open_) return true;
    if (guarded_.seen.kind == NodeKind::absent) return guarded_.looked && guarded_.was_there;
    return !finished_ && !ours_;
  }

  bool keep() {
    if (std::string taken = options_.taken ? options_.taken(guarded_.seen) : std::string{}; !taken.empty()) {
      return end(Refused{std::move(taken)});
    }
    if (options_.sure) ask_for_writer();
    // What isn't finished is new again when it is.
    if (ours_ || !fresh_ || options_.force || !unfinished()) {
      learn();
      note_content();
    }
    if (files_.selinux() && guarded_.memory.held_label != guarded_.seen.label) {
      guarded_.memory.held_label = guarded_.seen.label;
      outcome_.memory_changed = true;
    }
    if (writes_ == 0) return end(Unchanged{Verified{}});
    note_restore();
    return end(Restored{Verified{}});
  }

  // From a writer's content: his document and, where he is through with it, the lists that are good for later.
  void learn() {
    const Memory before = guarded_.memory;
    if (learnable_) take_document(guarded_, finished_);
    auto& document = guarded_.memory.document;
    const Content& content = outcome_.decision.content;
    if (document && document->finished && guarded_.seen.kind != NodeKind::unreadable) {
      remember(guarded_.memory, content, options_.clock());
    }
    // What the target of our link tells is newer than the file that stood here before.
    if (document && is_our_link(guarded_) && !content.learned.nameservers.empty()) document->removed = true;
    if (!(guarded_.memory == before)) outcome_.memory_changed = true;
  }

  // A content that we didn't make, for the history.
  void note_content() {
    if (is_failed_look(guarded_.seen)) return;  // nothing is known of it
    const auto content = content_of(guarded_.seen);
    if (fresh_ && !ours_) {
      outcome_.still_open.clear();
      Event event = new_event(Event::Kind::rewrite);
      event.before = guarded_.known;
      event.after = content;
      outcome_.events.push_back(std::move(event));
    }
    guarded_.known = content;
    guarded_.looked = true;
    guarded_.was_there = content.has_value();
    fresh_ = false;
  }

  Event new_event(Event::Kind kind) const {
    Event event;
    event.at = options_.clock();
    event.kind = kind;
    event.path = guarded_.policy.path;
    event.how = guarded_.looked ? options_.how : How::start;
    event.writer.apparent = apparent_writer(guarded_.seen.kind == NodeKind::file ? guarded_.seen.bytes : std::string{});
    event.violations = outcome_.decision.violations;
    return event;
  }

  void note_restore() {
    Event event = std::move(restore_);
    event.after = content_of(guarded_.seen);
    event.outcome = "restored";
    event.took_us = std::chrono::duration_cast<std::chrono::microseconds>(options_.now() - begun_).count();
    outcome_.events.push_back(std::move(event));
  }

  // What a restore would have done, once for each content.
  void note_would_restore() {
    const Decision& decision = outcome_.decision;
    if (guarded_.would_restore == decision.bytes) return;
    guarded_.would_restore = decision.bytes;
    Event event = new_event(Event::Kind::would_restore);
    event.before = content_of(guarded_.seen);
    event.after = decision.make_link ? std::nullopt : std::optional(decision.bytes);
    event.outcome = "observing";
    outcome_.events.push_back(std::move(event));
  }

  // What is learned and noted comes after the file is right again, never before.
  bool write() {
    const Decision& decision = outcome_.decision;
    // Some file systems (vfat, CIFS, FUSE) say yes to chmod(2) and keep what they have: going on would never end.
    if (decision.only_attributes && ++attribute_writes_ > kAttributeTurns) {
      return end(Failed{"its mode or label was set and reads back as before: the file system doesn't keep it"});
    }
    if (std::string why = options_.interrupted ? options_.interrupted() : std::string{}; !why.empty()) {
      return refused(Interrupted{std::move(why)});
    }
    Replacement wanted = replacement_for(guarded_, decision);
    if (options_.interrupted) wanted.too_late = [this] { return !options_.interrupted().empty(); };
    if (options_.was_refused && writes_ == 0) {
      if (std::string still = files_.standing_refusal(wanted.place); !still.empty()) {
        return refused(Refused{std::move(still)});
      }
    }
    if (decision.content.filled && options_.intend && !decision.make_link) options_.intend(sha256_hex(decision.bytes));
    auto swap = files_.replace(wanted);
    if (!swap && swap.error().code == ECANCELED) return refused(Interrupted{options_.interrupted()});
    if (!swap) {
      if (!decision.make_link) guarded_.half = HalfWritten{guarded_.seen.bytes, decision.bytes};
      std::string reason = files_.refusal(wanted.place, swap.error());
      if (reason.empty()) return refused(Failed{swap.error().text()});
      return refused(Refused{std::move(reason)});
    }
    if (swap->open) finished_ = false;
    // An address, an upstream file or the policy is another one: nobody wrote.
    const bool same = ours_ && !fresh_ && guarded_.looked && !decision.only_attributes;
    learn();
    note_content();
    if (writes_ == 0) {
      restore_ = new_event(Event::Kind::restore);
      restore_.before = content_of(guarded_.seen);
      if (same) restore_.reason = "something else must hold now";
    }
    took(*swap);
    return false;
  }

  template <class Result>
  bool refused(Result result) {
    learn();
    note_content();
    return end(std::move(result));
  }

  void took(const Swap& swap) {
    // What an earlier turn took out is older than what came out now: its end is no news.
    if (swap.out == Swap::Out::newer) outcome_.still_open.clear();
    if (swap.open) outcome_.still_open.push_back(taken_out(swap, swap.open));
    if (swap.out == Swap::Out::put_back) return;
    outcome_.closed.reset();
    if (swap.closed) outcome_.closed = taken_out(swap, swap.closed);
    ++writes_;
    guarded_.half.reset();
    guarded_.appended_to.reset();
    const Decision& decision = outcome_.decision;
    if (decision.at_name) take_link(guarded_);
    outcome_.memory_changed = true;
    if (!decision.only_attributes) {
      guarded_.memory.written = digest_of_write(decision);
      guarded_.written = decision.make_link ? std::nullopt : std::optional(decision.bytes);
      guarded_.known = guarded_.written;
      guarded_.was_there = true;
    }
    if (swap.out != Swap::Out::newer) return;
    // A writer was faster than us, and his file came out: his is the document now, and it's judged in the next turn.
    Document document;
    document.kind = Document::Kind::file;
    document.bytes = newer_document(swap);
    document.mode = swap.info.st_mode & 07777U;
    document.uid = swap.info.st_uid;
    document.gid = swap.info.st_gid;
    document.finished = !swap.open;
    Event event = new_event(Event::Kind::rewrite);
    event.before = restore_.before;
    event.after = swap.bytes;
    event.how = How::renamed;
    event.writer.apparent = apparent_writer(swap.bytes);
    outcome_.events.push_back(std::move(event));
    guarded_.memory.document = std::move(document);
    renew_source_addresses(guarded_);
  }

  TakenOut taken_out(const Swap& swap, const SharedDescriptor& file) const {
    return {file, swap.out == Swap::Out::newer ? swap.bytes : guarded_.seen.bytes};
  }

  // What was appended to the judged file since the look is added to what was learned of it.
  std::string newer_document(const Swap& swap) const {
    const bool same = swap.info.st_ino == guarded_.seen.info.st_ino && swap.info.st_dev == guarded_.seen.info.st_dev;
    auto left = same ? with_appended(standing_document(guarded_), guarded_.seen.bytes, swap.bytes) : std::nullopt;
    return left ? std::move(*left) : swap.bytes;
  }

  template <class Result>
  bool end(Result result) {
    outcome_.result = std::move(result);
    return true;
  }

  Guarded& guarded_;
  Files& files_;
  const PassOptions& options_;
  Outcome outcome_;
  Event restore_;
  std::chrono::steady_clock::time_point begun_;
  int writes_ = 0;
  int attribute_writes_ = 0;
  bool fresh_ = false;      // the content differs from what the last look found
  bool ours_ = false;       // it is what we wrote last
  bool open_ = false;       // a writer has it open
  bool finished_ = true;    // no writer is in the middle of it
  bool learnable_ = false;  // it is a writer's, and new or unfinished when it was learned
};

Outcome reconcile(Guarded& guarded, Files& files, const PassOptions& options) {
  return Pass(guarded, files, options).run();
}

Decision look_and_decide(Guarded& guarded, Files& files, const PassOptions& options) {
  return Pass(guarded, files, options).judge_only();
}

void learn_late(Guarded& guarded, std::string_view before, std::string_view bytes) {
  guarded.appended_to.reset();
  auto left = with_appended(standing_document(guarded), before, bytes);
  if (!guarded.memory.document) guarded.memory.document.emplace();
  Document& document = *guarded.memory.document;
  document.kind = Document::Kind::file;
  document.bytes = left ? std::move(*left) : std::string(bytes);
  document.finished = true;
  document.removed = false;
  renew_source_addresses(guarded);
}

}  // namespace rg
