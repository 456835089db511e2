// A thread for what is written and may block: the log, the history, the generation. The main thread only hands it over,
// so that a pipe nobody reads or a frozen disk never keeps it from signals, status and the watchdog.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace rg {

class Recorder {
 public:
  /// `lost` is told how many jobs were dropped, on the recorder's thread, once it gets on again.
  explicit Recorder(std::function<void(std::size_t)> lost);
  ~Recorder();  ///< does what is left, then ends
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// In order. Past 10,000 waiting jobs a new one is dropped: a log that nobody reads must not take all memory.
  void post(std::function<void()> job);

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::function<void(std::size_t)> lost_;
  std::size_t dropped_ = 0;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace rg
