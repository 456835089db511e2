// What may come to a Rollout, and what of it makes a difference.
#include <algorithm>
#include <array>

#include "test/reconcile/rollout_ghost.hpp"

namespace rg::test {
namespace {

using Kind = Input::Kind;

constexpr std::array kNames{"says",
                            "answers an old question",
                            "passes its deadline",
                            "pauses or resumes",
                            "gate",
                            "old gate answer",
                            "lists",
                            "old list",
                            "list passes its deadline",
                            "cancel",
                            "reload",
                            "crash",
                            "time comes",
                            "long after"};

template <typename... Bits>
char packed(Bits... bits) {
  int value = 1;
  ((value = value * 2 + (bits ? 1 : 0)), ...);
  return static_cast<char>(value);
}

}  // namespace

std::string to_string(const Input& input) {
  return std::string(kNames.at(static_cast<std::size_t>(input.kind))) + " #" + std::to_string(input.which) + " " +
         std::to_string(input.how);
}

std::vector<Input> Ghost::inputs() const {
  std::vector<Input> all;
  const auto add = [&](bool possible, Kind kind, std::size_t which, int how) {
    if (possible) all.push_back({kind, which, how});
  };
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const GhostFile& file = files_[f];
    for (int what = 0; what < 3; ++what) add(file.ticket != 0, Kind::say, f, what);
    for (const int what : {0, 2}) add(file.stale != 0, Kind::stale, f, what);
    add(file.open ? !file.late : file.stale != 0, Kind::deadline, f, 0);
    add(file.there, Kind::pause, f, 0);
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Question& gate = places_[i].gate;
    const Question& list = places_[i].list;
    const auto matches = std::count_if(files_.begin(), files_.end(), [&](const auto& file) { return file.place == i; });
    for (const int yes : {0, 1}) add(gate.open, Kind::probe, i, yes);
    for (const int yes : {0, 1}) add(gate.stale != 0, Kind::stale_probe, i, yes);
    for (int there = 0; there < 1 << matches; ++there) add(list.ticket != 0, Kind::list, i, there);
    add(list.stale != 0, Kind::stale_list, i, 0);
    add(list.open && !list.late, Kind::list_deadline, i, 0);
  }
  for (const Kind kind : {Kind::cancel, Kind::reload, Kind::crash, Kind::far}) add(true, kind, 0, 0);
  add(rollout_.wakes().has_value(), Kind::wait, 0, 0);
  return all;
}

void Ghost::apply(const Input& input) {
  switch (input.kind) {
    case Kind::say:
      say(files_[input.which], static_cast<Said>(input.how));
      break;
    case Kind::stale:
      rollout_.said(files_[input.which].path, std::exchange(files_[input.which].stale, 0), static_cast<Said>(input.how),
                    now_);
      break;
    case Kind::deadline:
      late(files_[input.which]);
      break;
    case Kind::pause:
      pause(files_[input.which], !files_[input.which].paused);
      break;
    case Kind::probe:
      probe(input.which, input.how == 1);
      break;
    case Kind::stale_probe:
      rollout_.probed(input.which, std::exchange(places_[input.which].gate.stale, 0), input.how == 1, now_);
      break;
    case Kind::list:
      list(input.which, input.how);
      break;
    case Kind::stale_list:
      rollout_.listed(input.which, std::exchange(places_[input.which].list.stale, 0), {}, now_);
      break;
    case Kind::list_deadline:
      list_late(input.which);
      break;
    default:
      apply_to_all(input.kind);
  }
  step();
}

void Ghost::apply_to_all(Kind kind) {
  if (kind == Kind::cancel) {
    for (GhostFile& file : files_) {
      if (file.open) say(file, Said::failed);
    }
  }
  if (kind == Kind::reload) begin(rollout_.generation() + 1);
  if (kind == Kind::crash) {
    begin(1);
    for (GhostFile& file : files_) file.stale = 0;  // nobody is left to answer
    for (GhostPlace& place : places_) place.gate.stale = place.list.stale = 0;
  }
  if (kind == Kind::wait) now_ = std::max(now_, *rollout_.wakes());
  if (kind == Kind::far) now_ += milliseconds{3000};
}

// One round of a world in which all is well.
void Ghost::help() {
  for (GhostFile& file : files_) {
    if (file.paused) pause(file, false), step();
    const bool goes_on = file.there && file.looked && !file.held && !file.failed && file.since == 0 && file.ticket != 0;
    if (file.open || goes_on) say(file, Said::holds), step();
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].gate.open) probe(i, true), step();
    if (!places_[i].list.open) continue;
    int there = 0, bit = 1;
    for (const GhostFile* file : files_of(i)) there += std::exchange(bit, bit * 2) * (file->there ? 1 : 0);
    list(i, there);
    step();
  }
  if (rollout_.wakes()) now_ = std::max(now_, *rollout_.wakes()), step();
}

std::string Ghost::stuck() const {
  Ghost ghost = *this;
  for (std::size_t round = 0; round < 4 * files_.size() + 8; ++round) {
    ghost.help();
    const bool all = std::all_of(ghost.files_.begin(), ghost.files_.end(),
                                 [](const GhostFile& file) { return !file.there || file.since != 0; });
    if (!ghost.broken_.empty()) return ghost.broken_ + ", when all is well again";
    if (all && ghost.phase_ == Phase::reconciling) return {};
  }
  return "I6: all is well, and reconciling isn't reached";
}

std::string Ghost::key_of(const GhostFile& file) const {
  const auto rank = std::count_if(files_.begin(), files_.end(), [&](const auto& f) { return f.since < file.since; });
  std::string key{packed(file.ticket != 0, file.stale != 0, file.open, file.late, file.asked, file.there),
                  packed(file.paused, file.looked, file.held, file.failed, file.since != 0),
                  static_cast<char>(file.since == 0 ? 0 : rank)};
  const Rollout::Member* member = rollout_.find(file.path);
  if (member == nullptr) return key + "-  ";
  const int stand = static_cast<int>(member->stand);
  return key + static_cast<char>('a' + stand) + packed(member->told, member->held_back, member->paused) +
         packed(member->next_try.has_value(), member->ticket == file.ticket);
}

std::string Ghost::key() const {
  std::string key{packed(phase_ == Phase::updating, again_.has_value(), rollout_.wakes().has_value()),
                  static_cast<char>(again_ ? failed_at_ : 0),
                  static_cast<char>(rollout_.waits_for().value_or(places_.size()))};
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Rollout::Place& place = rollout_.places()[i];
    for (const Question* question : {&places_[i].gate, &places_[i].list}) {
      const Rollout::Trial& trial = question == &places_[i].gate ? place.gate : place.list;
      // An old answer of a gate comes only where the first way to a state left one: a third fewer states.
      const bool stale = question->stale != 0 && question == &places_[i].list;
      key += packed(question->ticket != 0, stale, question->open, question->late, question->asked);
      key += packed(trial.next_try.has_value(), trial.ticket == question->ticket);
      key += static_cast<char>('a' + static_cast<int>(trial.stand));
    }
    key += packed(places_[i].gate_ok, places_[i].list_ok);
    std::vector<std::string> keys;
    for (const GhostFile& file : files_) {
      if (file.place == i) keys.push_back(key_of(file));
    }
    std::sort(keys.begin(), keys.end());  // the files of a glob differ by their names only
    for (const std::string& of_file : keys) key += of_file;
  }
  return key;
}

}  // namespace rg::test
