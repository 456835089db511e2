#include "guardian/question.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "lib/dns/message.hpp"
#include "lib/result.hpp"

namespace rg {
namespace {

// RFC 1035 4.2.2: over TCP a message stands behind its length, two bytes.
constexpr std::size_t kLength = 2;

std::size_t length_at_start(std::string_view bytes) {
  return static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) << 8U | static_cast<unsigned char>(bytes[1]);
}

std::string with_length(const std::string& message) {
  return std::string{static_cast<char>(message.size() >> 8U & 0xffU), static_cast<char>(message.size() & 0xffU)} +
         message;
}

bool again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

void Question::begin(const SocketAddress& server) {
  progress_ = Progress::waiting;
  unsent_ = stream() ? with_length(query_) : query_;
  const auto* address = reinterpret_cast<const sockaddr*>(&server.bytes);
  socket_ = FileDescriptor(::socket(address->sa_family, type_ | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return unreachable(errno);
  // Connected over UDP too: then the kernel passes on what comes from that server alone, and its "port unreachable"
  // (udp(7)). A connection that isn't made yet, interrupted or not, goes on behind our back (connect(2)).
  const int rc = ::connect(socket_.get(), address, server.size);
  if (rc != 0 && errno != EINPROGRESS && errno != EINTR) return unreachable(errno);
  send_rest();
}

void Question::go_on() { return unsent_.empty() ? receive() : send_rest(); }

pollfd Question::polled() const { return {socket_.get(), static_cast<short>(unsent_.empty() ? POLLIN : POLLOUT), 0}; }

// Before TCP is connected send(2) says EAGAIN, and once that has failed what it failed with.
void Question::send_rest() {
  const ssize_t sent = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (sent < 0) return again(errno) ? void() : unreachable(errno);
  unsent_.erase(0, static_cast<std::size_t>(sent));
}

// One at a time: whoever sends without end can't keep the caller from its deadline.
void Question::receive() {
  std::array<char, 4096> bytes;
  const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (size < 0) return again(errno) ? void() : unreachable(errno);
  const std::string_view got(bytes.data(), static_cast<std::size_t>(size));
  return stream() ? heed_stream(got) : heed_datagram(got);
}

// Anyone can forge a datagram of that server; ours may still come.
void Question::heed_datagram(std::string_view message) {
  if (dns::judge(message, query_) != dns::Verdict::not_ours) conclude(message);
}

void Question::heed_stream(std::string_view bytes) {
  if (bytes.empty()) return fail("closed the connection before it had answered");
  received_ += bytes;
  if (received_.size() < kLength || received_.size() < kLength + length_at_start(received_)) return;
  conclude(std::string_view(received_).substr(kLength, length_at_start(received_)));
}

void Question::conclude(std::string_view message) {
  switch (dns::judge(message, query_)) {
    case dns::Verdict::answered:
      progress_ = Progress::answered;
      return;
    case dns::Verdict::refused:
      why_ = dns::refusal(message);
      progress_ = Progress::refused;
      return;
    case dns::Verdict::not_ours:
      return fail("answers what it wasn't asked");
  }
}

void Question::fail(std::string why) {
  why_ = std::move(why);
  progress_ = Progress::failed;
  socket_ = FileDescriptor();  // poll(2) passes over a descriptor of -1
}

void Question::unreachable(int error) { fail(Error(error, "can't be reached").text()); }

}  // namespace rg
