// The main thread: signals, timers, reload, the control socket. It never touches a guarded tree: lanes do.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guardian/control.hpp"
#include "guardian/lane.hpp"
#include "guardian/lock.hpp"
#include "guardian/log.hpp"
#include "guardian/notify.hpp"
#include "guardian/pauses.hpp"
#include "guardian/recorder.hpp"
#include "guardian/settings_source.hpp"
#include "lib/reconcile/rollout.hpp"
#include "lib/store/journal.hpp"

namespace rg {

class Supervisor {
 public:
  struct Setup {
    SettingsSource source;
    LoadedSettings loaded;
    Directories directories;
    std::string root;
    Log log;
  };
  explicit Supervisor(Setup setup);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  /// Guards until SIGTERM or SIGINT: the exit status of `run`.
  int run();

 private:
  using WaiterId = std::uint64_t;
  struct Waiter {  // a client that waits for a state of all guards
    std::function<bool()> done;
    std::function<void()> finish;
    std::unique_ptr<boost::asio::steady_timer> timer;
  };

  int fail(const std::string& why);
  void prepare();
  void begin_generation(std::uint64_t generation);
  void hand_out();
  void on_report(Report report);
  void refresh();  ///< states of waiting guards, READY, STATUS, clients that wait
  void check_ready();
  void record(std::vector<Event> events);
  void flush_history();
  void on_signal(int signal);
  void await_signals();
  void stop();
  void lane_ended();
  void leave_now();
  void take_locks();
  void await_watchdog();
  void await_locks();
  // reload.cpp
  void watch_configuration();
  void arm_configuration();
  void await_configuration();
  void read_configuration_events();
  void reload(bool asked);
  void take(LoadedSettings loaded);
  void reload_later(std::chrono::milliseconds wait);
  // requests.cpp
  void handle(const boost::json::object& request, const Answer& answer);
  void wait_until(std::function<bool()> done, std::optional<std::chrono::milliseconds> limit,
                  std::function<void()> finish, const Answer& answer);
  void finish_waiter(WaiterId id);
  void set_pause(const boost::json::object& request, const Answer& answer);
  void resume(const boost::json::object& request, const Answer& answer);
  void release(const boost::json::object& request, const Answer& answer);
  void apply(const Answer& answer);
  [[nodiscard]] std::vector<std::string> named(const boost::json::object& request) const;
  /// What is known, less what a file system that doesn't answer makes unknown.
  [[nodiscard]] Status status_now() const;
  GuardStatus* find(const std::string& path);

  Recorder recorder_;  // first: what others still give it when they end is done
  Setup setup_;
  boost::asio::io_context io_;
  boost::asio::signal_set signals_{io_};
  boost::asio::steady_timer ready_timer_{io_}, watchdog_timer_{io_}, history_timer_{io_}, lock_timer_{io_},
      stop_timer_{io_}, reload_timer_{io_}, configuration_timer_{io_};
  std::unique_ptr<boost::asio::posix::stream_descriptor> configuration_events_;
  std::optional<Watcher> configuration_watcher_;
  Notify notify_;
  StateDirectory state_;
  std::shared_ptr<Journal> journal_;
  Pauses pauses_;
  FileDescriptor runtime_lock_;
  std::optional<DirectoryLocks> locks_;
  std::unique_ptr<ControlServer> control_;
  std::unique_ptr<Lane> lane_;
  std::thread closer_;  ///< waits for the lane's end, which a file system may hold up
  std::optional<Rollout> rollout_;
  Status status_;
  std::vector<bool> looked_;  ///< per guard: it reported since the last `apply`
  std::map<WaiterId, Waiter> waiters_;
  WaiterId next_waiter_ = 0;
  std::vector<Event> unwritten_;
  bool ready_said_ = false, stopping_ = false;
  int exit_status_ = 0;
};

}  // namespace rg
