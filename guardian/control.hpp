// The control socket: one JSON object a line asks, one answers. RUNTIME_DIR/control.sock, mode 0600.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/result.hpp"

namespace rg {

/// Gives the answer to a request, now or later, once.
using Answer = std::function<void(boost::json::object)>;
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
  boost::asio::local::stream_protocol::acceptor acceptor_;
  std::string path_;
  Handler handler_;
};

/// Asks the running guardian and waits for its answer; nullopt: none answers. Blocks.
[[nodiscard]] std::optional<boost::json::object> ask(const std::string& runtime_dir,
                                                     const boost::json::object& request);

}  // namespace rg
