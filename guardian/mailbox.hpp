// What other threads have for the main thread: it is run there, in order. Asio's own post() wakes its thread through
// descriptors that a lane doesn't have in its table (own_descriptors.hpp); this one has a single eventfd for it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/result.hpp"

namespace rg {

class Mailbox {
 public:
  static Result<std::unique_ptr<Mailbox>> create(boost::asio::io_context& io);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// Any thread that has descriptor() open in its table.
  void post(std::function<void()> job);
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  Mailbox(boost::asio::io_context& io, int descriptor);
  void await();
  int descriptor_;
  boost::asio::posix::stream_descriptor events_;
  std::mutex mutex_;
  std::vector<std::function<void()>> jobs_;
};

}  // namespace rg
