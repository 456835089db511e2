#include "guardian/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <ctime>

namespace rg {
namespace {

std::optional<long long> number(const std::optional<std::string>& text) {
  long long value = 0;
  if (!text || text->empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

}  // namespace

Notify::Notify(const Environment& environment) : address_(environment("NOTIFY_SOCKET").value_or("")) {
  const auto usec = number(environment("WATCHDOG_USEC"));
  const auto pid = number(environment("WATCHDOG_PID"));
  if (usec && *usec > 1 && (!pid || *pid == ::getpid())) interval_ = std::chrono::microseconds(*usec / 2);
  if (!address_.empty()) socket_ = FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void Notify::send(const std::string& message) const {
  sockaddr_un to{};
  if (!socket_ || address_.size() >= sizeof to.sun_path) return;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  if (address_.front() == '@') to.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  (void)::sendto(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
                 length);
}

void Notify::ready() { send("READY=1"); }

void Notify::status(const std::string& line) {
  if (line == last_status_) return;
  last_status_ = line;
  send("STATUS=" + line);
}

void Notify::reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto usec = static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec));
}

void Notify::stopping() { send("STOPPING=1"); }

void Notify::watchdog() { send("WATCHDOG=1"); }

}  // namespace rg
