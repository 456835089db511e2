#include "guardian/directory_locks.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <set>
#include <utility>

#include "guardian/keeper.hpp"
#include "guardian/own_descriptors.hpp"
#include "guardian/spawner.hpp"

namespace rg {
namespace {

constexpr std::chrono::seconds kAnswerWithin{1};
constexpr std::size_t kMostThreads = 8;

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

// Some threads that take one directory after the other: as many may hang before the others have to wait.
struct DirectoryLocks::Round {
  std::vector<std::string> folders;
  FileDescriptor here, there;
  std::mutex mutex;
  std::set<LockedNode> claimed;  // ours, or being locked by one of the threads
  std::set<std::size_t> tried;   // the folders that some thread is at
  std::size_t next = 0;          // the first folder that nobody has begun
  std::list<std::thread> threads;

  std::optional<std::size_t> take(std::optional<std::size_t> done) {
    const std::lock_guard lock(mutex);
    if (done) tried.erase(*done);
    if (next >= folders.size()) return std::nullopt;
    tried.insert(next);
    return next++;
  }
  bool claim(const LockedNode& node) {
    const std::lock_guard lock(mutex);
    return claimed.insert(node).second;
  }
  // What nobody has begun isn't begun any more. The folders that threads are stuck at.
  std::set<std::string> give_up() {
    const std::lock_guard lock(mutex);
    next = folders.size();
    std::set<std::string> stuck;
    for (const std::size_t at : tried) stuck.insert(folders[at]);
    return stuck;
  }
  void run(const SharedDescriptor& root, const Mailbox& mailbox) {
    block_signals();
    own_descriptors({root->get(), there.get(), mailbox.descriptor()});
    for (auto at = take(std::nullopt); at; at = take(at)) {
      const LockTry tried_it = lock_folder(root, folders[*at], [this](const LockedNode& node) { return claim(node); });
      tell(there.get(), {tried_it.came, tried_it.node, tried_it.error, *at}, tried_it.fd.get());
    }
  }
};

DirectoryLocks::DirectoryLocks(boost::asio::io_context& io, std::shared_ptr<Mailbox> mailbox, SharedDescriptor root)
    : mailbox_(std::move(mailbox)), root_(std::move(root)), timer_(io) {}

DirectoryLocks::~DirectoryLocks() {
  if (round_) abandoned_.push_back(round_);
  for (const auto& round : abandoned_) {
    for (std::thread& thread : round->threads) thread.join();
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
  std::vector<std::string> folders = *std::exchange(next_, std::nullopt);
  for (const auto& stuck : abandoned_) {  // what a thread is stuck at holds up no second one
    const std::set<std::string> at = stuck->give_up();
    if (std::erase_if(folders, [&](const std::string& folder) { return at.contains(folder); }) != 0) complete_ = false;
  }
  if (folders.empty()) return finish();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    error_ = errno_error("socketpair");
    return finish();
  }
  round_ = std::make_shared<Round>();
  round_->here = FileDescriptor(ends[0]);
  round_->there = FileDescriptor(ends[1]);
  for (const Lock& lock : locks_) round_->claimed.insert(lock.node);
  round_->folders = std::move(folders);
  for (std::size_t i = 0; i < std::min(round_->folders.size(), kMostThreads); ++i) start_one();
  if (round_->threads.empty()) {
    round_.reset();
    return finish();
  }
  timer_.expires_after(kAnswerWithin);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && round_) abandon();
  });
}

void DirectoryLocks::start_one() {
  const auto self = round_->threads.emplace(round_->threads.end());
  auto started = start_thread(*self, [this, self, round = round_.get()] {
    round->run(root_, *mailbox_);
    mailbox_->post([this, self, round] { thread_ended(round, self); });
  });
  if (started) return;
  round_->threads.erase(self);
  if (round_->threads.empty()) error_ = started.error();
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

void DirectoryLocks::thread_ended(Round* round, std::list<std::thread>::iterator thread) {
  thread->join();
  round->threads.erase(thread);
  collect(*round);
  if (!round->threads.empty()) return;
  const auto is_it = [&](const auto& other) { return other.get() == round; };
  if (std::erase_if(abandoned_, is_it) != 0) return;
  round_.reset();
  timer_.cancel();
  finish();
}

// Some thread is stuck: nobody waits for it, and what it comes to is taken when it comes.
void DirectoryLocks::abandon() {
  collect(*round_);
  complete_ = false;
  (void)round_->give_up();
  abandoned_.push_back(std::exchange(round_, nullptr));
  finish();
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
