#include "guardian/deadline_watch.hpp"

#include <sys/timerfd.h>

#include <utility>

namespace rg {

using Clock = std::chrono::steady_clock;

Result<std::unique_ptr<DeadlineWatch>> DeadlineWatch::create() {
  FileDescriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer) return errno_error("timerfd_create");
  return std::unique_ptr<DeadlineWatch>(new DeadlineWatch(std::move(timer)));
}

void DeadlineWatch::arm(std::optional<Time> at) {
  const auto since_boot = at.value_or(Time{}).time_since_epoch();  // steady_clock is CLOCK_MONOTONIC
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds.count());
  when.it_value.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since_boot - seconds).count());
  if (::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0) armed_ = at;
}

DeadlineWatch::At::At(DeadlineWatch& watch, const std::string& path, milliseconds deadline) : watch_(watch) {
  const std::lock_guard lock(watch.mutex_);
  watch.path_ = path;
  watch.deadline_ = Clock::now() + deadline;
  if (!watch.armed_ || watch.deadline_ < *watch.armed_) watch.arm(watch.deadline_);
}

DeadlineWatch::At::~At() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.path_.clear();
  watch_.late_ = false;
}

void DeadlineWatch::rest() {
  const std::lock_guard lock(mutex_);
  if (armed_) arm(std::nullopt);
}

std::optional<std::string> DeadlineWatch::look() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!::read(timer_.get(), &count, sizeof count);
  armed_.reset();
  if (path_.empty() || late_) return std::nullopt;
  if (Clock::now() < deadline_) {
    arm(deadline_);
    return std::nullopt;
  }
  late_ = true;
  return path_;
}

void DeadlineWatch::while_late(const std::function<void(const std::string& path)>& job) {
  const std::lock_guard lock(mutex_);
  if (late_) job(path_);
}

bool DeadlineWatch::is_late() const {
  const std::lock_guard lock(mutex_);
  return late_;
}

}  // namespace rg
