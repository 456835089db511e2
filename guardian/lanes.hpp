// All lanes: which guard is watched by which. Guards whose directories lie on the same file systems share one; a new
// guard begins in a lane of its own, until it is known where it lies. Main thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guardian/lane.hpp"
#include "guardian/lane_loop.hpp"

namespace rg {

class Lanes {
 public:
  struct Setup {
    std::shared_ptr<const LaneWorld> world;
    std::function<void(std::string path)> late;  ///< a deadline has passed, and the lane hasn't come back
    std::function<void(std::string warning)> warn;
  };
  Lanes(boost::asio::io_context& io, Setup setup) : io_(io), setup_(std::move(setup)) {}

  /// The first lane: an Error where there can't be one (no inotify instance, no thread).
  Result<void> open();
  void adopt(LaneLoop::Adoption adoption, const std::string& beside);
  void list(Lister lister);
  void unlist(const std::string& pattern) {
    forget({pattern, [pattern](LaneLoop& loop) { loop.unlist(pattern); }, false});
  }
  void drop(const std::string& path, bool restore);
  /// A message for the lane of this guard; false: none has it.
  bool tell(const std::string& path, std::function<void(LaneLoop&)> job) { return tell({path, std::move(job), false}); }
  /// A message for the lane of this guard, or for any where none has it. It is done even where the lane is ending.
  void tell_any(const std::string& path, std::function<void(LaneLoop&)> job);
  void look_at_all();
  /// Where a guard lies, as its newest report says: it moves where that is another lane's.
  void lies_on(const std::string& path, const std::vector<dev_t>& file_systems);
  /// Lanes without a guard end: none is expected to come soon.
  void tidy();
  [[nodiscard]] std::vector<std::string> paths() const;
  /// The guards that share a lane with this one, which is late.
  [[nodiscard]] std::vector<std::string> behind(const std::string& path) const;
  /// No new write begins. `ended` is called when every lane that answers is through.
  void stop(std::function<void()> ended);
  /// True where the thread of some lane is stuck.
  [[nodiscard]] bool any_late() const;
  /// That of this guard is: what it is told is done once it is back.
  [[nodiscard]] bool is_late(const std::string& path) const;

 private:
  struct Slot {
    std::unique_ptr<Lane> lane;
    std::unique_ptr<boost::asio::posix::stream_descriptor> timer;  // of its deadline watch
    std::vector<dev_t> file_systems;                               // empty: not known yet
    std::size_t guards = 0;
    bool rescue = true;  // where it gets stuck, the others are taken from it
    bool ending = false, ended = false;
  };
  using SlotRef = std::list<Slot>::iterator;
  struct Entry {
    SlotRef slot;
    bool moving = false;
    bool dropped = false;                // while it moved
    std::vector<Lane::Message> pending;  // for it, while it is on its way to another lane
  };
  bool tell(Lane::Message message);
  Result<SlotRef> make();
  SlotRef arrival();
  [[nodiscard]] std::optional<SlotRef> home_of(const std::vector<dev_t>& file_systems);
  void place(const std::string& path, SlotRef slot);
  void forget(Lane::Message message);
  void warn_once(const std::string& what);
  void move(const std::string& path, Entry& entry, SlotRef to);
  void arrived(const std::string& path, const std::shared_ptr<const LaneGuard>& guard, SlotRef to);
  static void send_over(const std::shared_ptr<const LaneGuard>& guard, SlotRef to);
  void await_deadline(SlotRef slot);
  void rescue_from(SlotRef slot);
  void lane_ended(SlotRef slot);
  void check_ended();
  boost::asio::io_context& io_;
  Setup setup_;
  std::list<Slot> slots_;
  std::map<std::string, Entry> entries_;
  std::function<void()> all_ended_;
  std::string warned_;
};

}  // namespace rg
