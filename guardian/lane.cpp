#include "guardian/lane.hpp"

#include <sys/eventfd.h>

#include <future>
#include <utility>

#include "guardian/keeper.hpp"
#include "guardian/lane_loop.hpp"
#include "guardian/own_descriptors.hpp"

namespace rg {

Result<std::unique_ptr<Lane>> Lane::create(std::shared_ptr<const LaneWorld> world, std::function<void()> ended) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return errno_error("eventfd");
  auto deadline = DeadlineWatch::create();
  if (!deadline) return deadline.error();
  std::unique_ptr<Lane> lane(new Lane(std::move(world), std::move(wake), std::move(*deadline)));
  std::promise<Result<void>> begun;
  auto started = lane->world_->spawner->start(lane->thread_, [raw = lane.get(), &begun, ended = std::move(ended)] {
    raw->run([&begun](Result<void> result) { begun.set_value(std::move(result)); }, ended);
  });
  if (!started) return started.error();
  if (auto result = begun.get_future().get(); !result) return result.error();
  return lane;
}

Lane::Lane(std::shared_ptr<const LaneWorld> world, FileDescriptor wake, std::unique_ptr<DeadlineWatch> deadline)
    : world_(std::move(world)), wake_(std::move(wake)), deadline_(std::move(deadline)) {}

Lane::~Lane() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Lane::run(const std::function<void(Result<void>)>& begun, const std::function<void()>& ended) {
  block_signals();
  own_descriptors({world_->root->get(), world_->mailbox->descriptor(), wake_.get(), deadline_->descriptor()});
  {
    auto loop = LaneLoop::create(*this, *world_, *deadline_);
    if (!loop) return begun(loop.error());
    loop_ = loop->get();
    begun({});
    loop_->run();
  }
  world_->mailbox->post(ended);
}

void Lane::send(Message message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

std::optional<Lane::Message> Lane::take_message() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  std::optional<Message> first(std::move(messages_.front()));
  messages_.pop_front();
  return first;
}

void Lane::stop() {
  if (stopping_.exchange(true)) return;
  send({{}, [](LaneLoop&) {}});
}

Lane::Rescued Lane::rescue() {
  Rescued rescued;
  deadline_->while_late([&](const std::string& path) {
    loop_->give_up_others(path, rescued.guards, rescued.listers);
    const std::lock_guard lock(mutex_);
    std::deque<Message> kept;
    for (Message& message : messages_) {
      const bool stays = message.path.empty() || message.path == path;
      if (stays) {
        kept.push_back(std::move(message));
      } else {
        rescued.messages.push_back(std::move(message));
      }
    }
    messages_ = std::move(kept);
  });
  return rescued;
}

}  // namespace rg
