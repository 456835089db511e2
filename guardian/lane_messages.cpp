// What the main thread tells a lane to do.
#include <algorithm>

#include "guardian/lane_loop.hpp"
#include "guardian/machine.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr milliseconds kCountWithin{200};
constexpr milliseconds kMemoryQuiet{200}, kMemoryMost{2000};
constexpr milliseconds kListAgain{50};  // directories that come and go fast are listed together

WallTime wall_now() { return std::chrono::system_clock::now(); }

}  // namespace

LaneGuard* LaneLoop::find(const std::string& path) {
  const auto id = ids_.find(path);
  const auto guard = id == ids_.end() ? guards_.end() : guards_.find(id->second);
  return guard == guards_.end() ? nullptr : guard->second.get();
}

LaneGuard& LaneLoop::make_guard(const std::string& path) {
  const GuardId id = next_id_++;
  const auto seed = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) + id;
  ids_[path] = id;
  return *guards_.emplace(id, std::make_unique<LaneGuard>(id, seed)).first->second;
}

// Number before deed: a guardian that is killed now never gives two configurations one generation.
void LaneLoop::count_generation(std::uint64_t generation) {
  if (std::exchange(counted_, generation) == generation) return;
  // A state directory that hangs must not keep the guard from its new policy.
  (void)keeper_.within(kCountWithin, [state = world_.state, stored = world_.stored, generation] {
    if (state.load_generation().value < generation) stored(state.save_generation(generation));
  });
}

void LaneLoop::adopt(Adoption adoption) {
  const std::string path = adoption.policy.path;
  LaneGuard* guard = find(path);
  const bool is_new = guard == nullptr;
  if (is_new) guard = &make_guard(path);
  guard->guarded.policy = std::move(adoption.policy);
  guard->generation = adoption.generation;
  guard->order = adoption.order;
  guard->matched = adoption.matched;
  guard->last_change = Clock::now();
  guard->how = How::start;  // a new policy has nothing to do with what writers did, and no fight goes on over it
  guard->forget_drift();
  guard->unresolved.clear();
  if (!guard->guarded.policy.nameservers.written) world_.addresses->forget(path);
  {
    const auto here = at(guard->guarded.policy);
    count_generation(adoption.generation);
    if (is_new) begin(*guard);
  }
  forget_denied(guard->guarded.memory, guard->guarded.policy);
  if (adoption.paused_until) guard->pause(adoption.paused_until, Clock::now(), wall_now());
  look(path, adoption.ticket);
}

// What it remembers, and what a killed guardian left.
void LaneLoop::begin(LaneGuard& guard) {
  const std::string& path = guard.guarded.policy.path;
  guard.status.path = path;
  guard.status.since = wall_now();
  auto loaded = world_.state.load_memory(path);
  guard.guarded.memory = std::move(loaded.value);
  if (!loaded.warning.empty()) {
    Report report;
    report.warning = std::move(loaded.warning);
    post(std::move(report));
  }
  heed_machine(guard.guarded.memory, files_);
  const Memory before = guard.guarded.memory;
  (void)ask_addresses(guard);  // what is ours tells a leftover from a writer's document
  take_in_leftover(guard.guarded, files_, options_for(guard));
  if (!(guard.guarded.memory == before)) world_.stored(world_.state.save_memory(path, guard.guarded.memory));
}

void LaneLoop::look(const std::string& path, std::uint64_t ticket) {
  LaneGuard* guard = find(path);
  if (guard == nullptr) return;
  guard->ticket = ticket;
  guard->held_back.clear();
  guard->failed_drift.clear();
  look_soon(*guard);
}

void LaneLoop::ask_again(const std::string& path) {
  LaneGuard* guard = find(path);
  if (guard == nullptr) return;
  guard->due = true;
  busy_.insert(guard->id);
}

void LaneLoop::report_again(const std::string& path) {
  if (LaneGuard* guard = find(path)) return look_soon(*guard);
  const auto lister = ids_.find(path);
  if (lister != ids_.end()) listers_.at(lister->second).due = listers_.at(lister->second).must_report = true;
}

void LaneLoop::hold_back(const std::string& path, const std::string& reason) {
  LaneGuard* guard = find(path);
  if (guard == nullptr) return;
  guard->held_back = reason;
}

void LaneLoop::pause(const std::string& path, std::optional<WallTime> until) {
  LaneGuard* guard = find(path);
  if (guard == nullptr) return;
  guard->pause(until, Clock::now(), wall_now());
  look_soon(*guard);
}

std::string LaneLoop::release(const Policy& policy) {
  LaneGuard* guard = find(policy.path);
  const auto here = at(policy);
  Guarded waiting;  // where an earlier guard keeps it waiting: it isn't taken up yet
  if (guard == nullptr) {
    waiting.policy = policy;
    waiting.memory = world_.state.load_memory(policy.path).value;
  } else {
    guard->pause(WallTime::max(), Clock::now(), wall_now());
    look_soon(*guard);
  }
  Guarded& guarded = guard == nullptr ? waiting : guard->guarded;
  const auto released = rg::release(guarded, files_);
  world_.stored(world_.state.save_memory(policy.path, guarded.memory));
  return released ? std::string{} : released.error().text();
}

void LaneLoop::look_at_all() {
  files_.tidy();
  for (auto& [id, guard] : guards_) {
    guard->failed_drift.clear();
    look_soon(*guard);
  }
  for (auto& [id, lister] : listers_) lister.due = true;
}

std::string memory_job(const std::string& path) { return "memory " + path; }

void LaneLoop::keep_memory(const LaneGuard& guard) {
  const std::string& path = guard.guarded.policy.path;
  keeper_.later(memory_job(path), kMemoryQuiet, kMemoryMost,
                [state = world_.state, stored = world_.stored, path, memory = guard.guarded.memory] {
                  stored(state.save_memory(path, memory));
                });
}

// Before anything is written by it: an address that stood in the file because of us is never the writer's.
void LaneLoop::keep_memory_now(const LaneGuard& guard) {
  keep_memory(guard);  // that it is on the disk may take its time
  world_.stored(
      world_.state.save_memory(guard.guarded.policy.path, guard.guarded.memory, StateDirectory::Durable::later));
}

// What the last writer left; why it can't be given back is said, and nothing waits for it.
void LaneLoop::give_back(LaneGuard& guard) {
  const auto here = at(guard.guarded.policy);
  const auto released = rg::release(guard.guarded, files_);
  if (!released) warn_not_given_back(guard.guarded.policy.path, released.error().text());
}

void LaneLoop::give_back_waiting(const Policy& policy) {
  if (find(policy.path) != nullptr) return;
  if (const std::string error = release(policy); !error.empty()) warn_not_given_back(policy.path, error);
}

void LaneLoop::warn_not_given_back(const std::string& path, const std::string& why) {
  Report report;
  report.warning = path + " isn't given back: " + why;
  post(std::move(report));
}

void LaneLoop::drop(const std::string& path, bool restore) {
  LaneGuard* guard = find(path);
  if (guard == nullptr) return;
  if (restore) give_back(*guard);
  keeper_.forget(memory_job(path));  // older than what is stored now
  world_.stored(world_.state.save_memory(path, guard->guarded.memory));
  world_.targets->forget(path);
  world_.addresses->forget(path);
  watcher_.forget(guard->id);
  ids_.erase(path);
  busy_.erase(guard->id);
  guards_.erase(guard->id);
}

void LaneLoop::take_over(std::unique_ptr<LaneGuard> guard) {
  const GuardId id = next_id_++;
  guard->id = id;
  ids_[guard->guarded.policy.path] = id;
  keep_memory(*guard);
  look_soon(*guards_.emplace(id, std::move(guard)).first->second);
}

std::unique_ptr<LaneGuard> LaneLoop::hand_over(const std::string& path) {
  LaneGuard* guard = find(path);
  if (guard == nullptr || !guard->orphans.empty()) return nullptr;
  auto copy = guard->without_descriptors();
  keeper_.forget(memory_job(path));  // the other lane's memory is the newer one from now on
  watcher_.forget(guard->id);
  ids_.erase(path);
  busy_.erase(guard->id);
  guards_.erase(guard->id);
  return copy;
}

void LaneLoop::list(Lister lister) {
  unlist(lister.policy.path);
  const GuardId id = next_id_++;
  ids_[lister.policy.path] = id;
  list_again(listers_.emplace(id, std::move(lister)).first->second);
}

void LaneLoop::unlist(const std::string& pattern) {
  const auto id = ids_.find(pattern);
  if (id == ids_.end() || listers_.erase(id->second) == 0) return;
  watcher_.forget(id->second);
  ids_.erase(id);
}

void LaneLoop::list_again(Lister& lister) {
  const std::string& pattern = lister.policy.path;
  const GuardId id = ids_.at(pattern);
  const auto here = at(lister.policy);
  lister.due = false;
  Result<void> watched;
  watcher_.begin_watch(id);
  GlobMatch match = files_.expand(pattern, [&](const Chain& chain) {
    if (auto added = watcher_.add_watch(id, chain); !added) watched = added;
  });
  watcher_.end_watch(id);
  if (!watched) warn_of(lister, "new matches are seen every 30 s, for a watch can't be had: " + watched.error().text());
  if (match.cut) warn_of(lister, "more than 10,000 files match: the first ones are guarded");
  lister.not_before = Clock::now() + kListAgain;
  if (!std::exchange(lister.must_report, false) && match.error == 0 && match.paths == lister.matches) return;
  lister.matches = match.paths;
  world_.mailbox->post([listed = world_.listed, order = lister.order, generation = lister.generation,
                        ticket = lister.ticket,
                        match = std::move(match)]() mutable { listed(order, generation, ticket, std::move(match)); });
}

void LaneLoop::warn_of(Lister& lister, const std::string& what) {
  if (std::exchange(lister.warned, what) == what) return;
  Report report;
  report.warning = lister.policy.path + ": " + what;
  post(std::move(report));
}

}  // namespace rg
