// One DNS question on one socket that never blocks: over UDP or over TCP. Who waits for it is the caller (probe.hpp).
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "guardian/socket_address.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

class Question {
 public:
  enum class Progress { none, waiting, answered, refused, failed };

  /// `query` is one that dns::query() has made; SOCK_DGRAM or SOCK_STREAM. Nothing is opened yet.
  Question(int socket_type, std::string query) : type_(socket_type), query_(std::move(query)) {}

  void begin(const SocketAddress& server);
  /// Once poll(2) says anything of polled().
  void go_on();
  [[nodiscard]] pollfd polled() const;
  [[nodiscard]] Progress progress() const { return progress_; }
  /// Once it failed, worded to follow the server: "can't be reached: Connection refused". Refused: "SERVFAIL".
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  [[nodiscard]] bool stream() const { return type_ == SOCK_STREAM; }
  void send_rest();
  void receive();
  void heed_datagram(std::string_view message);
  void heed_stream(std::string_view bytes);
  void conclude(std::string_view message);
  void fail(std::string why);
  void unreachable(int error);

  int type_;
  std::string query_, unsent_, received_, why_;
  FileDescriptor socket_;
  Progress progress_ = Progress::none;
};

}  // namespace rg
