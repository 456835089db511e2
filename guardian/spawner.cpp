#include "guardian/spawner.hpp"

#include <system_error>
#include <utility>

#include "guardian/keeper.hpp"

namespace rg {

Result<void> start_thread(std::thread& thread, std::function<void()> work) {
  try {
    thread = std::thread(std::move(work));
    return {};
  } catch (const std::system_error& error) {
    return Error{error.code().value(), "start a thread"};
  }
}

Result<std::unique_ptr<Spawner>> Spawner::create() {
  std::unique_ptr<Spawner> spawner(new Spawner);
  if (auto started = start_thread(spawner->thread_, [raw = spawner.get()] { raw->run(); }); !started) {
    return started.error();
  }
  return spawner;
}

Spawner::~Spawner() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> Spawner::start(std::thread& thread, std::function<void()> work) {
  std::unique_lock lock(mutex_);
  into_ = &thread;
  work_ = std::move(work);
  wake_.notify_all();
  wake_.wait(lock, [this] { return !work_; });
  return result_;
}

void Spawner::run() {
  block_signals();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return work_ || end_; });
    if (end_) return;
    result_ = start_thread(*into_, std::exchange(work_, {}));
    wake_.notify_all();
  }
}

}  // namespace rg
