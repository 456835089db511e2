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

namespace rg {

class Keeper {
 public:
  Keeper();
  ~Keeper();  ///< does what is still to be done, then ends
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Runs `job` within some 20 ms, instead of a waiting one of the same key.
  void later(const std::string& key, std::function<void()> job);
  /// Returns when everything that was given before is done.
  void flush();

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::map<std::string, std::function<void()>> jobs_;
  bool busy_ = false, hurry_ = false, end_ = false;
  std::thread thread_;
};

}  // namespace rg
