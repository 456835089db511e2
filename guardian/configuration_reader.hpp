// Reads the configuration and watches its files by name along every link (a ConfigMap swaps one in the middle), on a
// thread of its own: its file system may hang like any other.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "guardian/mailbox.hpp"
#include "guardian/settings_source.hpp"
#include "lib/watch/watcher.hpp"

namespace rg {

class ConfigurationReader {
 public:
  struct Setup {
    SettingsSource source;
    bool watch = false;  ///< false: it is read when asked for alone
    std::shared_ptr<Mailbox> mailbox;
    /// In the mailbox: what was read, because somebody asked for it or because something changed.
    std::function<void(LoadedSettings loaded, bool asked)> loaded;
    std::function<void(std::string warning)> warn;  ///< in the mailbox
  };
  static Result<std::unique_ptr<ConfigurationReader>> start(Setup setup);
  ~ConfigurationReader();
  ConfigurationReader(const ConfigurationReader&) = delete;
  ConfigurationReader& operator=(const ConfigurationReader&) = delete;
  /// Reads it now.
  void ask();
  /// False: the thread is stuck; it must not be waited for.
  [[nodiscard]] bool stop_within(std::chrono::milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  ConfigurationReader(Setup setup, FileDescriptor wake);
  void run();
  void begin_watch();
  void arm();
  void wait();
  void read_events();
  void look();
  void tell(bool asked);
  void warn(std::string what);
  Setup setup_;
  FileDescriptor wake_;
  std::atomic<bool> asked_{false}, stopping_{false};
  std::optional<Watcher> watcher_;        // the thread's own, as all below
  std::optional<Clock::time_point> due_;  // when something that changed is looked at
  std::promise<void> ended_;
  std::future<void> end_ = ended_.get_future();
  std::thread thread_;
};

}  // namespace rg
