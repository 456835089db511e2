#include "guardian/supervisor.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>

#include "lib/report/status.hpp"
#include "lib/report/words.hpp"
#include "lib/store/file.hpp"

namespace rg {
namespace {

constexpr std::chrono::milliseconds kStopWithin{800};  // a second after SIGTERM locks and socket must be free
constexpr std::chrono::milliseconds kHistoryGather{10}, kReaderEnds{100};
constexpr std::chrono::seconds kLockAgain{2};
constexpr std::chrono::minutes kUnstoredAgain{1};  // a full disk is no reason for a full log

WallTime wall_now() { return std::chrono::system_clock::now(); }

LogLevel level_of(const Event& event) {
  if (event.outcome == "cancelled") return LogLevel::info;
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
  if (auto opened = open(); !opened) return fail(opened.error().text());
  run_behind(5);
  prepare();
  locks_->take(setup_.loaded.settings->guards, [this](const Result<void>& taken) {
    if (stopping_) return;
    if (!taken) {
      exit_status_ = fail(why_not_locked("guards this directory", taken.error()));
      return stop();
    }
    await_locks();
    begin_generation(status_.generation + 1);
    watch_configuration();
  });
  io_.run();
  return exit_status_;
}

Result<void> Supervisor::open() {
  auto root = open_root(setup_.root);
  if (!root) return root.error();
  auto mailbox = Mailbox::create(io_);
  if (!mailbox) return mailbox.error();
  mailbox_ = std::move(*mailbox);
  auto gates = Gates::create(mailbox_);
  if (!gates) return gates.error();
  gates_ = std::move(*gates);
  locks_.emplace(io_, mailbox_, *root);
  auto control = ControlServer::listen(io_, setup_.directories.runtime,
                                       [this](const auto& request, const auto& answer) { handle(request, answer); });
  if (!control) return control.error();
  control_ = std::move(*control);
  auto spawner = Spawner::create();
  if (!spawner) return spawner.error();
  auto world = std::make_shared<LaneWorld>(
      LaneWorld{*root, selinux_enabled(), state_, mailbox_, std::make_shared<Targets>(), addresses_,
                std::move(*spawner), [this](Report report) { on_report(std::move(report)); },
                [this](std::size_t guard, std::uint64_t generation, std::uint64_t ticket, GlobMatch match) {
                  on_listed(guard, generation, ticket, std::move(match));
                },
                [this](const Result<void>& result) { stored(result); }});
  lanes_.emplace(io_, Lanes::Setup{std::move(world), [this](const std::string& path) { on_late(path); },
                                   [this](const std::string& warning) { setup_.log.warning(warning); }});
  return lanes_->open();
}

void Supervisor::prepare() {
  state_.remove_left_over();
  store::remove_temporary_files(setup_.directories.runtime);  // of the pauses
  const auto generation = state_.load_generation();
  if (!generation.warning.empty()) setup_.log.warning(generation.warning);
  status_.version = RG_VERSION;
  status_.pid = ::getpid();
  status_.started = wall_now();
  status_.generation = generation.value;
  status_.config_path = setup_.source.from_file() ? setup_.source.path() : "command line";
  status_.config_sha256 = setup_.loaded.sha256;
  status_.config_error = setup_.loaded.error;
  if (!status_.config_error.empty()) {
    setup_.log.error("the configuration is bad, the last verified one is used: " + status_.config_error);
  }
  for (const Policy& policy : setup_.loaded.settings->guards) {
    GuardStatus& guard = status_.guards.emplace_back();
    guard.path = policy.path;
    guard.since = status_.started;
  }
  if (!pauses_.warning().empty()) setup_.log.warning(pauses_.warning());
  await_signals();
  await_watchdog();
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

// Any thread.
void Supervisor::stored(const Result<void>& result) {
  if (result) return;
  mailbox_->post([this, why = result.error().text()] {
    const auto now = std::chrono::steady_clock::now();
    if (now < unstored_again_) return;
    unstored_again_ = now + kUnstoredAgain;
    setup_.log.warning("what must outlast a restart can't be stored: " + why);
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
  if (signal == SIGHUP) return reload();
  stop();
}

void Supervisor::stop() {
  if (std::exchange(stopping_, true)) return;
  notify_.stopping();
  control_->close();
  stop_timer_.expires_after(kStopWithin);
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) leave_now();
  });
  give_back_waiting();
  lanes_->stop([this] { finish(); });
}

// No lane has taken them up, and what an earlier guardian wrote may stand there.
void Supervisor::give_back_waiting() {
  if (!rollout_) return;
  for (std::size_t i = 0; i < rollout_->places().size(); ++i) {
    for (const auto& [path, file] : rollout_->places()[i].members) {
      const Policy policy = policy_of(i, path);
      const bool waits = !file.told && policy.enforce && policy.on_exit == OnExit::restore;
      if (waits) lanes_->tell_any(path, [policy](LaneLoop& loop) { loop.give_back_waiting(policy); });
    }
  }
}

// The lanes' last words are said.
void Supervisor::finish() {
  gates_.reset();
  const bool reads = reader_ && !reader_->stop_within(kReaderEnds);
  flush_history();
  recorder_.post([this, reads] {
    boost::asio::post(io_, [this, reads] {
      if (reads || lanes_->any_late() || locks_->any_stuck()) leave_now();
      io_.stop();
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
  moved_ = coming_.has_value();  // those of the coming configuration are being taken: afterwards, then
  if (moved_) return;
  locks_->take(setup_.loaded.settings->guards, [this](const Result<void>& taken) {
    if (stopping_) return;
    if (taken) unlocked_.clear();
    if (taken) return await_locks();
    if (!is_taken(taken.error())) {  // no descriptor or no thread is left: later, then
      const std::string why = taken.error().text();
      if (std::exchange(unlocked_, why) != why) setup_.log.warning("a guarded directory isn't locked: " + why);
      return lock_later();
    }
    exit_status_ = fail(why_not_locked("guards this directory", taken.error()));
    stop();
  });
}

// A guarded directory that was missing is locked when it appears.
void Supervisor::await_locks() {
  if (!locks_->complete()) lock_later();
}

void Supervisor::lock_later() {
  lock_timer_.expires_after(kLockAgain);
  lock_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopping_ && !coming_) take_locks();
  });
}

}  // namespace rg
