// What becomes of a configuration that was read.

#include <algorithm>

#include "guardian/supervisor.hpp"
#include "lib/report/words.hpp"

namespace rg {
namespace {

constexpr std::chrono::seconds kAnswerWithin{2};

}  // namespace

void Supervisor::watch_configuration() {
  const bool watch = setup_.source.from_file() && setup_.loaded.settings->reload == ReloadMode::automatic;
  auto reader =
      ConfigurationReader::start({setup_.source, watch, mailbox_,
                                  [this](LoadedSettings loaded, bool asked) { reloaded(std::move(loaded), asked); },
                                  [this](const std::string& warning) { setup_.log.warning(warning); }});
  if (!reader) return setup_.log.warning("the configuration is never read again: " + reader.error().text());
  reader_ = std::move(*reader);
}

// By SIGHUP, which the service manager wants answered by READY=1 whatever comes of it.
void Supervisor::reload() {
  notify_.reloading();
  if (!reader_) return;
  reader_->ask();
  reload_timer_.expires_after(kAnswerWithin);
  reload_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopping_) refuse("it can't be read: its file system doesn't answer");
    if (!error) refresh();
  });
}

void Supervisor::reloaded(LoadedSettings loaded, bool asked) {
  if (stopping_) return;
  if (asked) reload_timer_.cancel();
  const bool same = loaded.settings && loaded.sha256 == status_.config_sha256 && status_.config_error.empty();
  if (loaded.settings && !same) {
    if (!asked) notify_.reloading();
    return take(std::move(loaded));
  }
  if (!loaded.settings && loaded.error != status_.config_error) refuse(loaded.error);
  if (asked) lanes_->look_at_all();
  if (asked && ready_said_) notify_.ready();
  refresh();
}

void Supervisor::refuse(const std::string& why) {
  status_.config_error = why;
  setup_.log.error("configuration refused, the one before it stays in force: " + why);
  Event event;
  event.at = std::chrono::system_clock::now();
  event.kind = Event::Kind::reload;
  event.path = setup_.source.path();
  event.generation = status_.generation;
  event.outcome = "rejected";
  event.reason = why;
  record({event});
}

void Supervisor::take(LoadedSettings loaded) {
  // The same bytes as those in force end an error that stood in between, and start no generation.
  const bool in_force = loaded.sha256 == status_.config_sha256 && *loaded.settings == *setup_.loaded.settings;
  if (in_force) {
    status_.config_error.clear();
    coming_.reset();
    if (ready_said_) notify_.ready();
    return refresh();
  }
  std::vector<Policy> guards = loaded.settings->guards;
  coming_ = std::move(loaded);
  locks_->take(guards, [this](const Result<void>& taken) {
    if (stopping_) return;
    if (!coming_) return take_locks();  // it was taken back
    LoadedSettings settings = std::move(*std::exchange(coming_, std::nullopt));
    if (taken) return put_in_force(std::move(settings));
    refuse(why_not_locked("guards a directory of it", taken.error()));
    take_locks();
    refresh();
  });
}

void Supervisor::put_in_force(LoadedSettings loaded) {
  for (const std::string& warning : loaded.warnings) setup_.log.warning(warning);
  status_.config_error.clear();
  drop_removed(*loaded.settings);
  status_.config_sha256 = loaded.sha256;
  setup_.loaded = std::move(loaded);
  const std::uint64_t generation = status_.generation + 1;
  Event event;
  event.at = std::chrono::system_clock::now();
  event.kind = Event::Kind::reload;
  event.path = setup_.source.path();
  event.generation = generation;
  event.outcome = "taken";
  record({event});
  if (moved_) take_locks();
  await_locks();
  begin_generation(generation);
}

// What no guard of the new configuration has, and no glob of it may have, is given up at once.
void Supervisor::drop_removed(const Settings& now) {
  const auto kept = [&](const std::string& path) {
    return std::any_of(now.guards.begin(), now.guards.end(),
                       [&](const Policy& policy) { return policy.path == path || matches_glob(policy.path, path); });
  };
  for (const std::string& path : lanes_->paths()) {
    if (kept(path)) continue;
    const auto guard = rollout_->guard_of(path);
    const bool restore = guard && setup_.loaded.settings->guards.at(*guard).on_exit == OnExit::restore;
    if (guard && rollout_->find(path) == nullptr)
      lanes_->unlist(path);
    else
      lanes_->drop(path, restore);
  }
}

}  // namespace rg
