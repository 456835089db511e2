// A Rollout with someone who remembers its tickets, and its orders in words.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/reconcile/rollout.hpp"

namespace rg::test {

using Words = std::vector<std::string>;

struct Run {
  explicit Run(std::vector<Rollout::Guard> guards, std::uint64_t generation = 1)
      : rollout(generation, std::move(guards), 5) {}

  Words next() {
    Words words;
    for (const Rollout::Order& order : rollout.next(now)) words.push_back(word(order));
    return words;
  }
  Words say(const std::string& path, Rollout::Said what) {
    rollout.said(path, tickets[path], what, now);
    return next();
  }
  Words unanswered(const std::string& path) {
    rollout.unanswered(path, now);
    return next();
  }
  Words probed(std::size_t guard, bool answers) {
    rollout.probed(guard, tickets["gate " + std::to_string(guard)], answers, now);
    return next();
  }
  Words listed(std::size_t guard, const std::vector<std::string>& matches) {
    rollout.listed(guard, tickets["list " + std::to_string(guard)], matches, now);
    return next();
  }
  Words paused(const std::string& path, bool is_paused) {
    rollout.paused(path, is_paused);
    return next();
  }
  Words wait() {
    now = *rollout.wakes();
    return next();
  }
  Words later() {
    now += milliseconds{3000};  // longer than any back-off
    return next();
  }

  std::string word(const Rollout::Order& order) {
    using Kind = Rollout::Order::Kind;
    const std::string guard = std::to_string(order.guard);
    if (order.kind == Kind::probe) return tickets["gate " + guard] = order.ticket, "probe " + guard;
    if (order.kind == Kind::list) return tickets["list " + guard] = order.ticket, "list " + guard;
    if (order.kind == Kind::drop) return "drop " + order.path;
    if (order.kind == Kind::hold_back) return "hold_back " + order.path;
    tickets[order.path] = order.ticket;
    return (order.adopt ? "adopt " : "look ") + order.path;
  }

  Rollout rollout;
  Time now = Time{} + std::chrono::hours{1};
  std::map<std::string, std::uint64_t> tickets;
};

}  // namespace rg::test
