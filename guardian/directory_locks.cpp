#include "guardian/directory_locks.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "guardian/keeper.hpp"
#include "guardian/own_descriptors.hpp"
#include "guardian/spawner.hpp"

namespace rg {
namespace {

constexpr std::chrono::seconds kAnswerWithin{1};

struct Told {
  LockTry::Came came;
  LockedNode node;
  int error;
  std::size_t folder;
};

// A descriptor goes from one table to another by SCM_RIGHTS, unix(7).
void tell(int socket, Told told, int fd) {
  iovec bytes{&told, sizeof told};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  }
  (void)::sendmsg(socket, &message, MSG_NOSIGNAL);
}

std::optional<std::pair<Told, FileDescriptor>> hear(int socket) {
  Told told{};
  iovec bytes{&told, sizeof told};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof told)) return {};
  int fd = -1;
  const cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  return std::pair{told, FileDescriptor(fd)};
}

}  // namespace

struct DirectoryLocks::Round {
  std::vector<std::string> folders;
  std::vector<LockedNode> held;
  FileDescriptor here, there;
  std::atomic<std::size_t> at{0};
  std::atomic<bool> given_up{false};  // what follows is another thread's
  std::string stuck;                  // the folder that it was given up at
  std::thread thread;

  void run(const SharedDescriptor& root, const Mailbox& mailbox) {
    block_signals();
    own_descriptors({root->get(), there.get(), mailbox.descriptor()});
    for (; at < folders.size() && !given_up; ++at) {
      const LockTry tried = lock_folder(root, folders[at], held);
      if (tried.came == LockTry::Came::locked) held.push_back(tried.node);
      tell(there.get(), {tried.came, tried.node, tried.error, at}, tried.fd.get());
    }
  }
};

DirectoryLocks::DirectoryLocks(boost::asio::io_context& io, std::shared_ptr<Mailbox> mailbox, SharedDescriptor root)
    : mailbox_(std::move(mailbox)), root_(std::move(root)), timer_(io) {}

DirectoryLocks::~DirectoryLocks() {
  if (round_) abandoned_.push_back(round_);
  for (const auto& round : abandoned_) {
    if (round->thread.joinable()) round->thread.join();
  }
}

void DirectoryLocks::take(const std::vector<Policy>& guards, std::function<void(Result<void>)> done) {
  done_ = std::move(done);
  next_ = lock_folders(guards);
  if (!round_) begin_anew();
}

void DirectoryLocks::begin_anew() {
  wanted_.clear();
  error_.reset();
  complete_ = true;
  begin(*std::exchange(next_, std::nullopt));
}

void DirectoryLocks::begin(std::vector<std::string> folders) {
  for (const auto& stuck : abandoned_) {  // what a thread is stuck at holds up no second one
    if (std::erase(folders, stuck->stuck) != 0) complete_ = false;
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    error_ = errno_error("socketpair");
    return finish();
  }
  round_ = std::make_shared<Round>();
  round_->folders = std::move(folders);
  round_->held = nodes();
  round_->here = FileDescriptor(ends[0]);
  round_->there = FileDescriptor(ends[1]);
  auto started = start_thread(round_->thread, [this, round = round_.get()] {
    round->run(root_, *mailbox_);
    mailbox_->post([this, round] { round_ended(round); });
  });
  if (!started) {
    round_.reset();
    error_ = started.error();
    return finish();
  }
  timer_.expires_after(kAnswerWithin);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && round_) abandon();
  });
}

std::vector<LockedNode> DirectoryLocks::nodes() const {
  std::vector<LockedNode> all;
  for (const Lock& lock : locks_) all.push_back(lock.node);
  return all;
}

void DirectoryLocks::collect(Round& round) {
  while (auto heard = hear(round.here.get())) {
    auto& [told, fd] = *heard;
    switch (told.came) {
      case LockTry::Came::missing:
        complete_ = false;
        continue;
      case LockTry::Came::failed:
        if (!error_) error_ = Error{told.error, "lock", round.folders.at(told.folder)};
        continue;
      case LockTry::Came::locked:
        locks_.push_back({told.node, std::move(fd)});
        break;
      case LockTry::Came::held:
        break;
    }
    wanted_.push_back(told.node);
  }
}

void DirectoryLocks::round_ended(Round* round) {
  round->thread.join();
  collect(*round);
  const auto is_it = [&](const auto& other) { return other.get() == round; };
  if (std::erase_if(abandoned_, is_it) != 0) return;
  round_.reset();
  timer_.cancel();
  finish();
}

// It is stuck at one directory: the next thread goes on behind it.
void DirectoryLocks::abandon() {
  collect(*round_);
  const std::size_t at = round_->at;
  if (at >= round_->folders.size()) return;  // it is through: round_ended() is on its way
  complete_ = false;
  std::vector<std::string> rest(round_->folders.begin() + static_cast<std::ptrdiff_t>(at) + 1, round_->folders.end());
  round_->stuck = round_->folders[at];
  round_->given_up = true;
  abandoned_.push_back(std::exchange(round_, nullptr));
  if (rest.empty()) return finish();
  begin(std::move(rest));
}

void DirectoryLocks::finish() {
  const auto unwanted = [&](const Lock& lock) {
    return std::find(wanted_.begin(), wanted_.end(), lock.node) == wanted_.end();
  };
  if (next_) return begin_anew();  // asked again meanwhile
  if (!error_ && abandoned_.empty()) std::erase_if(locks_, unwanted);
  const auto done = std::exchange(done_, {});
  if (!done) return;
  if (error_) return done(*error_);
  done({});
}

}  // namespace rg
