// sd_notify(3) in a datagram of our own: no libsystemd in a static binary.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lib/config/config_file.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

class Notify {
 public:
  /// $NOTIFY_SOCKET (a path, or `@` and an abstract name), $WATCHDOG_USEC and $WATCHDOG_PID.
  explicit Notify(const Environment& environment);
  void ready();
  void status(const std::string& line);  ///< STATUS=; sent only when it is another than before
  void reloading();                      ///< RELOADING=1 with MONOTONIC_USEC, systemd 253's notify-reload protocol
  void stopping();
  void watchdog();
  /// How often watchdog() must be called: half of what the service manager allows.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval() const { return interval_; }

 private:
  void send(const std::string& message) const;
  FileDescriptor socket_;
  std::string address_, last_status_;
  std::optional<std::chrono::microseconds> interval_;
};

}  // namespace rg
