#include "guardian/control.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
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
constexpr int kMaxSessions = 32;  // a descriptor each; restores need some, too
constexpr std::chrono::seconds kAskWithin{1};
constexpr std::chrono::milliseconds kAcceptAgain{100};

// A socket's address holds 107 bytes; a runtime directory may be deeper. The magic link of its descriptor is short.
struct ShortPath {
  FileDescriptor directory;
  std::string path;
};
ShortPath socket_in(const std::string& runtime_dir) {
  ShortPath address{FileDescriptor(::open(runtime_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), {}};
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
  Session(Socket socket, std::shared_ptr<int> count)
      : socket_(std::move(socket)), limit_(socket_.get_executor()), count_(std::move(count)) {
    ++*count_;
  }
  ~Session() { --*count_; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start(const Handler& handler) {
    auto self = shared_from_this();
    limit_.expires_after(kAskWithin);  // a client that says nothing isn't waited for
    limit_.async_wait([self](const boost::system::error_code& error) {
      if (!error) self->close();
    });
    asio::async_read_until(socket_, asio::dynamic_buffer(request_, kMaxRequest), '\n',
                           [self, handler](const boost::system::error_code& error, std::size_t length) {
                             self->limit_.cancel();
                             if (!error) self->take(handler, length);
                           });
  }

 private:
  void take(const Handler& handler, std::size_t length) {
    auto self = shared_from_this();
    const auto request = parse_object(std::string_view(request_).substr(0, length));
    const Answer answer([self](const boost::json::object& object) { self->reply(object); }, gone_);
    if (!request) return answer({{"error", "not a JSON object"}});
    asio::async_read(socket_, asio::buffer(rest_), [self](const boost::system::error_code&, std::size_t) {
      if (self->answered_) return;
      self->answered_ = true;  // he left, or said more than one line
      self->close();
      const auto action = std::exchange(*self->gone_, nullptr);
      if (action) action();
    });
    handler(*request, answer);
  }

  void reply(const boost::json::object& object) {
    if (std::exchange(answered_, true)) return;
    *gone_ = nullptr;
    answer_ = boost::json::serialize(object) + "\n";
    auto self = shared_from_this();
    asio::async_write(socket_, asio::buffer(answer_),
                      [self](const boost::system::error_code&, std::size_t) { self->close(); });
  }

  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  Socket socket_;
  asio::steady_timer limit_;
  std::shared_ptr<int> count_;
  std::string request_, answer_;
  std::array<char, 1> rest_{};
  bool answered_ = false;
  std::shared_ptr<std::function<void()>> gone_ = std::make_shared<std::function<void()>>();
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::listen(asio::io_context& io, const std::string& runtime_dir,
                                                             Handler handler) {
  // This socket and every watch of a file are named by their descriptors there.
  if (::access("/proc/self/fd", X_OK) != 0) return errno_error("proc(5) must be mounted: look into", "/proc/self/fd");
  const std::string path = runtime_dir + "/control.sock";
  std::unique_ptr<ControlServer> server(new ControlServer(io, path, std::move(handler)));
  const ShortPath address = socket_in(runtime_dir);
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
    : acceptor_(io), pause_(io), path_(std::move(path)), handler_(std::move(handler)) {}

ControlServer::~ControlServer() { close(); }

void ControlServer::close() {
  if (!acceptor_.is_open()) return;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  ::unlink(path_.c_str());
}

// Out of descriptors, or too many clients at once: again in a while, not in a loop.
void ControlServer::accept_later() {
  pause_.expires_after(kAcceptAgain);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error && acceptor_.is_open()) accept();
  });
}

void ControlServer::accept() {
  if (*sessions_ >= kMaxSessions) return accept_later();
  acceptor_.async_accept([this](const boost::system::error_code& error, Socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) return accept_later();
    std::make_shared<Session>(std::move(socket), sessions_)->start(handler_);
    accept();
  });
}

Result<boost::json::object> ask(const std::string& runtime_dir, const boost::json::object& request,
                                std::chrono::milliseconds limit) {
  const auto failed = [](const char* doing) {
    const bool in_time = errno != EAGAIN;
    return Error{in_time ? errno : ETIMEDOUT, doing};
  };
  const ShortPath address = socket_in(runtime_dir);
  if (!address.directory) return failed("look for the guardian");
  const FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failed("ask the guardian");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timeval time{seconds.count(), std::chrono::microseconds(limit - seconds).count()};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    (void)::setsockopt(fd.get(), SOL_SOCKET, option, &time, sizeof time);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::strncpy(to.sun_path, address.path.c_str(), sizeof to.sun_path - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return failed("ask the guardian");
  const std::string line = boost::json::serialize(request) + "\n";
  if (::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return failed("ask the guardian");
  std::string answer;
  std::array<char, 8192> block{};
  while (answer.empty() || answer.back() != '\n') {
    const ssize_t got = ::recv(fd.get(), block.data(), block.size(), 0);
    if (got < 0) return failed("wait for the guardian's answer");
    if (got == 0) break;
    answer.append(block.data(), static_cast<std::size_t>(got));
  }
  if (auto object = parse_object(answer)) return std::move(*object);
  return Error{ECONNRESET, "wait for the guardian's answer"};
}

}  // namespace rg
