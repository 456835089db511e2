// The control socket: one JSON object a line asks, one answers. RUNTIME_DIR/control.sock, mode 0600.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/result.hpp"

namespace rg {

/// Gives the answer to a request, now or later, once.
class Answer {
 public:
  using Reply = std::function<void(const boost::json::object&)>;
  Answer(Reply reply, std::shared_ptr<std::function<void()>> gone) : reply_(std::move(reply)), gone_(std::move(gone)) {}
  void operator()(const boost::json::object& object) const { reply_(object); }
  /// Called when the client leaves without having been answered.
  void when_gone(std::function<void()> action) const { *gone_ = std::move(action); }

 private:
  Reply reply_;
  std::shared_ptr<std::function<void()>> gone_;
};
using Handler = std::function<void(const boost::json::object& request, Answer answer)>;

class ControlServer {
 public:
  static Result<std::unique_ptr<ControlServer>> listen(boost::asio::io_context& io, const std::string& runtime_dir,
                                                       Handler handler);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  void close();  ///< no new sessions; the socket's name is gone

 private:
  ControlServer(boost::asio::io_context& io, std::string path, Handler handler);
  void accept();
  void accept_later();
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::shared_ptr<int> sessions_ = std::make_shared<int>(0);
  std::string path_;
  Handler handler_;
};

/// Asks the running guardian and waits for its answer, at most `limit`. Blocks. ENOENT and ECONNREFUSED: there is none;
/// EACCES: it answers root alone; ETIMEDOUT: it is there and says nothing.
[[nodiscard]] Result<boost::json::object> ask(const std::string& runtime_dir, const boost::json::object& request,
                                              std::chrono::milliseconds limit = std::chrono::seconds{10});

}  // namespace rg
