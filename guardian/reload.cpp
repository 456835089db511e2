// The configuration's files: watched by name along every link (a ConfigMap swaps one in the middle), taken when
// finished.
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>

#include "guardian/supervisor.hpp"
#include "lib/report/words.hpp"

namespace rg {
namespace {

constexpr std::chrono::milliseconds kUnfinished{200}, kGather{20};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

void Supervisor::watch_configuration() {
  if (!setup_.source.from_file() || setup_.loaded.settings->reload == ReloadMode::sighup) return;
  auto watcher = Watcher::create();
  if (!watcher) return setup_.log.warning("changes of the configuration aren't seen: " + watcher.error().text());
  configuration_watcher_.emplace(std::move(*watcher));
  const int events = ::dup(configuration_watcher_->descriptor());
  if (events < 0) return setup_.log.warning("changes of the configuration aren't seen: no descriptor is left");
  configuration_events_ = std::make_unique<boost::asio::posix::stream_descriptor>(io_, events);
  arm_configuration();
  await_configuration();
  reload_later(std::chrono::milliseconds{0});  // what changed before the watch was there gave no event
}

void Supervisor::arm_configuration() {
  auto root = open_root("/");
  if (!root) return;
  const std::string pattern = folder_of(setup_.source.path()) + "/config.d/*.toml";
  std::vector<Chain> others;
  const GlobMatch match = expand_glob(*root, pattern, [&](Chain chain) { others.push_back(std::move(chain)); });
  for (const std::string& path : match.paths) others.push_back(walk(*root, path));
  if (auto watched = configuration_watcher_->watch(0, walk(*root, setup_.source.path()), others); !watched) {
    setup_.log.warning("some changes of the configuration aren't seen: " + watched.error().text());
  }
}

// The configuration's directory may be a busy one: an event wakes this, then events gather for a while.
void Supervisor::await_configuration() {
  using boost::asio::posix::descriptor_base;
  configuration_events_->async_wait(descriptor_base::wait_read, [this](const boost::system::error_code& error) {
    if (error || stopping_) return;
    configuration_timer_.expires_after(kGather);
    configuration_timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled || stopping_) return;
      read_configuration_events();
      await_configuration();
    });
  });
}

void Supervisor::read_configuration_events() {
  bool finished = false;
  bool any = false;
  configuration_watcher_->read([&](GuardId, const Change& change) {
    any = true;
    finished = finished || change.how == How::renamed || change.how == How::written || change.how == How::relinked;
  });
  if (!any) return;
  arm_configuration();
  reload_later(finished ? std::chrono::milliseconds{0} : kUnfinished);
}

void Supervisor::reload_later(std::chrono::milliseconds wait) {
  reload_timer_.expires_after(wait);
  reload_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopping_) return;
    if (setup_.source.being_written()) return reload_later(kUnfinished);
    reload(false);
  });
}

// `asked`: by SIGHUP, which the service manager wants answered by READY=1 whatever comes of it.
void Supervisor::reload(bool asked) {
  if (asked) notify_.reloading();
  LoadedSettings loaded = setup_.source.load();
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
    if (stopping_ || !coming_) return;
    LoadedSettings settings = std::move(*std::exchange(coming_, std::nullopt));
    if (taken) return put_in_force(std::move(settings));
    refuse("another guardian guards a directory of it: " + taken.error().text());
    take_locks();
    refresh();
  });
}

void Supervisor::put_in_force(LoadedSettings loaded) {
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
  await_locks();
  begin_generation(generation);
}

// What no guard of the new configuration has, and no glob of it may have, is given up at once.
void Supervisor::drop_removed(const Settings& now) {
  const auto kept = [&](const std::string& path) {
    return std::any_of(now.guards.begin(), now.guards.end(), [&](const Policy& policy) {
      return policy.path == path ||
             (has_glob(policy.path) && ::fnmatch(policy.path.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0);
    });
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
