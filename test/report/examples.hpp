// A status and an event in which every member says something.
#pragma once

#include "lib/reconcile/state.hpp"

inline rg::WallTime example_time(std::int64_t us_later = 0) {
  return rg::WallTime{} + std::chrono::microseconds(1'796'066'706'000'001 + us_later);
}

inline rg::Status example_status() {
  const rg::Nameserver ours = *rg::Nameserver::parse("127.0.0.1"), learned = *rg::Nameserver::parse("fe80::1%eth0");
  rg::GuardStatus guard;
  guard.path = "/etc/resolv.conf";
  guard.state = rg::State::paused;
  guard.since = example_time(1'000'000);
  guard.reason = "by hand";
  guard.read = {{ours, learned}, {"a.example"}, {"edns0"}};
  guard.servers = {{ours, rg::Origin::first}, {learned, rg::Origin::last_good}};
  guard.dropped = {{"192.0.2.9", rg::Why::over_max}};
  guard.source = rg::Source::last_good;
  guard.learned = {learned};
  guard.learned_writer = "NetworkManager";
  guard.learned_at = example_time(499'999);
  guard.rewrites = 4;
  guard.restores = 3;
  guard.failures = 2;
  guard.attempt = 1;
  guard.last_restore_us = 84;
  guard.paused_until = rg::WallTime::max();
  rg::Status status;
  status.version = "0.1.0";
  status.pid = 42;
  status.started = example_time();
  status.generation = 3;
  status.phase = rg::Phase::reconciling;
  status.config_path = "/etc/resolv-guardian/config.toml";
  status.config_sha256 = "abcd";
  status.config_error = "config.toml:3:1: no";
  status.guards = {guard};
  return status;
}

inline rg::Event example_event() {
  rg::Event event;
  event.at = example_time();
  event.kind = rg::Event::Kind::would_restore;
  event.path = "/etc/resolv.conf";
  event.generation = 3;
  event.how = rg::How::renamed;
  event.writer = {"NetworkManager", 7, "nm", "/usr/sbin/nm", "NetworkManager.service"};
  event.violations = {rg::Violation::required, rg::Violation::over_max};
  event.before = "nameserver 192.0.2.1\n";
  event.after = "nameserver 127.0.0.1\n";
  event.outcome = "restored";
  event.reason = "why";
  event.took_us = 84;
  return event;
}
