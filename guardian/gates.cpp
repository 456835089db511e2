#include "guardian/gates.hpp"

#include <sys/eventfd.h>

#include <cstdint>
#include <utility>

#include "guardian/keeper.hpp"
#include "guardian/probe.hpp"
#include "guardian/spawner.hpp"

namespace rg {

Result<std::unique_ptr<Gates>> Gates::create(std::shared_ptr<Mailbox> mailbox) {
  FileDescriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return errno_error("eventfd");
  return std::unique_ptr<Gates>(new Gates(std::move(mailbox), std::move(stop)));
}

Gates::Gates(std::shared_ptr<Mailbox> mailbox, FileDescriptor stop)
    : mailbox_(std::move(mailbox)), stop_(std::move(stop)), threads_(std::make_shared<std::list<std::thread>>()) {}

Gates::~Gates() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  for (std::thread& thread : *threads_) thread.join();
}

void Gates::ask(std::vector<Requirement> requirements, std::function<void(std::string)> done) {
  const auto self = threads_->emplace(threads_->end());
  auto started = start_thread(*self, [this, self, requirements = std::move(requirements), done] {
    block_signals();
    std::string why_not;
    for (const Requirement& requirement : requirements) {
      if (why_not.empty()) why_not = probe(requirement, stop_.get());
    }
    mailbox_->post([threads = std::weak_ptr(threads_), self, why_not, done] {
      const auto ours = threads.lock();
      if (!ours) return;  // joined already
      self->join();
      ours->erase(self);
      done(why_not);
    });
  });
  if (started) return;
  threads_->erase(self);
  done(started.error().text());
}

}  // namespace rg
