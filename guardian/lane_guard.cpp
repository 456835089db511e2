#include "guardian/lane_guard.hpp"

#include <algorithm>

namespace rg {

// A writer's open(2) to close(2) takes tens of microseconds.
constexpr std::chrono::milliseconds kWrites{2};

std::unique_ptr<LaneGuard> LaneGuard::without_descriptors() const {
  auto copy = std::make_unique<LaneGuard>(*this);
  copy->guarded.seen = {};
  copy->guarded.other_chains.clear();
  copy->orphans.clear();
  copy->closed.reset();
  copy->armed = {};
  copy->armed_others.clear();
  copy->degraded = false;
  copy->due = copy->structure = copy->must_report = true;
  return copy;
}

void LaneGuard::forget_drift() {
  guarded.would_restore.reset();
  failed_drift.clear();
  pace.forget();
}

void LaneGuard::note(const Change& change, Time now) {
  const bool was_due = std::exchange(due, true);
  last_change = now;
  // The replaced inode's own events (its link count) come after the rename that tells how: they add nothing to it.
  // systemd-resolved renames its file before it closes it (resolved-resolv-conf.c): a closing alone adds nothing
  // either.
  const bool closing = change.kind == Change::Kind::finished && change.how == How::written;
  const bool adds = change.kind != Change::Kind::touched && !(how == How::renamed && closing);
  if (change.how != How::unknown && (adds || how == How::unknown)) how = change.how;
  if (change.kind != Change::Kind::touched) sure = change.kind == Change::Kind::finished;
  switch (change.kind) {
    case Change::Kind::finished:
      unfinished_since.reset();
      skip_until_settled = false;
      break;
    case Change::Kind::unfinished:
      // One look (at once where it was made: a link is finished then), and it is held: a busy writer costs nothing.
      // Most are through in less than the look would take, and its end would have to wait for that.
      if (!unfinished_since) unfinished_since = now;
      if (change.how == How::relinked) {
        skip_until_settled = false;
      } else {
        if (!skip_until_settled) begun_at = begun_at.value_or(now + kWrites);
        due = was_due;
      }
      break;
    case Change::Kind::structure:
      structure = true;
      skip_until_settled = false;
      break;
    case Change::Kind::touched:
    case Change::Kind::orphan:
      skip_until_settled = false;
      break;
  }
  if (skip_until_settled) due = false;
}

std::optional<Time> LaneGuard::next_time() const {
  std::optional<Time> earliest;
  for (const auto& at : {begun_at, settle_at, fight_at, pause_ends}) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  if (closed && (!earliest || closed->until < *earliest)) earliest = closed->until;
  for (const auto& [watch, orphan] : orphans) {
    if (!earliest || orphan.again < *earliest) earliest = orphan.again;
  }
  return earliest;
}

void LaneGuard::pause(std::optional<WallTime> until, Time now, WallTime wall) {
  status.paused_until = until;
  pause_ends.reset();
  if (until && *until != WallTime::max()) pause_ends = now + std::max(WallTime::duration{0}, *until - wall);
}

void LaneGuard::tick(Time now) {
  if (begun_at && *begun_at <= now) {
    begun_at.reset();
    due = true;
  }
  if (settle_at && *settle_at <= now) {
    settle_at.reset();
    due = forced = true;
  }
  if (fight_at && *fight_at <= now) {
    fight_at.reset();
    due = structure = true;
  }
  if (pause_ends && *pause_ends <= now) {
    pause_ends.reset();
    status.paused_until.reset();  // by the steady clock: a wall clock that was set back doesn't prolong it
    due = structure = must_report = pause_ended = true;
  }
}

bool LaneGuard::set_state(State state, const std::string& reason, WallTime now) {
  if (status.state == state && status.reason == reason) return false;
  if (status.state != state) status.since = now;
  status.state = state;
  status.reason = reason;
  return true;
}

void LaneGuard::describe(const Decision& decision) {
  status.read = decision.content.read;
  status.servers = decision.content.servers;
  status.dropped = decision.content.dropped;
  status.source = decision.content.source;
  status.learned = decision.content.learned.nameservers;
  status.learned_writer = decision.content.writer;
  const LastGood<Nameserver>& last = guarded.memory.nameservers;
  status.learned_at = last.values.empty() ? std::nullopt : std::optional(last.at);
}

std::string fight_key(const Decision& decision) {
  std::string key;
  for (const Violation violation : decision.violations)
    key.push_back(static_cast<char>('a' + static_cast<int>(violation)));
  for (const Nameserver& server : decision.content.learned.nameservers) {
    key.append(1, server.is_ipv6() ? '6' : '4')
        .append(server.bytes().begin(), server.bytes().end())
        .append(server.zone());
  }
  for (const auto* words : {&decision.content.learned.search, &decision.content.learned.options}) {
    key.push_back('|');
    for (const std::string& word : *words) key.append(word).push_back(' ');
  }
  return key;
}

}  // namespace rg
