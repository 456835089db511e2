#include "guardian/keeper.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <future>
#include <memory>
#include <utility>

#include "guardian/spawner.hpp"

namespace rg {

void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void run_behind(int steps) {
  // Linux gives each thread its own nice value; setpriority(2) by thread id is how it is set.
  const auto self = static_cast<id_t>(::syscall(SYS_gettid));
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, self);
  if (errno == 0) (void)::setpriority(PRIO_PROCESS, self, std::min(19, now + steps));
}

Result<void> Keeper::start() {
  return start_thread(thread_, [this] { run(); });
}

Keeper::~Keeper() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Keeper::later(const std::string& key, std::chrono::milliseconds quiet, std::chrono::milliseconds most,
                   std::function<void()> job) {
  const Time now = std::chrono::steady_clock::now();
  bool sooner = false;
  {
    const std::lock_guard lock(mutex_);
    Job& waiting = jobs_[key];
    if (!waiting.work) waiting.latest = now + most;
    waiting.work = std::move(job);
    waiting.due = std::min(now + quiet, waiting.latest);
    sooner = waiting.due < wakes_;
  }
  if (sooner) wake_.notify_one();
}

bool Keeper::within(std::chrono::milliseconds limit, const std::function<void()>& job) {
  const auto done = std::make_shared<std::promise<void>>();
  std::future<void> end = done->get_future();
  const auto none = std::chrono::milliseconds{0};
  later("now", none, none, [job, done] {
    job();
    done->set_value();
  });
  return end.wait_for(limit) == std::future_status::ready;
}

void Keeper::forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(key);
}

std::map<std::string, Keeper::Job> Keeper::take_due() {
  std::map<std::string, Job> due;
  const Time now = std::chrono::steady_clock::now();
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto next = std::next(job);
    if (end_ || job->second.due <= now) due.insert(jobs_.extract(job));
    job = next;
  }
  return due;
}

void Keeper::run() {
  block_signals();
  run_behind(10);
  std::unique_lock lock(mutex_);
  for (;;) {
    auto due = take_due();
    if (due.empty() && end_) return;
    if (due.empty()) {
      const auto earliest = std::min_element(jobs_.begin(), jobs_.end(),
                                             [](const auto& a, const auto& b) { return a.second.due < b.second.due; });
      wakes_ = earliest == jobs_.end() ? Time::max() : earliest->second.due;
      if (earliest == jobs_.end()) wake_.wait(lock);
      if (earliest != jobs_.end()) wake_.wait_until(lock, Time(wakes_));
      continue;
    }
    lock.unlock();
    for (auto& [key, job] : due) job.work();
    lock.lock();
  }
}

}  // namespace rg
