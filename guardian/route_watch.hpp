// Tells when an address that the kernel would send from may be another one. Main thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

namespace rg {

class RouteWatch {
 public:
  /// `changed` is called at once for the first change, and for those that follow together, every 100 ms at most. Where
  /// the kernel can't be asked to tell, it is called each second, and `warn` says so.
  RouteWatch(boost::asio::io_context& io, std::function<void()> changed, const std::function<void(std::string)>& warn);

 private:
  void await();
  void gather();
  void look_each_second();
  bool drain();

  std::function<void()> changed_;
  boost::asio::posix::stream_descriptor events_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<const int> alive_ = std::make_shared<const int>();  // a handler may be under way when we go
};

}  // namespace rg
