// A lane: a thread that watches, judges and writes the guards of the same file systems, inline. This is its handle: the
// main thread sends messages and gets reports. A file system that doesn't answer holds up its lane and nothing else.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "guardian/deadline_watch.hpp"
#include "guardian/lane_guard.hpp"
#include "guardian/mailbox.hpp"
#include "guardian/report.hpp"
#include "guardian/source_address.hpp"
#include "guardian/spawner.hpp"
#include "guardian/targets.hpp"
#include "lib/store/state_file.hpp"
#include "lib/tree/walk.hpp"

namespace rg {

class LaneLoop;

/// What all lanes share.
struct LaneWorld {
  SharedDescriptor root;
  bool selinux = false;
  StateDirectory state;
  std::shared_ptr<Mailbox> mailbox;
  std::shared_ptr<Targets> targets;
  std::shared_ptr<SourceAddresses> addresses;
  std::shared_ptr<Spawner> spawner;
  /// Called in the mailbox, that is on the main thread.
  std::function<void(Report)> report;
  std::function<void(std::size_t guard, std::uint64_t generation, std::uint64_t ticket, GlobMatch match)> listed;
  /// Any thread: what came of writing into the state directory.
  std::function<void(const Result<void>&)> stored;
};

class Lane {
 public:
  struct Message {
    std::string path;  ///< of the guard that it is for; empty: the lane's own
    std::function<void(LaneLoop&)> job;
    bool at_end = false;  ///< done by a lane that is ending, too
  };
  /// What a stuck lane was made to give up.
  struct Rescued {
    std::vector<std::unique_ptr<LaneGuard>> guards;
    std::vector<Lister> listers;
    std::vector<Message> messages;  ///< that were for them
  };

  /// `ended` is called in the mailbox when the thread is through: nothing is written any more.
  static Result<std::unique_ptr<Lane>> create(std::shared_ptr<const LaneWorld> world, std::function<void()> ended);
  ~Lane();  ///< waits for the thread's end
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Any thread. Messages are carried out in their order.
  void send(Message message);
  /// `on_exit` of every guard, then the end of the thread. No new write begins.
  void stop();

  // The main thread:
  [[nodiscard]] DeadlineWatch& deadline() { return *deadline_; }
  /// Where the lane is late: takes all other guards from it.
  Rescued rescue();

  // The lane's thread:
  /// One at a time: those behind it can still be rescued.
  std::optional<Message> take_message();
  [[nodiscard]] bool is_stopping() const { return stopping_; }
  [[nodiscard]] int wake_descriptor() const { return wake_.get(); }

 private:
  Lane(std::shared_ptr<const LaneWorld> world, FileDescriptor wake, std::unique_ptr<DeadlineWatch> deadline);
  void run(const std::function<void(Result<void>)>& begun, const std::function<void()>& ended);
  std::shared_ptr<const LaneWorld> world_;
  FileDescriptor wake_;
  std::unique_ptr<DeadlineWatch> deadline_;
  std::mutex mutex_;
  std::deque<Message> messages_;
  std::atomic<bool> stopping_{false};
  LaneLoop* loop_ = nullptr;  // on the thread's own stack: its descriptors belong to the thread's own table
  std::thread thread_;
};

}  // namespace rg
