#include "test/reconcile/rollout_ghost.hpp"

#include <algorithm>
#include <utility>

namespace rg::test {
namespace {

void answered(Question& question) {
  question.open = question.late = question.asked = false;
  question.stale = 0;  // a lane answers one question after the other
}

void abandon(Question& question) {
  if (question.open) question.stale = question.ticket;
  question.ticket = 0;
  question.open = question.late = question.asked = false;
}

}  // namespace

Ghost::Ghost(const std::vector<Rollout::Guard>& guards, std::size_t matches) : rollout_(1, guards, 7) {
  for (std::size_t i = 0; i < guards.size(); ++i) {
    places_.emplace_back().guard = guards[i];
    for (std::size_t m = 0; m < (guards[i].glob ? matches : 1); ++m) {
      GhostFile& file = files_.emplace_back();
      file.path = guards[i].path + (guards[i].glob ? std::to_string(m) : "");
      file.place = i;
      file.there = !guards[i].glob;
    }
  }
  step();
}

void Ghost::promise(bool kept, const char* what) {
  if (!kept && broken_.empty()) broken_ = what;
}

GhostFile* Ghost::find(const std::string& path) {
  const auto file = std::find_if(files_.begin(), files_.end(), [&](const GhostFile& f) { return f.path == path; });
  return file == files_.end() ? nullptr : &*file;
}

std::vector<GhostFile*> Ghost::files_of(std::size_t index) {
  std::vector<GhostFile*> all;
  for (GhostFile& file : files_) {
    if (file.place == index) all.push_back(&file);
  }
  return all;
}

bool Ghost::lifted(std::size_t index) const {
  if (places_[index].guard.glob) return false;
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& file) { return file.place == index && file.paused; });
}

bool Ghost::verified(std::size_t index) const {
  const GhostPlace& place = places_[index];
  if (lifted(index)) return true;
  if (place.guard.gated && !place.gate_ok) return false;
  if (place.guard.glob && !place.list_ok) return false;
  return std::all_of(files_.begin(), files_.end(), [&](const GhostFile& file) {
    return file.place != index || !file.there || file.paused || file.since != 0;
  });
}

// The first guard that those behind it must wait for.
std::optional<std::size_t> Ghost::first_open() const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].guard.holds_back && (!verified(i) || (again_ && failed_at_ == i))) return i;
  }
  return std::nullopt;
}

void Ghost::say(GhostFile& file, Said what) {
  rollout_.said(file.path, file.ticket, what, now_);
  const bool counts = !file.held && !file.late;
  answered(file);
  if (!counts) {
    file.stale = std::exchange(file.ticket, 0);  // whatever more is said to it
    return;
  }
  const bool had_failed = std::exchange(file.failed, what == Said::failed);
  if (what != Said::holds) file.since = 0;
  if (what == Said::holds && file.since == 0) file.since = ++clock_;
  const bool at_once = had_failed && again_ && failed_at_ == file.place && rollout_.wakes() <= now_;
  if (what == Said::holds && at_once) again_ = now_;  // what was waited for is there
  if (what == Said::failed) attempt_failed(file.place, !file.paused, rollout_.find(file.path)->next_try, true);
}

void Ghost::late(GhostFile& file) {
  rollout_.unanswered(file.path, now_);
  if (!file.open) return;  // of a question that was dropped meanwhile
  file.late = true;
  file.since = 0;
  file.failed = false;
  attempt_failed(file.place, !file.paused, now_, false);
}

// A pause takes it out of the order. Resumed it is in again, and must be verified in its turn.
void Ghost::pause(GhostFile& file, bool is_paused) {
  rollout_.paused(file.path, is_paused);
  file.paused = is_paused;
  if (!is_paused) file.since = 0;
}

void Ghost::probe(std::size_t index, bool answers) {
  GhostPlace& place = places_[index];
  rollout_.probed(index, place.gate.ticket, answers, now_);
  answered(place.gate);
  place.gate_ok = answers;
  if (!answers) attempt_failed(index, !lifted(index), rollout_.places()[index].gate.next_try, true);
}

// `matched` has a bit for each file that is there.
void Ghost::list(std::size_t index, int matched) {
  Question& question = places_[index].list;
  const std::vector<GhostFile*> all = files_of(index);
  std::vector<std::string> matches;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((matched >> i & 1) != 0) matches.push_back(all[i]->path);
  }
  rollout_.listed(index, question.ticket, matches, now_);
  const bool counts = !question.late;
  answered(question);
  if (!counts) {
    question.ticket = 0;
    return;
  }
  places_[index].list_ok = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool there = (matched >> i & 1) != 0;
    if (there == all[i]->there) continue;
    abandon(*all[i]);
    GhostFile file;
    file.path = all[i]->path;
    file.place = index;
    file.stale = all[i]->stale;
    file.there = there;
    file.dropped = !there;
    *all[i] = file;
  }
}

void Ghost::list_late(std::size_t index) {
  rollout_.unanswered(places_[index].guard.path, now_);
  places_[index].list.late = true;
  places_[index].list_ok = false;
  attempt_failed(index, true, now_, false);
}

void Ghost::attempt_failed(std::size_t index, bool counts, std::optional<Time> again, bool backs_off) {
  promise(again.has_value(), "I3: what failed is tried again");
  const Time at = again.value_or(now_);
  promise(!backs_off || at >= now_ + milliseconds{100}, "I3: not before its back-off");
  promise(at <= now_ + milliseconds{2400}, "I3: its back-off is bounded");
  if (!counts || phase_ != Phase::updating || !places_[index].guard.holds_back) return;
  if (!again_) ++attempt_;  // once per attempt
  failed_at_ = again_ ? std::min(failed_at_, index) : index;
  again_ = again_ ? std::min(*again_, at) : at;  // what fails meanwhile puts nothing off
}

// A new generation, or a new process: what was asked before was asked by another.
void Ghost::begin(std::uint64_t generation) {
  std::vector<Rollout::Guard> guards;
  for (const GhostPlace& place : places_) guards.push_back(place.guard);
  rollout_ = Rollout(generation, std::move(guards), generation);
  attempt_ = last_ticket_ = 0;
  again_.reset();
  phase_ = Phase::updating;
  for (GhostPlace& place : places_) {
    abandon(place.list);
    abandon(place.gate);
    place.gate_ok = place.list_ok = false;
  }
  for (GhostFile& file : files_) {
    const bool glob = places_[file.place].guard.glob;
    abandon(file);
    file.there = !glob;
    file.dropped = file.looked = file.held = file.failed = false;
    file.since = 0;
    file.paused = file.paused && !glob;
    if (file.paused) rollout_.paused(file.path, true);
  }
}

void Ghost::step() {
  if (again_ && *again_ <= now_) begin_attempt();
  for (const Order& order : rollout_.next(now_)) obey(order);
  if (rollout_.phase() != phase_) entered_reconciling();
  if (phase_ == Phase::updating) look_back();
  compare();
  promise(rollout_.next(now_).empty(), "I5: asked once more, it orders nothing new");
  promise(rollout_.phase() == phase_, "I5: asked once more, the phase is the same");
}

// From the first guard on. The files of a glob don't hold each other back: those that didn't fail go on.
void Ghost::begin_attempt() {
  again_.reset();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].guard.holds_back) continue;
    places_[i].gate_ok = false;
    abandon(places_[i].gate);
    for (GhostFile* file : files_of(i)) {
      file->failed = false;
      if (places_[i].guard.glob && i == failed_at_) continue;
      file->since = 0;
      file->asked = false;
    }
  }
}

void Ghost::ask(Question& question, const Order& order) {
  promise(!question.asked, "I5: nothing is asked twice");
  promise(!question.late, "nothing is asked while an answer is overdue");
  promise(order.ticket > last_ticket_, "each question has a ticket of its own");
  if (phase_ == Phase::updating) {
    const auto open = first_open();
    promise(!open || *open >= order.guard, "I2: each guard before it was heard to hold in this attempt");
    promise(!again_ || !places_[order.guard].guard.holds_back, "I3: not before the next attempt");
  }
  abandon(question);
  question.ticket = last_ticket_ = order.ticket;
  question.open = question.asked = true;
}

void Ghost::obey(const Order& order) {
  GhostPlace& place = places_.at(order.guard);
  if (order.kind == Order::Kind::probe) return ask(place.gate, order);
  if (order.kind == Order::Kind::list) return ask(place.list, order);
  GhostFile* file = find(order.path);
  if (file == nullptr || file->place != order.guard) return promise(false, "an order names a file of its guard");
  if (order.kind == Order::Kind::drop) {
    promise(std::exchange(file->dropped, false), "a file is dropped once");
    return;
  }
  promise(file->there, "only a file that is there is looked at or held back");
  if (order.kind == Order::Kind::look) return look(*file, order);
  promise(phase_ == Phase::updating, "I7: reconciling holds nothing back");
  promise(file->looked && !file->held, "I5: held back once, and only what was told");
  const auto open = first_open();
  promise(open && *open < order.guard, "I5: held back only behind a guard that doesn't hold");
  file->held = true;
  file->asked = file->failed = false;
  file->since = 0;
}

void Ghost::look(GhostFile& file, const Order& order) {
  const GhostPlace& place = places_[order.guard];
  promise(order.adopt != file.looked, "the first look in a generation adopts its policy");
  promise(!place.guard.gated || place.gate_ok, "it is looked at once its gate has answered");
  ask(file, order);
  file.looked = true;
  file.held = file.failed = false;
  file.since = 0;
}

// All that must wait was told so.
void Ghost::look_back() {
  const auto open = first_open();
  promise(open.has_value(), "I6: where nothing is left to be done it goes on to reconciling");
  promise(rollout_.waits_for() == open, "it names the first guard that doesn't hold");
  for (std::size_t i = open.value_or(places_.size()) + 1; i < places_.size(); ++i) {
    abandon(places_[i].gate);
    places_[i].gate_ok = false;
    for (const GhostFile* file : files_of(i)) promise(!file->looked || file->held, "I5: what must wait is held back");
  }
}

void Ghost::entered_reconciling() {
  promise(phase_ == Phase::updating, "I7: reconciling is left by a new generation only");
  phase_ = rollout_.phase();
  promise(!again_ && !first_open(), "I1: every guard was verified, none has failed since");
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].guard.holds_back || lifted(i)) continue;
    std::uint64_t last = before;
    for (const GhostFile* file : files_of(i)) {
      if (!file->there || file->paused) continue;
      promise(file->since > before, "I1: each was verified after the one before it");
      last = std::max(last, file->since);
    }
    before = last;
  }
}

void Ghost::compare() {
  promise(rollout_.attempt() == attempt_, "I3: an attempt that failed counts once");
  promise(!again_ || (rollout_.wakes() && *rollout_.wakes() <= *again_), "I3: the next attempt is waited for");
  promise(phase_ == Phase::updating || !rollout_.waits_for(), "I7: in reconciling nobody waits");
  for (const GhostFile& file : files_) {
    promise(!file.dropped, "a file that isn't matched any more is dropped");
    const Rollout::Member* member = rollout_.find(file.path);
    promise((member != nullptr) == file.there, "it knows the files that are there");
    if (member == nullptr) continue;
    promise(member->stand != Rollout::Trial::Stand::holds || file.since != 0,
            "I4: an answer out of time verifies nothing");
    const GhostPlace& place = places_[file.place];
    const bool by_itself = phase_ == Phase::reconciling || !place.guard.holds_back;
    const bool gate_first = place.guard.gated && !place.gate_ok;
    promise(!file.failed || !by_itself || gate_first || member->next_try, "I7: what failed is looked at again");
  }
}

}  // namespace rg::test
