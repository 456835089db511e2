#include "guardian/lanes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rg {
namespace {

constexpr std::size_t kMostArrivals = 4,
                      kMostLanes = 16;  // an inotify instance each: 128 a user is the kernel's default

}  // namespace

Result<Lanes::SlotRef> Lanes::make() {
  const SlotRef slot = slots_.emplace(slots_.end());
  auto lane = Lane::create(setup_.world, [this, slot] { lane_ended(slot); });
  if (!lane) {
    slots_.erase(slot);
    return lane.error();
  }
  slot->lane = std::move(*lane);
  const int timer = ::dup(slot->lane->deadline().descriptor());
  if (timer < 0) setup_.warn("deadlines of a lane aren't seen: no descriptor is left");
  if (timer >= 0) slot->timer = std::make_unique<boost::asio::posix::stream_descriptor>(io_, timer);
  if (timer >= 0) await_deadline(slot);
  return slot;
}

Result<void> Lanes::open() {
  auto made = make();
  if (!made) return made.error();
  return {};
}

// A lane for a guard of which nothing is known yet: one without any guard, else one more, else with the fewest.
Lanes::SlotRef Lanes::arrival() {
  const auto usable = [](const Slot& slot) { return !slot.ending && !slot.lane->deadline().is_late(); };
  const auto empty = [&](const Slot& slot) { return usable(slot) && slot.guards == 0; };
  if (const auto found = std::find_if(slots_.begin(), slots_.end(), empty); found != slots_.end()) {
    found->file_systems.clear();
    found->rescue = true;
    return found;
  }
  const auto is_arrival = [&](const Slot& slot) { return usable(slot) && slot.file_systems.empty(); };
  const auto arrivals = static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), is_arrival));
  if (arrivals < kMostArrivals) {
    auto made = make();
    if (made) return *made;
    warn_once("there is no lane of its own for some guards: " + made.error().text());
  }
  const auto fewer = [&](const Slot& a, const Slot& b) {
    const auto rank = [&](const Slot& slot) {
      return std::tuple(!usable(slot), !slot.file_systems.empty(), slot.guards);
    };
    return rank(a) < rank(b);
  };
  return std::min_element(slots_.begin(), slots_.end(), fewer);
}

void Lanes::warn_once(const std::string& what) {
  if (std::exchange(warned_, what) != what) setup_.warn(what);
}

std::optional<Lanes::SlotRef> Lanes::home_of(const std::vector<dev_t>& file_systems) {
  const auto home = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return !slot.ending && slot.file_systems == file_systems && !slot.lane->deadline().is_late();
  });
  return home == slots_.end() ? std::nullopt : std::optional(home);
}

void Lanes::place(const std::string& path, SlotRef slot) {
  ++slot->guards;
  entries_.emplace(path, Entry{slot, false, false, {}});
}

bool Lanes::tell(Lane::Message message) {
  const auto found = entries_.find(message.path);
  if (found == entries_.end()) return false;
  if (found->second.moving)
    found->second.pending.push_back(std::move(message));
  else
    found->second.slot->lane->send(std::move(message));
  return true;
}

void Lanes::tell_any(const std::string& path, std::function<void(LaneLoop&)> job) {
  const Lane::Message message{path, std::move(job), true};
  if (!tell(message)) arrival()->lane->send(message);
}

// `beside`: where nothing is known of it, it begins in the lane of this one (a glob that matches it), if that is there.
void Lanes::adopt(LaneLoop::Adoption adoption, const std::string& beside) {
  const std::string path = adoption.policy.path;
  const auto other = entries_.find(beside);
  const auto found = entries_.find(path);
  if (found != entries_.end()) found->second.dropped = false;
  const bool beside_it = other != entries_.end() && !is_late(beside);
  if (found == entries_.end()) place(path, beside_it ? other->second.slot : arrival());
  tell(path, [adoption = std::move(adoption)](LaneLoop& loop) { loop.adopt(adoption); });
}

void Lanes::list(Lister lister) {
  const std::string pattern = lister.policy.path;
  if (!entries_.contains(pattern)) place(pattern, arrival());
  tell(pattern, [lister = std::move(lister)](LaneLoop& loop) { loop.list(lister); });
}

void Lanes::forget(Lane::Message message) {
  const std::string path = message.path;
  if (!tell(std::move(message))) return;
  const auto found = entries_.find(path);
  found->second.dropped = found->second.moving;  // arrived() sees to it
  if (found->second.dropped) return;
  --found->second.slot->guards;
  entries_.erase(found);
}

void Lanes::drop(const std::string& path, bool restore) {
  forget({path, [path, restore](LaneLoop& loop) { loop.drop(path, restore); }, restore});
}

void Lanes::look_at_all() {
  for (Slot& slot : slots_) {
    if (!slot.lane->deadline().is_late()) slot.lane->send({{}, [](LaneLoop& loop) { loop.look_at_all(); }});
  }
}

std::vector<std::string> Lanes::paths() const {
  std::vector<std::string> all;
  for (const auto& [path, entry] : entries_) all.push_back(path);
  return all;
}

std::vector<std::string> Lanes::behind(const std::string& path) const {
  std::vector<std::string> others;
  const auto found = entries_.find(path);
  if (found == entries_.end()) return others;
  for (const auto& [other, entry] : entries_) {
    if (entry.slot == found->second.slot && other != path) others.push_back(other);
  }
  return others;
}

void Lanes::lies_on(const std::string& path, const std::vector<dev_t>& file_systems) {
  const auto found = entries_.find(path);
  if (found == entries_.end() || found->second.moving || file_systems.empty()) return;
  const SlotRef here = found->second.slot;
  if (here->file_systems == file_systems) return;
  if (const auto home = home_of(file_systems)) return move(path, found->second, *home);
  if (here->file_systems.empty() || here->guards == 1) {
    here->file_systems = file_systems;
    return;
  }
  if (slots_.size() >= kMostLanes) return;
  const SlotRef other = arrival();
  if (other == here || other->guards != 0) return;
  other->file_systems = file_systems;
  move(path, found->second, other);
}

void Lanes::move(const std::string& path, Entry& entry, SlotRef to) {
  entry.moving = true;
  ++to->guards;  // so that it isn't ended meanwhile
  entry.slot->lane->send({path, [this, path, to](LaneLoop& loop) {
                            const std::shared_ptr<const LaneGuard> guard = loop.hand_over(path);
                            setup_.world->mailbox->post([this, path, guard, to] { arrived(path, guard, to); });
                          }});
}

// Without a guard: it couldn't leave, or wasn't there; its lane keeps it.
void Lanes::arrived(const std::string& path, const std::shared_ptr<const LaneGuard>& guard, SlotRef to) {
  Entry& entry = entries_.at(path);
  --(guard ? entry.slot : to)->guards;
  if (guard) entry.slot = to;
  if (guard) send_over(guard, to);
  entry.moving = false;
  entry.slot->rescue = true;
  for (Lane::Message& message : std::exchange(entry.pending, {})) entry.slot->lane->send(std::move(message));
  if (!entry.dropped) return;
  --entry.slot->guards;
  entries_.erase(path);
}

void Lanes::send_over(const std::shared_ptr<const LaneGuard>& guard, SlotRef to) {
  to->lane->send(
      {guard->guarded.policy.path, [guard](LaneLoop& loop) { loop.take_over(guard->without_descriptors()); }});
}

void Lanes::await_deadline(SlotRef slot) {
  using boost::asio::posix::descriptor_base;
  slot->timer->async_wait(descriptor_base::wait_read, [this, slot](const boost::system::error_code& error) {
    if (error) return;
    const auto late = slot->lane->deadline().look();
    await_deadline(slot);
    if (!late) return;
    if (slot->rescue) rescue_from(slot);
    setup_.late(*late);
  });
}

// The others go on in a lane of their own: where they lie may be what hangs, but need not be. Where that one gets stuck
// too, it is; then they wait, for a thread each would be too many.
void Lanes::rescue_from(SlotRef slot) {
  if (slot->guards < 2) return;
  auto made = make();
  if (!made) return warn_once("the guards beside one that doesn't answer wait: " + made.error().text());
  const SlotRef to = *made;
  Lane::Rescued rescued = slot->lane->rescue();
  if (rescued.guards.empty() && rescued.listers.empty() && rescued.messages.empty()) return;  // it has come back
  to->rescue = false;
  to->file_systems = std::exchange(slot->file_systems, {});
  const auto moves = [&](const std::string& path) {
    const auto entry = entries_.find(path);
    if (entry == entries_.end() || entry->second.slot != slot) return;  // it is being dropped
    entry->second.slot = to;
    --slot->guards;
    ++to->guards;
  };
  for (auto& guard : rescued.guards) {
    moves(guard->guarded.policy.path);
    send_over(std::move(guard), to);
  }
  for (const Lister& lister : rescued.listers) {
    moves(lister.policy.path);
    to->lane->send({lister.policy.path, [lister](LaneLoop& loop) { loop.list(lister); }});
  }
  for (Lane::Message& message : rescued.messages) {
    moves(message.path);
    to->lane->send(std::move(message));
  }
}

void Lanes::tidy() {
  for (Slot& slot : slots_) {
    const bool is_in_use = slot.guards != 0 || slot.ending || slot.lane->deadline().is_late();
    if (is_in_use || &slot == &slots_.front()) continue;
    slot.ending = true;
    slot.lane->stop();
  }
}

void Lanes::lane_ended(SlotRef slot) {
  slot->ended = true;
  if (all_ended_) return check_ended();
  slots_.erase(slot);
}

void Lanes::check_ended() {
  const bool waits = std::any_of(slots_.begin(), slots_.end(),
                                 [](const Slot& slot) { return !slot.ended && !slot.lane->deadline().is_late(); });
  if (!waits) std::exchange(all_ended_, {})();
}

void Lanes::stop(std::function<void()> ended) {
  all_ended_ = std::move(ended);
  for (Slot& slot : slots_) {
    slot.ending = true;
    slot.lane->stop();
  }
  check_ended();
}

bool Lanes::is_late(const std::string& path) const {
  const auto found = entries_.find(path);
  return found != entries_.end() && found->second.slot->lane->deadline().is_late();
}

bool Lanes::any_late() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.lane->deadline().is_late(); });
}

}  // namespace rg
