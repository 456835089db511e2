#include "test/guardian_probe/dns_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace rg::test {
namespace {

socklen_t loopback(const std::string& text, std::uint16_t port, sockaddr_storage& into) {
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&into, &six, sizeof six);
    return sizeof six;
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) != 1) throw std::logic_error("no address");
  std::memcpy(&into, &four, sizeof four);
  return sizeof four;
}

const sockaddr* plain(const sockaddr_storage& address) { return reinterpret_cast<const sockaddr*>(&address); }
sockaddr* plain(sockaddr_storage& address) { return reinterpret_cast<sockaddr*>(&address); }

FileDescriptor new_socket(int family, int type) { return FileDescriptor(::socket(family, type | SOCK_CLOEXEC, 0)); }

void need(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace

DnsServer::DnsServer(const std::string& address, Replies udp, Replies tcp)
    : on_udp_(std::move(udp)), on_tcp_(std::move(tcp)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  size_ = loopback(address, 0, address_);
  bool taken = false;
  for (int i = 0; i < 50 && !taken; ++i) taken = take_port(address_.ss_family);
  need(taken, "no free port");
  if (on_tcp_) need(::listen(tcp_.get(), 8) == 0, "listen");
  // A datagram for a socket that is connected to another peer meets a closed port.
  sockaddr_storage nobody{};
  const socklen_t size = loopback(address, 1, nobody);
  if (!on_udp_) need(::connect(udp_.get(), plain(nobody), size) == 0, "connect");
  thread_ = std::thread([this] { serve(); });
}

DnsServer::~DnsServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

// The same port of both transports.
bool DnsServer::take_port(int family) {
  tcp_ = new_socket(family, SOCK_STREAM);
  udp_ = new_socket(family, SOCK_DGRAM);
  sockaddr_storage bound = address_;
  socklen_t size = sizeof bound;
  if (::bind(tcp_.get(), plain(address_), size_) != 0 || ::getsockname(tcp_.get(), plain(bound), &size) != 0)
    return false;
  const bool six = family == AF_INET6;
  port_ =
      ntohs(six ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port : reinterpret_cast<sockaddr_in&>(bound).sin_port);
  return ::bind(udp_.get(), plain(bound), size) == 0;
}

void DnsServer::serve() {
  for (;;) {
    std::array<pollfd, 3> polled{
        {{stop_.get(), POLLIN, 0}, {on_udp_ ? udp_.get() : -1, POLLIN, 0}, {on_tcp_ ? tcp_.get() : -1, POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    if (polled[1].revents != 0) take_datagram();
    if (polled[2].revents != 0) take_connection();
  }
}

void DnsServer::take_datagram() {
  std::array<char, 1024> bytes{};
  socklen_t size = sizeof asker_;
  const ssize_t got = ::recvfrom(udp_.get(), bytes.data(), bytes.size(), 0, plain(asker_), &size);
  if (got <= 0) return;
  for (const auto& reply : on_udp_({bytes.data(), static_cast<std::size_t>(got)}, *this)) send_datagram(reply);
}

// The query is sent as one, and comes so over a loopback.
void DnsServer::take_connection() {
  FileDescriptor connection(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::array<char, 1024> bytes{};
  const ssize_t got = ::recv(connection.get(), bytes.data(), bytes.size(), 0);
  if (got < 2) return;
  for (const auto& reply : on_tcp_({bytes.data() + 2, static_cast<std::size_t>(got - 2)}, *this)) {
    if (reply.empty()) return;
    ::send(connection.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  }
  connections_.push_back(std::move(connection));
}

void DnsServer::send_from(int socket, const std::string& message) const {
  ::sendto(socket, message.data(), message.size(), 0, plain(asker_), size_);
}

void DnsServer::send_from_elsewhere(const std::string& message) const {
  send_from(new_socket(address_.ss_family, SOCK_DGRAM).get(), message);
}

bool has_address(const std::string& address) {
  sockaddr_storage bytes{};
  const socklen_t size = loopback(address, 0, bytes);
  const FileDescriptor socket = new_socket(bytes.ss_family, SOCK_DGRAM);
  return socket && ::bind(socket.get(), plain(bytes), size) == 0;
}

std::string dns_answer(std::string query, unsigned code) {
  query.at(2) = static_cast<char>(0x81);
  query.at(3) = static_cast<char>(0x80U | code);
  return query;
}

std::string with_length(const std::string& message) {
  return std::string{static_cast<char>(message.size() >> 8U), static_cast<char>(message.size() & 0xffU)} + message;
}

}  // namespace rg::test
