#include "guardian/mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace rg {

Result<std::unique_ptr<Mailbox>> Mailbox::create(boost::asio::io_context& io) {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) return errno_error("eventfd");
  std::unique_ptr<Mailbox> made(new Mailbox(io, descriptor));
  made->await();
  return made;
}

Mailbox::Mailbox(boost::asio::io_context& io, int descriptor) : descriptor_(descriptor), events_(io, descriptor) {}

void Mailbox::post(std::function<void()> job) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = jobs_.empty();
    jobs_.push_back(std::move(job));
  }
  const std::uint64_t one = 1;
  if (first) (void)!::write(descriptor_, &one, sizeof one);
}

void Mailbox::await() {
  events_.async_wait(boost::asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    std::uint64_t count = 0;
    (void)!::read(descriptor_, &count, sizeof count);
    std::vector<std::function<void()>> jobs;
    {
      const std::lock_guard lock(mutex_);
      jobs.swap(jobs_);
    }
    await();
    for (auto& job : jobs) job();
  });
}

}  // namespace rg
