// The main thread: signals, timers, reload, the control socket, the rollout of a generation. It never touches a guarded
// tree: lanes do.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "guardian/configuration_reader.hpp"
#include "guardian/control.hpp"
#include "guardian/directory_locks.hpp"
#include "guardian/gates.hpp"
#include "guardian/lanes.hpp"
#include "guardian/lock.hpp"
#include "guardian/log.hpp"
#include "guardian/notify.hpp"
#include "guardian/pauses.hpp"
#include "guardian/recorder.hpp"
#include "guardian/route_watch.hpp"
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
  Result<void> open();
  void prepare();
  void check_ready();
  void record(std::vector<Event> events);
  void flush_history();
  void stored(const Result<void>& result);
  void on_signal(int signal);
  void await_signals();
  void stop();
  void give_back_waiting();
  void finish();
  void leave_now();
  void take_locks();
  void await_watchdog();
  void await_locks();
  void lock_later();
  // generation.cpp
  void begin_generation(std::uint64_t generation);
  void cancel_update(std::uint64_t next);
  void list_guards();  ///< status has an entry for each guard
  void pump_soon();
  void pump();
  void carry_out(const Rollout::Order& order);
  void keep_closed(std::size_t index, const std::string& reason);
  void keep_waiting(std::size_t index, const std::string& reason);
  std::optional<Time> end_pauses();
  void note_late(const Rollout::Order& order);
  void on_report(Report report);
  void on_late(const std::string& path);
  void on_listed(std::size_t guard, std::uint64_t generation, std::uint64_t ticket, GlobMatch match);
  void fail_unanswered(const std::string& path, const std::string& reason);
  void refresh();  ///< states of waiting guards, READY, STATUS, clients that wait
  void show_waiting(GuardStatus& guard) const;
  void reconciled();
  [[nodiscard]] std::string why_waiting(std::size_t guard) const;
  [[nodiscard]] std::optional<WallTime> pause_of(std::size_t guard, const std::string& path) const;
  [[nodiscard]] Policy policy_of(std::size_t guard, const std::string& path) const;
  GuardStatus* find(const std::string& path);
  // readiness.cpp
  void ask_gate(const Rollout::Order& order);
  bool wait_for_addresses(const Rollout::Order& order, Policy& policy);
  void watch_routes();
  void routes_changed();
  void look_for_addresses_later();
  // reload.cpp
  void watch_configuration();
  void reload();
  void reloaded(LoadedSettings loaded, bool asked);
  void refuse(const std::string& why);
  void take(LoadedSettings loaded);
  void put_in_force(LoadedSettings loaded);
  void drop_removed(const Settings& now);
  // requests.cpp
  void handle(const boost::json::object& request, const Answer& answer);
  void wait_until(std::function<bool()> done, std::optional<std::chrono::milliseconds> limit,
                  std::function<void()> finish, const Answer& answer);
  void finish_waiter(WaiterId id);
  void set_pause(const boost::json::object& request, const Answer& answer);
  void resume(const boost::json::object& request, const Answer& answer);
  void release(const boost::json::object& request, const Answer& answer);
  void apply(const Answer& answer);
  [[nodiscard]] bool pass_is_over() const;
  struct Named {  ///< what a request is about
    std::vector<std::string> files, globs;
    [[nodiscard]] bool empty() const { return files.empty() && globs.empty(); }
  };
  void note_command(const std::vector<std::string>& paths, const std::function<Event(const std::string&)>& event_of);
  [[nodiscard]] std::vector<std::string> paused_by(const boost::json::object& request) const;
  [[nodiscard]] Named named(const boost::json::object& request) const;

  Recorder recorder_;  // first: what others still give it when they end is done
  Setup setup_;
  boost::asio::io_context io_;
  boost::asio::signal_set signals_{io_};
  boost::asio::steady_timer ready_timer_{io_}, watchdog_timer_{io_}, history_timer_{io_}, lock_timer_{io_},
      stop_timer_{io_}, reload_timer_{io_}, rollout_timer_{io_}, pump_timer_{io_}, address_timer_{io_};
  Notify notify_;
  StateDirectory state_;
  std::shared_ptr<Journal> journal_;
  Pauses pauses_;
  FileDescriptor runtime_lock_;
  std::unique_ptr<ControlServer> control_;
  std::shared_ptr<Mailbox> mailbox_;
  std::unique_ptr<ConfigurationReader> reader_;
  std::unique_ptr<Gates> gates_;
  std::shared_ptr<SourceAddresses> addresses_ = std::make_shared<SourceAddresses>();
  std::unique_ptr<RouteWatch> routes_;  ///< only where a guard names a source-address-of
  std::optional<DirectoryLocks> locks_;
  std::optional<Lanes> lanes_;
  std::optional<Rollout> rollout_;
  std::optional<LoadedSettings> coming_;              ///< a configuration that waits for its locks
  std::map<std::size_t, Rollout::Order> unresolved_;  ///< gates that stay closed until the kernel knows an address
  std::map<std::size_t, std::string> closed_;         ///< guards whose gate didn't open or whose glob isn't listed: why
  Status status_;
  std::map<std::string, std::size_t> places_;  ///< of each path in status_.guards
  std::set<std::string> unlooked_;             ///< guards that haven't reported since the last `apply`
  std::map<WaiterId, Waiter> waiters_;
  WaiterId next_waiter_ = 0;
  std::vector<Event> unwritten_;
  std::chrono::steady_clock::duration pump_took_{0};
  std::chrono::steady_clock::time_point unstored_again_{};  ///< when it may be told again
  std::string unlocked_;                                    ///< why a directory isn't locked, as it was told
  bool moved_ = false;                                      ///< a guarded directory is another one, and not locked yet
  bool ready_said_ = false, stopping_ = false, pump_pending_ = false;
  int exit_status_ = 0;
};

}  // namespace rg
