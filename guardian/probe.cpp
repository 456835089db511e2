#include "guardian/probe.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>

#include "guardian/question.hpp"
#include "lib/config/values.hpp"
#include "lib/dns/message.hpp"
#include "lib/result.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;

timespec until(Clock::time_point end) {
  const auto left = std::max(Clock::duration{0}, end - Clock::now());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {static_cast<time_t>(seconds.count()), static_cast<long>(std::chrono::nanoseconds(left - seconds).count())};
}

class Probe {
 public:
  Probe(const Requirement& requirement, int stop, Clock::time_point begin, const std::string& query)
      : requirement_(requirement),
        stop_(stop),
        tcp_begin_(begin + requirement.timeout / 2),
        end_(begin + requirement.timeout),
        udp_(SOCK_DGRAM, query),
        tcp_(SOCK_STREAM, query) {}

  std::string run(const SocketAddress& server) {
    udp_.begin(server);
    for (;;) {
      const auto now = Clock::now();
      if (!tried(tcp_) && (failed(udp_) || now >= tcp_begin_)) tcp_.begin(server);
      for (const Question* question : {&udp_, &tcp_}) {
        if (question->progress() == Question::Progress::answered) return {};
        if (question->progress() == Question::Progress::refused) return refuses(question->why());
      }
      if (failed(udp_) && failed(tcp_)) return requirement_.nameserver.text() + ' ' + tcp_.why();
      if (now >= end_) return silent();
      if (std::string why = wait(tried(tcp_) ? end_ : tcp_begin_); !why.empty()) return why;
    }
  }

 private:
  static bool tried(const Question& question) { return question.progress() != Question::Progress::none; }
  static bool failed(const Question& question) { return question.progress() == Question::Progress::failed; }

  // The reason why nothing is waited for any more, or empty.
  std::string wait(Clock::time_point end) {
    std::array<pollfd, 3> polled{{{stop_, POLLIN, 0}, udp_.polled(), tcp_.polled()}};
    const timespec left = until(end);  // ppoll(2): poll(2) has milliseconds, and would end too early or too late
    const int ready = ::ppoll(polled.data(), polled.size(), &left, nullptr);
    if (ready < 0) return errno == EINTR ? std::string() : errno_error("poll").text();
    if (polled[0].revents != 0) return "stopped";
    if (polled[1].revents != 0) udp_.go_on();
    if (polled[2].revents != 0) tcp_.go_on();
    return {};
  }

  [[nodiscard]] std::string refuses(const std::string& word) const {
    return fmt::format("{} refuses {} ({})", requirement_.nameserver.text(), requirement_.answers, word);
  }
  [[nodiscard]] std::string silent() const {
    return fmt::format("{} didn't answer {} within {}", requirement_.nameserver.text(), requirement_.answers,
                       duration_text(requirement_.timeout));
  }

  const Requirement& requirement_;
  int stop_;
  Clock::time_point tcp_begin_, end_;
  Question udp_, tcp_;
};

}  // namespace

std::string probe(const Requirement& requirement, int stop, std::uint16_t port) {
  const auto begin = Clock::now();
  // Nobody who doesn't see the query shall be able to answer it (RFC 5452 4.3). Early in the boot getrandom(2) would
  // block for as long as the kernel has no entropy.
  std::uint16_t id = 0;
  if (::getrandom(&id, sizeof id, GRND_NONBLOCK) != sizeof id) return errno_error("no random number").text();
  const std::string query = dns::query(id, requirement.answers);
  if (query.empty()) return requirement.answers + " is no domain name";
  const auto server = socket_address(requirement.nameserver, port);
  if (server) return Probe(requirement, stop, begin, query).run(*server);
  return fmt::format("{} can't be reached: there is no interface {}", requirement.nameserver.text(),
                     requirement.nameserver.zone());
}

}  // namespace rg
