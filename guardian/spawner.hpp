// Starts threads: an Error where the system has none left, not an exception.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lib/result.hpp"

namespace rg {

/// Makes `thread` one that runs `work`. EAGAIN: a limit of threads (ulimit -u, the cgroup's pids.max) is reached.
Result<void> start_thread(std::thread& thread, std::function<void()> work);

/// Starts threads at the nice value of the thread that made it: a thread inherits that of its maker, and who has put
/// himself behind the others can't make one that isn't, without CAP_SYS_NICE.
class Spawner {
 public:
  static Result<std::unique_ptr<Spawner>> create();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;
  /// As start_thread(). One at a time.
  Result<void> start(std::thread& thread, std::function<void()> work);

 private:
  Spawner() = default;
  void run();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::function<void()> work_;  // waits for its thread
  std::thread* into_ = nullptr;
  Result<void> result_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace rg
