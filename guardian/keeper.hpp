// What may take its time: a thread that makes restores durable and stores memories, after they are visible and off the
// lane's path. Jobs of one key replace each other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "lib/result.hpp"

namespace rg {

/// Puts the calling thread behind the others of the process by so many nice steps: a restore must not wait for a log
/// line.
void run_behind(int steps);

/// Signals are the main thread's.
void block_signals();

class Keeper {
 public:
  Keeper() = default;
  ~Keeper();  ///< does what is still to be done, then ends
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Begins its thread, once; before that nothing is done. An Error as of start_thread().
  Result<void> start();
  /// Runs `job` once `quiet` has passed without another one of the same key, which it replaces, or after `most`.
  void later(const std::string& key, std::chrono::milliseconds quiet, std::chrono::milliseconds most,
             std::function<void()> job);
  /// Runs `job` now, and waits for its end at most so long. False: it isn't through, and will be when it can.
  bool within(std::chrono::milliseconds limit, const std::function<void()>& job);
  /// The job of this key isn't run, unless it runs already.
  void forget(const std::string& key);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Job {
    std::function<void()> work;
    Time due, latest;
  };
  void run();
  [[nodiscard]] std::map<std::string, Job> take_due();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Job> jobs_;
  Time wakes_ = Time::max();  // when the thread looks at the jobs without being told
  bool end_ = false;
  std::thread thread_;
};

}  // namespace rg
