#include "guardian/keeper.hpp"

#include <utility>

namespace rg {

constexpr std::chrono::milliseconds kGather{20};  // a burst of restores is stored once

Keeper::Keeper() : thread_([this] { run(); }) {}

Keeper::~Keeper() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Keeper::later(const std::string& key, std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_[key] = std::move(job);
  }
  wake_.notify_one();
}

void Keeper::flush() {
  std::unique_lock lock(mutex_);
  hurry_ = true;
  wake_.notify_all();
  done_.wait(lock, [this] { return jobs_.empty() && !busy_; });
  hurry_ = false;
}

void Keeper::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !jobs_.empty() || end_; });
    if (jobs_.empty()) return;
    wake_.wait_for(lock, kGather, [this] { return hurry_ || end_; });
    auto jobs = std::exchange(jobs_, {});
    busy_ = true;
    lock.unlock();
    for (auto& [key, job] : jobs) job();
    lock.lock();
    busy_ = false;
    done_.notify_all();
  }
}

}  // namespace rg
