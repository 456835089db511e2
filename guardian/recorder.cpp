#include "guardian/recorder.hpp"

#include <csignal>
#include <utility>

#include "guardian/keeper.hpp"

namespace rg {

constexpr std::size_t kMostJobs = 10'000;

Recorder::Recorder(std::function<void(std::size_t)> lost) : lost_(std::move(lost)), thread_([this] { run(); }) {}

Recorder::~Recorder() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Recorder::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= kMostJobs) {
      ++dropped_;
      return;
    }
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Recorder::run() {
  block_signals();
  run_behind(10);
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !jobs_.empty() || end_; });
    if (jobs_.empty()) return;
    auto jobs = std::exchange(jobs_, {});
    const std::size_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    for (auto& job : jobs) job();
    if (dropped != 0) lost_(dropped);
    lock.lock();
  }
}

}  // namespace rg
