// The readiness gates of `requires`: each is asked on a thread of its own, for it may take its time. Main thread.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "guardian/mailbox.hpp"
#include "lib/policy/policy.hpp"
#include "lib/result.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

class Gates {
 public:
  static Result<std::unique_ptr<Gates>> create(std::shared_ptr<Mailbox> mailbox);
  ~Gates();  ///< what is being asked is given up at once
  Gates(const Gates&) = delete;
  Gates& operator=(const Gates&) = delete;
  /// Asks these servers, one after the other. `done` gets why one of them doesn't let pass; empty: all answered.
  void ask(std::vector<Requirement> requirements, std::function<void(std::string why_not)> done);

 private:
  Gates(std::shared_ptr<Mailbox> mailbox, FileDescriptor stop);
  std::shared_ptr<Mailbox> mailbox_;
  FileDescriptor stop_;                              ///< readable once everything is given up
  std::shared_ptr<std::list<std::thread>> threads_;  ///< gone with us: an answer that comes later is nobody's
};

}  // namespace rg
