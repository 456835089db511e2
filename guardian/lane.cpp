#include "guardian/lane.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "guardian/machine.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSlowLook{
    30};  // for what gives no event: chattr(1), overlay layers, network file systems
constexpr std::chrono::seconds kDegradedLook{1};  // where a watch can't be had

}  // namespace

Result<std::unique_ptr<Lane>> Lane::create(Setup setup) {
  auto watcher = Watcher::create();
  if (!watcher) return watcher.error();
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return errno_error("eventfd");
  // Without /proc there are no mount events; the slow look still comes.
  FileDescriptor mounts(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  FileDescriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  std::unique_ptr<Lane> lane(new Lane(std::move(setup), std::move(*watcher), std::move(wake), std::move(mounts)));
  lane->poll_ = std::move(poll);
  if (!lane->poll_ || !lane->listen(lane->watcher_.descriptor(), EPOLLIN) ||
      !lane->listen(lane->wake_.get(), EPOLLIN)) {
    return errno_error("epoll");
  }
  // Mounts and unmounts are an exceptional condition of mountinfo, proc(5); an edge, so that nothing has to be read.
  if (lane->mounts_) (void)lane->listen(lane->mounts_.get(), EPOLLPRI | EPOLLET);
  lane->thread_ = std::thread([raw = lane.get()] { raw->run(); });
  return lane;
}

bool Lane::listen(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

Lane::Lane(Setup setup, Watcher watcher, FileDescriptor wake, FileDescriptor mounts)
    : setup_(std::move(setup)), watcher_(std::move(watcher)), wake_(std::move(wake)), mounts_(std::move(mounts)) {}

Lane::~Lane() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Lane::send(std::function<void()> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

Lane::At::At(Lane& lane, const LaneGuard& guard) : lane_(lane) {
  const std::lock_guard lock(lane.mutex_);
  lane.at_ = guard.guarded.policy.path;
  lane.at_since_ = Clock::now();
  lane.at_most_ = lane.at_since_ + guard.guarded.policy.deadline;
}

Lane::At::~At() {
  const std::lock_guard lock(lane_.mutex_);
  lane_.at_.clear();
}

std::optional<Lane::Stuck> Lane::stuck() const {
  const std::lock_guard lock(mutex_);
  const Time now = Clock::now();
  if (at_.empty() || now < at_most_) return std::nullopt;
  const auto ago = std::chrono::duration_cast<WallTime::duration>(now - at_since_);
  return Stuck{at_, std::chrono::system_clock::now() - ago};
}

void Lane::adopt(Policy policy, std::uint64_t generation, std::size_t order, std::optional<WallTime> paused_until) {
  send([this, policy = std::move(policy), generation, order, paused_until]() mutable {
    adopt_now(std::move(policy), generation, order, paused_until);
  });
}

void Lane::drop(const std::string& path, bool give_back) {
  send([this, path, give_back] { drop_now(path, give_back); });
}

void Lane::pause(const std::string& path, std::optional<WallTime> until) {
  send([this, path, until] {
    LaneGuard* guard = find(path);
    if (guard == nullptr) return;
    guard->pause(until, Clock::now(), std::chrono::system_clock::now());
    guard->due = guard->structure = guard->must_report = true;
  });
}

void Lane::release(Policy policy, std::function<void(std::string)> done) {
  send([this, policy = std::move(policy), done = std::move(done)]() mutable {
    LaneGuard* guard = find(policy.path);
    if (guard != nullptr) return release_now(*guard, done);
    Guarded waiting;  // an earlier guard keeps it waiting: it isn't taken up yet
    waiting.policy = std::move(policy);
    waiting.memory = setup_.state.load_memory(waiting.policy.path).value;
    const auto released = rg::release(waiting, *setup_.files);
    (void)setup_.state.save_memory(waiting.policy.path, waiting.memory);
    done(released ? std::string{} : released.error().text());
  });
}

void Lane::look() {
  send([this] {
    setup_.files->tidy();
    for (auto& [id, guard] : guards_) guard->due = guard->structure = guard->must_report = true;
  });
}

void Lane::stop() {
  send([this] {
    if (stopping_) return;
    for (auto& [id, guard] : guards_) {
      if (guard->guarded.policy.on_exit == OnExit::restore) give_back(*guard);
    }
    stopping_ = true;
  });
}

void Lane::run() {
  block_signals();
  next_look_ = Clock::now() + kSlowLook;
  while (!stopping_) {
    take_messages();
    if (stopping_) break;
    pass_over_due();
    wait_for_something();
  }
  for (auto& [id, guard] : guards_) {
    if (guard->guarded.policy.on_exit != OnExit::restore) continue;
    (void)setup_.state.save_memory(guard->guarded.policy.path, guard->guarded.memory);
  }
  if (setup_.ended) setup_.ended();
}

void Lane::wait_for_something() {
  Time until = next_look_;
  bool work_left = false;
  for (const auto& [id, guard] : guards_) {
    work_left = work_left || guard->due;
    if (const auto at = guard->next_time()) until = std::min(until, *at);
  }
  auto wait = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds(until - Clock::now()));
  if (work_left) wait = std::min(wait, budget_.wait(Clock::now()));
  std::array<epoll_event, 3> events{};
  const auto timeout = std::chrono::ceil<milliseconds>(wait).count();
  const int ready =
      ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), static_cast<int>(timeout));
  bool mounts_changed = false;
  for (int i = 0; i < ready; ++i) {
    const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
    std::uint64_t count = 0;
    if (fd == watcher_.descriptor()) take_changes();
    if (fd == wake_.get()) (void)!::read(fd, &count, sizeof count);
    if (fd == mounts_.get()) mounts_changed = true;
  }
  const Time now = Clock::now();
  const bool slow_look = now >= next_look_;
  const bool degraded =
      std::any_of(guards_.begin(), guards_.end(), [](const auto& entry) { return entry.second->degraded; });
  if (slow_look) setup_.files->tidy();
  if (slow_look) next_look_ = now + kSlowLook;
  if (degraded) next_look_ = std::min(next_look_, now + kDegradedLook);
  for (auto& [id, guard] : guards_) {
    guard->tick(now);
    if (!mounts_changed && !slow_look) continue;
    guard->note({Change::Kind::structure, mounts_changed ? How::mounted : How::unknown, -1}, now);
  }
}

void Lane::take_messages() {
  std::vector<std::function<void()>> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
  }
  for (auto& message : messages) message();
}

void Lane::take_changes() {
  watcher_.read([this](GuardId id, const Change& change) {
    const auto found = guards_.find(id);
    if (found != guards_.end()) return take_change(*found->second, change);
    if (id != kEveryGuard) return;
    for (auto& [other, guard] : guards_) take_change(*guard, change);
  });
}

void Lane::take_change(LaneGuard& guard, const Change& change) {
  if (change.kind == Change::Kind::orphan) return orphan_closed(guard, change.watch);
  guard.note(change, Clock::now());
}

LaneGuard* Lane::find(const std::string& path) {
  for (auto& [id, guard] : guards_) {
    if (guard->guarded.policy.path == path) return guard.get();
  }
  return nullptr;
}

void Lane::adopt_now(Policy policy, std::uint64_t generation, std::size_t order, std::optional<WallTime> paused_until) {
  LaneGuard* guard = find(policy.path);
  Report report;
  const bool is_new = guard == nullptr;
  if (is_new) {
    const GuardId id = next_id_++;
    const auto seed = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    guard = guards_.emplace(id, std::make_unique<LaneGuard>(id, seed)).first->second.get();
    auto loaded = setup_.state.load_memory(policy.path);
    guard->guarded.memory = std::move(loaded.value);
    report.warning = std::move(loaded.warning);
    guard->status.path = policy.path;
    guard->status.since = std::chrono::system_clock::now();
    heed_machine(guard->guarded.memory, *setup_.files);
  }
  guard->guarded.policy = std::move(policy);
  guard->guarded.would_restore.reset();
  forget_denied(guard->guarded.memory, guard->guarded.policy);
  guard->generation = generation;
  guard->order = order;
  guard->last_change = Clock::now();
  guard->how = How::start;  // a new policy has nothing to do with what writers did, and no fight goes on over it
  guard->pace.forget();
  guard->due = guard->structure = guard->must_report = true;
  if (paused_until) guard->pause(paused_until, Clock::now(), std::chrono::system_clock::now());
  if (is_new) {
    const At at(*this, *guard);
    const Memory before = guard->guarded.memory;
    take_in_leftover(guard->guarded, *setup_.files, options_for(*guard));
    const std::string& path = guard->guarded.policy.path;
    if (!(guard->guarded.memory == before)) (void)setup_.state.save_memory(path, guard->guarded.memory);
  }
  if (!report.warning.empty()) {
    report.status = guard->status;
    setup_.report(std::move(report));
  }
}

// What the last writer left; why it can't be given back is said, and nothing waits for it.
void Lane::give_back(LaneGuard& guard) {
  const At at(*this, guard);
  const auto released = rg::release(guard.guarded, *setup_.files);
  if (released) return;
  Report report;
  report.warning = guard.guarded.policy.path + " isn't given back: " + released.error().text();
  setup_.report(std::move(report));
}

void Lane::drop_now(const std::string& path, bool restore) {
  LaneGuard* guard = find(path);
  if (guard == nullptr) return;
  if (restore) give_back(*guard);
  (void)setup_.state.save_memory(path, guard->guarded.memory);
  watcher_.forget(guard->id);
  guards_.erase(guard->id);
}

void Lane::release_now(LaneGuard& guard, const std::function<void(std::string)>& done) {
  guard.status.paused_until = WallTime::max();
  guard.pause_ends.reset();
  const At at(*this, guard);
  const auto released = rg::release(guard.guarded, *setup_.files);
  (void)setup_.state.save_memory(guard.guarded.policy.path, guard.guarded.memory);
  guard.due = guard.structure = guard.must_report = true;
  done(released ? std::string{} : released.error().text());
}

}  // namespace rg
