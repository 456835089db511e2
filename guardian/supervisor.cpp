#include "guardian/supervisor.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>

#include "lib/report/reasons.hpp"
#include "lib/report/status.hpp"
#include "lib/report/words.hpp"

namespace rg {
namespace {

constexpr std::chrono::milliseconds kStopWithin{800};  // a second after SIGTERM locks and socket must be free
constexpr std::chrono::milliseconds kHistoryGather{10};
constexpr std::chrono::seconds kLockAgain{2};

WallTime wall_now() { return std::chrono::system_clock::now(); }

std::string why_not_locked(const char* what, const Error& error) {
  if (error.code != EWOULDBLOCK) return error.text();
  return std::string("another guardian ") + what + ": " + error.path;
}

LogLevel level_of(const Event& event) {
  if (event.kind == Event::Kind::failure) return LogLevel::error;
  const bool bad = event.outcome == "contested" || event.outcome == "blocked" || event.outcome == "failed";
  return bad ? LogLevel::warning : LogLevel::info;
}

}  // namespace

Supervisor::Supervisor(Setup setup)
    : recorder_([log = setup.log](std::size_t lines) {
        log.warning(std::to_string(lines) + " lines of log and history were dropped: they weren't taken in time");
      }),
      setup_(std::move(setup)),
      notify_(process_environment()),
      state_(setup_.directories.state),
      journal_(std::make_shared<Journal>(setup_.directories.state)),
      pauses_(Pauses::load(setup_.directories.runtime)) {}

Supervisor::~Supervisor() {
  if (closer_.joinable()) closer_.join();
}

int Supervisor::fail(const std::string& why) {
  setup_.log.error(why);
  return 3;
}

int Supervisor::run() {
  setup_.log.send_to([this](std::string line) {
    recorder_.post([line = std::move(line)] { (void)!::write(STDERR_FILENO, line.data(), line.size()); });
  });
  auto lock = lock_runtime(setup_.directories.runtime);
  if (!lock) return fail(why_not_locked("uses this runtime directory", lock.error()));
  runtime_lock_ = std::move(*lock);
  auto root = open_root(setup_.root);
  if (!root) return fail(root.error().text());
  locks_.emplace(*root);
  if (auto taken = locks_->take(setup_.loaded.settings->guards); !taken) {
    return fail(why_not_locked("guards this directory", taken.error()));
  }
  auto control = ControlServer::listen(io_, setup_.directories.runtime,
                                       [this](const auto& request, const auto& answer) { handle(request, answer); });
  if (!control) return fail(control.error().text());
  control_ = std::move(*control);
  Lane::Setup lane{std::make_unique<DiskFiles>(*root, selinux_enabled()), state_,
                   [this](Report report) {
                     boost::asio::post(io_,
                                       [this, report = std::move(report)]() mutable { on_report(std::move(report)); });
                   },
                   [this] { boost::asio::post(io_, [this] { lane_ended(); }); }};
  auto made = Lane::create(std::move(lane));
  if (!made) return fail(made.error().text());
  lane_ = std::move(*made);
  run_behind(5);
  prepare();
  io_.run();
  return exit_status_;
}

void Supervisor::prepare() {
  const auto generation = state_.load_generation();
  if (!generation.warning.empty()) setup_.log.warning(generation.warning);
  status_.version = RG_VERSION;
  status_.pid = ::getpid();
  status_.started = wall_now();
  status_.config_path = setup_.source.from_file() ? setup_.source.path() : "command line";
  status_.config_sha256 = setup_.loaded.sha256;
  status_.config_error = setup_.loaded.error;
  if (!status_.config_error.empty()) {
    setup_.log.error("the configuration is bad, the last verified one is used: " + status_.config_error);
  }
  await_signals();
  await_watchdog();
  await_locks();
  begin_generation(generation.value + 1);
  watch_configuration();
}

void Supervisor::begin_generation(std::uint64_t generation) {
  const Settings& settings = *setup_.loaded.settings;
  recorder_.post([state = state_, generation, log = setup_.log] {
    if (auto saved = state.save_generation(generation); !saved) log.warning(saved.error().text());
  });
  status_.generation = generation;
  std::vector<Rollout::Guard> order;
  std::vector<GuardStatus> guards;
  for (const Policy& policy : settings.guards) {
    order.push_back({policy.path, policy.enforce && !policy.optional});
    const GuardStatus* known = find(policy.path);
    guards.push_back(known != nullptr ? *known : GuardStatus{});
    guards.back().path = policy.path;
    if (known == nullptr) guards.back().since = wall_now();
  }
  status_.guards = std::move(guards);
  rollout_.emplace(generation, std::move(order));
  for (const Policy& policy : settings.guards) rollout_->paused(policy.path, pauses_.of(policy.path).has_value());
  ready_said_ = false;
  ready_timer_.cancel();
  if (settings.ready_within) {
    ready_timer_.expires_after(*settings.ready_within);
    ready_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error || ready_said_) return;
      ready_said_ = true;
      notify_.ready();
    });
  }
  hand_out();
  refresh();
}

// Gives the lane what the order allows now.
void Supervisor::hand_out() {
  for (const std::size_t index : rollout_->take_next()) {
    const Policy& policy = setup_.loaded.settings->guards[index];
    lane_->adopt(policy, rollout_->generation(), index, pauses_.of(policy.path));
  }
}

GuardStatus* Supervisor::find(const std::string& path) {
  auto found = std::find_if(status_.guards.begin(), status_.guards.end(),
                            [&](const GuardStatus& guard) { return guard.path == path; });
  return found == status_.guards.end() ? nullptr : &*found;
}

void Supervisor::on_report(Report report) {
  if (!report.warning.empty()) setup_.log.warning(report.warning);
  record(std::move(report.events));
  GuardStatus* guard = find(report.status.path);
  if (report.moved && !stopping_) take_locks();
  if (stopping_ || guard == nullptr || report.generation == 0) return;
  *guard = report.status;
  if (report.generation == rollout_->generation()) {
    const bool was_paused = pauses_.of(guard->path).has_value();
    if (was_paused && !guard->paused_until) (void)pauses_.set(guard->path, std::nullopt);
    rollout_->paused(guard->path, guard->paused_until.has_value());
    rollout_->said(guard->path, report.verified && guard->state == State::holds);
    if (report.observed) looked_.resize(status_.guards.size());
    if (report.observed) looked_[static_cast<std::size_t>(guard - status_.guards.data())] = true;
    hand_out();
  }
  refresh();
}

void Supervisor::refresh() {
  const auto first = rollout_->waits_for();
  for (std::size_t i = 0; i < status_.guards.size(); ++i) {
    GuardStatus& guard = status_.guards[i];
    if (rollout_->told(i) || !first) continue;
    if (guard.state != State::waiting) guard.since = wall_now();
    guard.state = State::waiting;
    guard.reason = "waits for " + status_.guards[*first].path;
  }
  if (status_.phase != rollout_->phase() && rollout_->phase() == Phase::reconciling && setup_.source.from_file() &&
      status_.config_error.empty()) {
    recorder_.post(
        [state = state_, toml = print_config(*setup_.loaded.settings)] { (void)state.save_verified_config(toml); });
  }
  status_.phase = rollout_->phase();
  check_ready();
  notify_.status(status_line(status_));
  std::vector<WaiterId> done;
  for (const auto& [id, waiter] : waiters_) {
    if (waiter.done()) done.push_back(id);
  }
  for (const WaiterId id : done) finish_waiter(id);
}

// Only what was read back holds: while the lane waits for a file system, that is true of none of its guards.
Status Supervisor::status_now() const {
  Status status = status_;
  const auto stuck = stopping_ ? std::nullopt : lane_->stuck();  // stopping: another thread waits for the lane's end
  if (!stuck) return status;
  for (GuardStatus& guard : status.guards) {
    if (guard.state == State::waiting) continue;
    guard.state = State::failed;
    guard.since = stuck->since;
    guard.reason = guard.path == stuck->path ? unanswered_reason() : not_looked_at_reason(stuck->path);
  }
  return status;
}

void Supervisor::check_ready() {
  if (ready_said_ || stopping_) return;
  const bool content = std::all_of(status_.guards.begin(), status_.guards.end(), [](const GuardStatus& guard) {
    return guard.state == State::holds || guard.state == State::observing || guard.state == State::paused;
  });
  if (!content) return;
  ready_said_ = true;
  ready_timer_.cancel();
  notify_.status(status_line(status_));
  notify_.ready();
}

void Supervisor::record(std::vector<Event> events) {
  for (Event& event : events) {
    setup_.log.line(level_of(event), event_text(event));
    unwritten_.push_back(std::move(event));
  }
  if (unwritten_.empty() || history_timer_.expiry() > std::chrono::steady_clock::now()) return;
  history_timer_.expires_after(kHistoryGather);
  history_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) flush_history();
  });
}

void Supervisor::flush_history() {
  if (unwritten_.empty()) return;
  recorder_.post([journal = journal_, events = std::exchange(unwritten_, {}), log = setup_.log] {
    if (auto appended = journal->append(events); !appended) log.warning(appended.error().text());
  });
}

void Supervisor::await_signals() {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    signals_.add(signal);
    ::sigaddset(&ours, signal);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);  // whoever started us may have blocked them
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    on_signal(signal);
    if (!stopping_) await_signals();
  });
}

void Supervisor::on_signal(int signal) {
  if (signal == SIGHUP) return reload(true);
  stop();
}

void Supervisor::stop() {
  if (std::exchange(stopping_, true)) return;
  notify_.stopping();
  control_->close();
  lane_->stop();
  stop_timer_.expires_after(kStopWithin);
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) leave_now();
  });
}

// The lane's last words are said. What its keeper still makes durable is waited for, but not for long.
void Supervisor::lane_ended() {
  if (closer_.joinable()) return;
  closer_ = std::thread([this] {
    block_signals();
    lane_.reset();
    boost::asio::post(io_, [this] {
      flush_history();
      recorder_.post([this] { boost::asio::post(io_, [this] { io_.stop(); }); });
    });
  });
}

// A file system that doesn't answer holds a thread; locks, socket and process must not wait for it.
void Supervisor::leave_now() {
  locks_->release();
  runtime_lock_ = FileDescriptor{};
  ::_exit(exit_status_);
}

void Supervisor::await_watchdog() {
  const auto interval = notify_.watchdog_interval();
  if (!interval) return;
  notify_.watchdog();
  watchdog_timer_.expires_after(*interval);
  watchdog_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) await_watchdog();
  });
}

// The guarded directories as they are now: one may have been swapped for another.
void Supervisor::take_locks() {
  auto taken = locks_->take(setup_.loaded.settings->guards);
  if (taken || stopping_) return;
  exit_status_ = fail(why_not_locked("guards this directory", taken.error()));
  stop();
}

// A guarded directory that was missing is locked when it appears.
void Supervisor::await_locks() {
  if (locks_->complete()) return;
  lock_timer_.expires_after(kLockAgain);
  lock_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopping_) return;
    take_locks();
    await_locks();
  });
}

}  // namespace rg
