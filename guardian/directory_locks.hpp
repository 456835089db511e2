// The running guardian's locks on guarded directories. They belong to the main thread's descriptor table, which no
// stuck thread has, and are taken by threads of their own, which a file system may hold up. Main thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "guardian/lock.hpp"
#include "guardian/mailbox.hpp"

namespace rg {

class DirectoryLocks {
 public:
  DirectoryLocks(boost::asio::io_context& io, std::shared_ptr<Mailbox> mailbox, SharedDescriptor root);
  ~DirectoryLocks();
  DirectoryLocks(const DirectoryLocks&) = delete;
  DirectoryLocks& operator=(const DirectoryLocks&) = delete;
  /// Locks the directories of these guards as they are now, then calls `done` and lets go of those that none of them
  /// lies in. A directory that is missing, or doesn't answer within a second, is passed over: complete() is false then.
  /// An Error, as is_taken() where another guardian has one: the former locks stay. A later call takes the place of one
  /// that isn't done, whose `done` is never called.
  void take(const std::vector<Policy>& guards, std::function<void(Result<void>)> done);
  [[nodiscard]] bool complete() const { return complete_; }
  /// A thread waits for a file system that doesn't answer.
  [[nodiscard]] bool any_stuck() const { return !abandoned_.empty(); }
  void release() { locks_.clear(); }

 private:
  struct Lock {
    LockedNode node;
    FileDescriptor fd;
  };
  struct Round;
  void begin_anew();
  void start_one();
  void collect(Round& round);
  void thread_ended(Round* round, std::list<std::thread>::iterator thread);
  void abandon();
  void finish();
  std::shared_ptr<Mailbox> mailbox_;
  SharedDescriptor root_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<Round> round_;                   // the one that is waited for
  std::vector<std::shared_ptr<Round>> abandoned_;  // stuck: what they come to is taken when it comes
  std::optional<std::vector<std::string>> next_;   // folders that are to be locked once this round is over
  std::function<void(Result<void>)> done_;
  std::vector<Lock> locks_;
  std::vector<LockedNode> wanted_;
  std::optional<Error> error_;
  bool complete_ = false;
};

}  // namespace rg
