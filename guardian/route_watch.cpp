#include "guardian/route_watch.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "lib/result.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {
namespace {

constexpr std::chrono::milliseconds kGather{100};
constexpr std::chrono::seconds kEachSecond{1};
// What the messages say doesn't matter, only that there are some: the kernel may drop most of a storm. It tells so by
// ENOBUFS (netlink(7)), which is a change like any other.
constexpr int kReceiveBuffer = 4096;
constexpr int kMostMessages = 64;  // of one look: whoever sends them may be faster than we are

constexpr unsigned group(unsigned number) { return 1U << (number - 1); }

// Links too: an IPv4 route that goes with its interface is never told of (fib_flush() in net/ipv4/fib_trie.c), nor is
// one that goes with its nexthop object. A kernel before 5.3 doesn't know that group and leaves it out.
constexpr unsigned kGroups = group(RTNLGRP_LINK) | group(RTNLGRP_IPV4_IFADDR) | group(RTNLGRP_IPV4_ROUTE) |
                             group(RTNLGRP_IPV4_RULE) | group(RTNLGRP_IPV6_IFADDR) | group(RTNLGRP_IPV6_ROUTE) |
                             group(RTNLGRP_IPV6_RULE) | group(RTNLGRP_NEXTHOP);

Result<FileDescriptor> listen_to_routes() {
  FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!socket) return errno_error("a netlink socket");
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = kGroups;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return errno_error("a netlink socket");
  }
  return socket;
}

}  // namespace

RouteWatch::RouteWatch(boost::asio::io_context& io, std::function<void()> changed,
                       const std::function<void(std::string)>& warn)
    : changed_(std::move(changed)), events_(io), timer_(io) {
  auto socket = listen_to_routes();
  if (!socket) {
    warn("source addresses are looked at every second, for changes of routes aren't told: " + socket.error().text());
    look_each_second();
    return;
  }
  events_.assign(socket->release());
  await();
}

void RouteWatch::await() {
  events_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                       if (error || alive.expired()) return;
                       (void)drain();
                       gather();
                       changed_();
                     });
}

// An address is told of before its routes are made, and a link before its routes are gone: so it is looked once more
// when nothing has come for a while.
void RouteWatch::gather() {
  timer_.expires_after(kGather);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired()) return;
    if (drain())
      gather();
    else
      await();
    changed_();
  });
}

void RouteWatch::look_each_second() {
  timer_.expires_after(kEachSecond);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired()) return;
    look_each_second();
    changed_();
  });
}

// True where there was anything.
bool RouteWatch::drain() {
  bool any = false;
  for (int i = 0; i < kMostMessages; ++i) {
    char byte = 0;  // the rest of the message goes with it
    const auto received = ::recv(events_.native_handle(), &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno != ENOBUFS) return any;
    any = true;
  }
  return any;
}

}  // namespace rg
