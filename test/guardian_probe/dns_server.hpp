// A DNS server of the test's own on a free port of a loopback address: what it does with a query the test says.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lib/tree/file_descriptor.hpp"

namespace rg::test {

class DnsServer {
 public:
  /// What is sent back, in so many datagrams or pieces; an empty piece closes a connection. On the server's thread.
  using Replies = std::function<std::vector<std::string>(const std::string& query, DnsServer& server)>;

  /// Nothing listens where there is no function, and nobody else can take the port.
  DnsServer(const std::string& address, Replies udp, Replies tcp);
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;
  ~DnsServer();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// To who has asked last over UDP. On the server's thread.
  void send_datagram(const std::string& message) const { send_from(udp_.get(), message); }
  /// The same from another port.
  void send_from_elsewhere(const std::string& message) const;

 private:
  bool take_port(int family);
  void serve();
  void take_datagram();
  void take_connection();
  void send_from(int socket, const std::string& message) const;

  Replies on_udp_, on_tcp_;
  sockaddr_storage address_{}, asker_{};
  socklen_t size_ = 0;
  std::uint16_t port_ = 0;
  FileDescriptor udp_, tcp_, stop_;
  std::vector<FileDescriptor> connections_;
  std::thread thread_;
};

/// Whether a socket can be bound to that address here.
[[nodiscard]] bool has_address(const std::string& address);

/// The message that answers `query` with this code and nothing else.
[[nodiscard]] std::string dns_answer(std::string query, unsigned code = 0);

/// `message` as it is sent over TCP.
[[nodiscard]] std::string with_length(const std::string& message);

}  // namespace rg::test
