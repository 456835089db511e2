#include "guardian/lane_loop.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSlowLook{
    30};  // for what gives no event: chattr(1), overlay layers, network file systems

}  // namespace

Result<std::unique_ptr<LaneLoop>> LaneLoop::create(Lane& lane, const LaneWorld& world, DeadlineWatch& deadline) {
  auto watcher = Watcher::create();
  if (!watcher) return watcher.error();
  std::unique_ptr<LaneLoop> loop(new LaneLoop(lane, world, deadline, std::move(*watcher)));
  if (auto started = loop->keeper_.start(); !started) return started.error();
  loop->poll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop->poll_ || !loop->listen(loop->watcher_.descriptor(), EPOLLIN) ||
      !loop->listen(lane.wake_descriptor(), EPOLLIN)) {
    return errno_error("epoll");
  }
  // Mounts and unmounts are an exceptional condition of mountinfo, proc(5); an edge, so that nothing has to be read.
  // Without /proc there are no mount events; the slow look still comes.
  loop->mounts_ = FileDescriptor(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (loop->mounts_) (void)loop->listen(loop->mounts_.get(), EPOLLPRI | EPOLLET);
  return loop;
}

LaneLoop::LaneLoop(Lane& lane, const LaneWorld& world, DeadlineWatch& deadline, Watcher watcher)
    : lane_(lane),
      world_(world),
      deadline_(deadline),
      files_(world.root, world.selinux),
      watcher_(std::move(watcher)) {}

LaneLoop::~LaneLoop() {
  for (const auto& [id, guard] : guards_) world_.targets->forget(guard->guarded.policy.path);
}

bool LaneLoop::listen(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void LaneLoop::run() {
  next_look_ = Clock::now() + kSlowLook;
  while (!lane_.is_stopping()) {
    take_messages();
    if (lane_.is_stopping()) break;
    pass_over_due();
    wait_for_something();
  }
  give_back_all();
  while (auto message = lane_.take_message()) {
    if (message->at_end) message->job(*this);
  }
}

void LaneLoop::give_back_all() {
  for (auto& [id, guard] : guards_) {
    if (guard->guarded.policy.on_exit != OnExit::restore) continue;
    give_back(*guard);
    world_.stored(world_.state.save_memory(guard->guarded.policy.path, guard->guarded.memory));
  }
}

void LaneLoop::take_messages() {
  while (auto message = lane_.take_message()) {
    message->job(*this);
    bury();
  }
}

// What another lane goes on with, once this thread is back from where it was stuck.
void LaneLoop::bury() {
  for (const auto& guard : given_up_) watcher_.forget(guard->id);
  given_up_.clear();
}

void LaneLoop::look_soon(LaneGuard& guard) {
  guard.due = guard.structure = guard.must_report = true;
  busy_.insert(guard.id);
}

void LaneLoop::wait_for_something() {
  Time until = next_look_;
  bool work_left = false;
  for (const GuardId id : busy_) {
    const LaneGuard& guard = *guards_.at(id);
    work_left = work_left || guard.due;
    if (const auto at = guard.next_time()) until = std::min(until, *at);
  }
  for (const auto& [id, lister] : listers_) {
    if (lister.due) until = std::min(until, lister.not_before);
  }
  auto wait = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds(until - Clock::now()));
  if (work_left) wait = std::min(wait, budget_.wait(Clock::now()));
  if (std::exchange(looked_slowly_, false)) deadline_.rest();
  take_events(static_cast<int>(std::chrono::ceil<milliseconds>(wait).count()));
  look_around();
}

void LaneLoop::take_events(int timeout) {
  std::array<epoll_event, 3> events{};
  const int ready = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), timeout);
  for (int i = 0; i < ready; ++i) {
    const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
    std::uint64_t count = 0;
    if (fd == watcher_.descriptor()) take_changes();
    if (fd == lane_.wake_descriptor()) (void)!::read(fd, &count, sizeof count);
    if (fd == mounts_.get()) mounts_changed_ = true;
  }
}

// Timers, mounts, and what gives no event.
void LaneLoop::look_around() {
  const Time now = Clock::now();
  const bool mounts = std::exchange(mounts_changed_, false);
  const bool slow_look = now >= next_look_;
  const bool degraded =
      std::any_of(busy_.begin(), busy_.end(), [this](GuardId id) { return guards_.at(id)->degraded; });
  looked_slowly_ = slow_look;
  if (slow_look) files_.tidy();
  if (slow_look) next_look_ = now + kSlowLook;
  if (degraded) next_look_ = std::min(next_look_, now + kDegradedLook);
  for (const GuardId id : busy_) {
    LaneGuard& guard = *guards_.at(id);
    guard.tick(now);
    look_at_orphans(guard, now);
  }
  if (!mounts && !slow_look) return;
  for (auto& [id, guard] : guards_) {
    guard->note({Change::Kind::structure, mounts ? How::mounted : How::unknown, -1}, now);
    busy_.insert(id);
  }
  for (auto& [id, lister] : listers_) lister.due = true;
}

void LaneLoop::take_changes() {
  watcher_.read([this](GuardId id, const Change& change) {
    const auto found = guards_.find(id);
    if (found != guards_.end()) return take_change(*found->second, change);
    if (const auto lister = listers_.find(id); lister != listers_.end()) lister->second.due = true;
    if (id != kEveryGuard) return;
    for (auto& [other, guard] : guards_) take_change(*guard, change);
    for (auto& [other, lister] : listers_) lister.due = true;
  });
}

void LaneLoop::take_change(LaneGuard& guard, const Change& change) {
  busy_.insert(guard.id);
  if (change.kind == Change::Kind::orphan) return orphan_closed(guard, change.watch);
  guard.note(change, Clock::now());
}

void LaneLoop::give_up_others(const std::string& path, std::vector<std::unique_ptr<LaneGuard>>& guards,
                              std::vector<Lister>& listers) {
  for (auto entry = guards_.begin(); entry != guards_.end();) {
    const auto next = std::next(entry);
    if (entry->second->guarded.policy.path != path) {
      guards.push_back(entry->second->without_descriptors());
      ids_.erase(entry->second->guarded.policy.path);
      busy_.erase(entry->first);
      keeper_.forget(memory_job(entry->second->guarded.policy.path));
      given_up_.push_back(std::move(guards_.extract(entry).mapped()));
    }
    entry = next;
  }
  std::erase_if(listers_, [&](auto& entry) {
    if (entry.second.policy.path == path) return false;
    listers.push_back(entry.second);
    return true;
  });
}

}  // namespace rg
