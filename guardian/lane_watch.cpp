// What of a guard is watched: after each pass the way to its file, and what came out of it and is still open.
#include <algorithm>
#include <chrono>

#include "guardian/lane_loop.hpp"
#include "lib/report/reasons.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxOrphans = 16, kHeldDirectories = 256;
constexpr milliseconds kAskAgain{1}, kAskAgainMost{30'000};
// Between the lookup and the end of an open(2) lie microseconds, on a loaded host more.
constexpr milliseconds kOpenedBy{1000};

bool same_chains(const std::vector<Chain>& a, const std::vector<Chain>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_chain);
}

// Directories on the way are watched by number: their descriptors would only pin their mounts. The last one is held,
// so that the next look needs no walk, where the guards aren't so many that descriptors run out.
void let_go(Chain& chain, bool hold) {
  const bool keep_last = hold && chain.complete && !chain.linked();
  chain.node = {};
  for (std::size_t i = 0; i + (keep_last ? 1 : 0) < chain.steps.size(); ++i) chain.steps[i].place.directory.reset();
}

// A quick look doesn't hold the directories on the way.
bool can_be_watched(const Chain& chain) {
  return chain.whole &&
         std::all_of(chain.steps.begin(), chain.steps.end(), [](const Step& step) { return step.place.directory; });
}

// No descriptor or memory was left for some way that is to be watched: how it goes on from there isn't known.
bool is_cut_short(const Guarded& guarded) {
  const auto cut = [](const Chain& chain) { return is_limit(chain.error); };
  return cut(guarded.seen.chain) || std::any_of(guarded.other_chains.begin(), guarded.other_chains.end(), cut);
}

}  // namespace

// What is watched stays so, and it is looked at again in a while: at once it would be no better.
void LaneLoop::keep_armed(LaneGuard& guard, Report& report) {
  Guarded& guarded = guard.guarded;
  if (!guard.degraded) report.warning = guarded.policy.path + ": " + looked_at_often_reason("no descriptor is left");
  guard.degraded = true;
  next_look_ = std::min(next_look_, Clock::now() + kDegradedLook);
  guarded.seen.chain = guard.armed;
  guarded.other_chains.clear();
  guarded.seen.file.reset();
}

// Re-arm, then look again: what happened before a watch was there gives no event.
void LaneLoop::arm(LaneGuard& guard, Report& report) {
  Guarded& guarded = guard.guarded;
  if (is_cut_short(guarded)) return keep_armed(guard, report);
  const bool same =
      same_chain(guard.armed, guarded.seen.chain) && same_chains(guard.armed_others, guarded.other_chains);
  if (!can_be_watched(guarded.seen.chain)) {
    // A quick look that found another way than the one that is watched: it is walked before it is armed.
    if (!same) guard.due = guard.structure = true;
  } else if (!same || guard.degraded || watcher_.lost(guard.id)) {
    const auto watched = watcher_.watch(guard.id, guarded.seen.chain, guarded.other_chains);
    if (!watched && !guard.degraded) {
      report.warning =
          guard.guarded.policy.path + ": " + looked_at_often_reason("a watch can't be had: " + watched.error().text());
      next_look_ = Clock::now();
    }
    guard.degraded = !watched;
    report.moved = !same && !guard.armed.steps.empty();
    guard.armed = guarded.seen.chain;
    guard.armed_others = guarded.other_chains;
    let_go(guard.armed, guards_.size() <= kHeldDirectories);
    for (Chain& chain : guard.armed_others) let_go(chain, true);
    if (!same || watched) guard.due = guard.structure = true;
    if (!same) note_place(guard);
    guard.must_report = guard.must_report || !same;
  }
  guarded.seen.chain = guard.armed;
  guarded.other_chains.clear();
  if (guarded.seen.file) (void)watcher_.watch_inode(guard.id, guarded.seen.file->get());
  guarded.seen.file.reset();
}

// Where it is: for guards of the same file, and for the lane that it belongs to.
void LaneLoop::note_place(LaneGuard& guard) {
  world_.targets->set(guard.guarded.policy.path, guard.order, guard.armed);
  std::vector<dev_t>& devices = guard.file_systems;
  devices.clear();
  const auto add = [&](const Chain& chain) {
    for (const Step& step : chain.steps) devices.push_back(step.device);
  };
  add(guard.armed);
  for (const Chain& chain : guard.armed_others) add(chain);
  if (guard.guarded.seen.kind == NodeKind::file) devices.push_back(guard.guarded.seen.info.st_dev);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
}

void LaneLoop::keep_open(LaneGuard& guard, Outcome& outcome) {
  for (TakenOut& out : outcome.still_open) {
    if (guard.orphans.size() >= kMaxOrphans) {
      watcher_.forget_orphan(guard.orphans.begin()->first);
      guard.orphans.erase(guard.orphans.begin());
    }
    const auto watch = watcher_.watch_orphan(guard.id, out.file->get());
    if (!watch) continue;
    guard.orphans[*watch] = {std::move(out), guard.documents, guard.guarded.seen.linked()};
    orphan_closed(guard, *watch);  // he may have closed it before the watch
  }
  if (outcome.closed) keep_closed(guard, std::move(*outcome.closed));
}

void LaneLoop::keep_closed(LaneGuard& guard, TakenOut&& out) {
  let_go_closed(guard);
  const auto watch = watcher_.watch_orphan(guard.id, out.file->get());
  if (!watch) return;
  const Time until = Clock::now() + kOpenedBy;
  guard.closed = LaneGuard::Closed{{std::move(out), guard.documents, guard.guarded.seen.linked()}, *watch, until};
  if (is_written_late(guard)) orphan_closed(guard, *watch);  // opened, and maybe closed, before the watch
}

void LaneLoop::let_go_closed(LaneGuard& guard) {
  if (!guard.closed) return;
  const int watch = guard.closed->watch;
  if (is_written_late(guard)) return orphan_closed(guard, watch);
  watcher_.forget_orphan(watch);
  guard.closed.reset();
}

void LaneLoop::look_at_orphans(LaneGuard& guard, Time now) {
  if (guard.closed && guard.closed->until <= now) let_go_closed(guard);
  std::vector<int> due;
  for (const auto& [watch, orphan] : guard.orphans) {
    if (orphan.again <= now) due.push_back(watch);
  }
  for (const int watch : due) orphan_closed(guard, watch);
}

// Somebody has opened what came out closed: from now on it is as if he had had it open.
bool LaneLoop::is_written_late(LaneGuard& guard) {
  const int fd = guard.closed->orphan.out.file->get();
  if (probe_writer(fd) != WriterOpen::yes) {
    const auto bytes = read_whole(fd);
    if (!bytes || *bytes == guard.closed->orphan.out.bytes) return false;
  }
  guard.orphans[guard.closed->watch] = std::move(guard.closed->orphan);
  guard.closed.reset();
  return true;
}

void LaneLoop::orphan_closed(LaneGuard& guard, int watch) {
  if (guard.closed && guard.closed->watch == watch && !is_written_late(guard)) return;
  const auto found = guard.orphans.find(watch);
  if (found == guard.orphans.end()) return;
  // Somebody else still writes; or the kernel isn't through with him: IN_CLOSE_WRITE comes before the file counts as
  // closed (__fput()), and no other event follows. So it is asked again.
  if (probe_writer(found->second.out.file->get()) == WriterOpen::yes) {
    found->second.wait = std::clamp(2 * found->second.wait, kAskAgain, kAskAgainMost);
    found->second.again = Clock::now() + found->second.wait;
    return;
  }
  const LaneGuard::Orphan orphan = std::move(found->second);
  guard.orphans.erase(found);
  watcher_.forget_orphan(watch);
  auto bytes = read_whole(orphan.out.file->get());
  if (orphan.through_link && is_private(orphan.out.file->get())) return;
  // A newer document than the one that he was writing is what counts.
  if (!bytes || orphan.document != guard.documents || !guard.guarded.memory.document) return;
  Event event;
  event.at = std::chrono::system_clock::now();
  event.path = guard.guarded.policy.path;
  event.how = How::written;
  event.before = guard.guarded.memory.document->bytes;
  event.reason = "its writer closed a file that was replaced meanwhile";
  learn_late(guard.guarded, orphan.out.bytes, *bytes);
  event.after = guard.guarded.memory.document->bytes;
  const bool changed = event.before != event.after;
  guard.due = guard.structure = guard.must_report = true;
  if (!changed) return;
  ++guard.status.rewrites;
  ++guard.documents;
  Report report;
  report.events.push_back(std::move(event));
  post(guard, std::move(report));
}

}  // namespace rg
