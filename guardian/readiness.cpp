// What keeps a guard of a new configuration waiting before it is looked at: addresses that the kernel has to tell,
// servers that must answer.
#include <algorithm>
#include <chrono>

#include "guardian/supervisor.hpp"
#include "lib/report/reasons.hpp"

namespace rg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSlowLook{30};  // for what the kernel doesn't tell of (sysctls)

}  // namespace

void Supervisor::ask_gate(const Rollout::Order& order) {
  Policy policy = setup_.loaded.settings->guards.at(order.guard);
  if (wait_for_addresses(order, policy)) return;
  if (policy.requirements.empty()) {
    closed_.erase(order.guard);
    rollout_->probed(order.guard, order.ticket, true, Clock::now());
    return pump_soon();
  }
  gates_->ask(policy.requirements, [this, order, generation = rollout_->generation()](const std::string& why_not) {
    if (stopping_ || generation != rollout_->generation()) return;
    if (why_not.empty()) closed_.erase(order.guard);
    if (!why_not.empty()) keep_closed(order.guard, requires_reason(why_not));
    rollout_->probed(order.guard, order.ticket, why_not.empty(), Clock::now());
    pump_soon();
  });
}

// True: the question stays open. What would be asked again and again is told by the kernel when it changes.
bool Supervisor::wait_for_addresses(const Rollout::Order& order, Policy& policy) {
  const auto unresolved = resolve_all(policy);
  unresolved_.erase(order.guard);
  if (!unresolved) return false;
  const std::string reason = unresolved_reason(*unresolved);
  const auto closed = closed_.find(order.guard);
  const bool told = closed != closed_.end() && closed->second == reason;
  const bool misplaced = unresolved->address.has_value();  // by two values of the configuration
  if (!told) misplaced ? keep_closed(order.guard, reason) : keep_waiting(order.guard, reason);
  unresolved_.emplace(order.guard, order);
  look_for_addresses_later();
  return true;
}

// While some guard names an address that the kernel tells. The former policies may, as long as they are in force.
void Supervisor::watch_routes() {
  const auto& guards = setup_.loaded.settings->guards;
  const bool needed = std::any_of(guards.begin(), guards.end(), has_source);
  if (!needed && rollout_->phase() == Phase::reconciling) routes_.reset();
  if (!needed || routes_) return;
  routes_ = std::make_unique<RouteWatch>(
      io_, [this] { routes_changed(); }, [this](const std::string& warning) { setup_.log.warning(warning); });
}

// Noise, but for those whose address is another one.
void Supervisor::routes_changed() {
  if (stopping_ || !rollout_) return;
  for (const std::string& path : addresses_->outdated()) {
    lanes_->tell(path, [path](LaneLoop& loop) { loop.ask_again(path); });
  }
  if (unresolved_.empty()) return;
  for (const auto& [guard, order] : std::map(unresolved_)) ask_gate(order);
  pump_soon();
}

void Supervisor::look_for_addresses_later() {
  address_timer_.expires_after(kSlowLook);
  address_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) routes_changed();
  });
}

}  // namespace rg
