// What a lane is at and since when, told to the main thread by a timer where the deadline of that passes. A lane arms
// it once in a quiet period: no restore pays for a hop to another thread.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "lib/reconcile/pace.hpp"
#include "lib/result.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {

class DeadlineWatch {
 public:
  static Result<std::unique_ptr<DeadlineWatch>> create();

  /// The lane is at the tree of one guard as long as this lives.
  class At {
   public:
    At(DeadlineWatch& watch, const std::string& path, milliseconds deadline);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    DeadlineWatch& watch_;
  };

  /// The lane has nothing to do for a while: the timer wakes nobody for nothing.
  void rest();

  // The main thread:
  /// A timerfd that becomes readable when a deadline may have passed; then look().
  [[nodiscard]] int descriptor() const { return timer_.get(); }
  /// The guard whose deadline has passed, once; nullopt: none has, or it was told before.
  std::optional<std::string> look();
  /// While the lane is still at that guard, and can't come back meanwhile: runs `job`.
  void while_late(const std::function<void(const std::string& path)>& job);
  [[nodiscard]] bool is_late() const;

 private:
  explicit DeadlineWatch(FileDescriptor timer) : timer_(std::move(timer)) {}
  void arm(std::optional<Time> at);
  FileDescriptor timer_;
  mutable std::mutex mutex_;
  std::string path_;  // of the guard that it is at; empty: none
  Time deadline_{};
  std::optional<Time> armed_;
  bool late_ = false;  // look() has told of it
};

}  // namespace rg
