#include "guardian/control.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <cstring>

#include "lib/tree/file_descriptor.hpp"

namespace rg {
namespace {

namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;
constexpr std::size_t kMaxRequest = 65536;

// A socket's address holds 107 bytes; a runtime directory may be deeper. The magic link of its descriptor is short.
struct SocketAddress {
  FileDescriptor directory;
  std::string path;
};
SocketAddress address_in(const std::string& runtime_dir) {
  SocketAddress address{FileDescriptor(::open(runtime_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), {}};
  address.path = "/proc/self/fd/" + std::to_string(address.directory.get()) + "/control.sock";
  return address;
}

std::optional<boost::json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  auto value = boost::json::parse(boost::json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

// One connection: it asks once and is answered once.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Socket socket) : socket_(std::move(socket)) {}

  void start(const Handler& handler) {
    auto self = shared_from_this();
    asio::async_read_until(socket_, asio::dynamic_buffer(request_, kMaxRequest), '\n',
                           [self, handler](const boost::system::error_code& error, std::size_t length) {
                             if (error) return;
                             const auto request = parse_object(std::string_view(self->request_).substr(0, length));
                             const auto answer = [self](const boost::json::object& object) { self->reply(object); };
                             if (!request) return answer({{"error", "not a JSON object"}});
                             handler(*request, answer);
                           });
  }

 private:
  void reply(const boost::json::object& object) {
    answer_ = boost::json::serialize(object) + "\n";
    auto self = shared_from_this();
    asio::async_write(socket_, asio::buffer(answer_), [self](const boost::system::error_code&, std::size_t) {});
  }

  Socket socket_;
  std::string request_, answer_;
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::listen(asio::io_context& io, const std::string& runtime_dir,
                                                             Handler handler) {
  const std::string path = runtime_dir + "/control.sock";
  std::unique_ptr<ControlServer> server(new ControlServer(io, path, std::move(handler)));
  const SocketAddress address = address_in(runtime_dir);
  ::unlink(path.c_str());  // the lock of the runtime directory says that nobody listens there
  boost::system::error_code error;
  server->acceptor_.open(asio::local::stream_protocol(), error);
  const mode_t before = ::umask(0177);
  if (!error) server->acceptor_.bind(asio::local::stream_protocol::endpoint(address.path), error);
  ::umask(before);
  if (!error) server->acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return Error(error.value(), "listen on", path);
  server->accept();
  return server;
}

ControlServer::ControlServer(asio::io_context& io, std::string path, Handler handler)
    : acceptor_(io), path_(std::move(path)), handler_(std::move(handler)) {}

ControlServer::~ControlServer() { close(); }

void ControlServer::close() {
  if (!acceptor_.is_open()) return;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  ::unlink(path_.c_str());
}

void ControlServer::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, Socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!error) std::make_shared<Session>(std::move(socket))->start(handler_);
    accept();
  });
}

std::optional<boost::json::object> ask(const std::string& runtime_dir, const boost::json::object& request) {
  const SocketAddress address = address_in(runtime_dir);
  const FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::strncpy(to.sun_path, address.path.c_str(), sizeof to.sun_path - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return std::nullopt;
  const std::string line = boost::json::serialize(request) + "\n";
  if (::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
    return std::nullopt;
  std::string answer;
  std::array<char, 8192> block{};
  for (;;) {
    const ssize_t got = ::recv(fd.get(), block.data(), block.size(), 0);
    if (got <= 0) break;
    answer.append(block.data(), static_cast<std::size_t>(got));
    if (answer.back() == '\n') break;
  }
  return parse_object(answer);
}

}  // namespace rg
