// What clients of the control socket ask for.
#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <iterator>
#include <set>

#include "guardian/command_events.hpp"
#include "guardian/supervisor.hpp"
#include "lib/report/status.hpp"

namespace rg {
namespace {

namespace json = boost::json;
constexpr std::chrono::milliseconds kAnswerWithin{2000};
constexpr std::chrono::milliseconds kMostTime = std::chrono::hours{24 * 366};

std::string text_of(const json::object& request, std::string_view key) {
  const auto* value = request.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string{};
}

std::optional<std::chrono::milliseconds> milliseconds_of(const json::object& request, std::string_view key) {
  const auto* value = request.if_contains(json::string_view(key.data(), key.size()));
  boost::system::error_code error;
  const auto number = value == nullptr ? std::int64_t{0} : value->to_number<std::int64_t>(error);
  if (value == nullptr || error || number < 0) return std::nullopt;
  return std::min(std::chrono::milliseconds(number), kMostTime);
}

json::object refusal(const std::string& why) { return {{"error", why}}; }

}  // namespace

void Supervisor::handle(const json::object& request, const Answer& answer) {
  if (stopping_) return answer(refusal("the guardian is stopping"));
  const std::string command = text_of(request, "command");
  if (command == "status") return answer({{"status", status_json(status_)}});
  if (command == "wait-holds") {
    const auto limit = milliseconds_of(request, "within_ms");
    const bool for_ever = limit && limit->count() == 0;
    const auto told = [this, answer] { answer({{"status", status_json(status_)}}); };
    return wait_until([this] { return all_hold(status_); }, for_ever ? std::nullopt : limit, told, answer);
  }
  for (const auto& [key, wanted] : {std::pair{"path", json::kind::string}, std::pair{"for_ms", json::kind::int64}}) {
    const auto* value = request.if_contains(key);
    if (value != nullptr && value->kind() != wanted) return answer(refusal(std::string("wrong type of ") + key));
  }
  if (!rollout_) return answer(refusal("the guardian is starting"));
  if (command == "pause") return set_pause(request, answer);
  if (command == "resume") return resume(request, answer);
  if (command == "release") return release(request, answer);
  if (command == "apply") return apply(answer);
  answer(refusal("unknown command: " + command));
}

// Waiters are known by number: their time may be over in the same round in which what they wait for came true.
void Supervisor::wait_until(std::function<bool()> done, std::optional<std::chrono::milliseconds> limit,
                            std::function<void()> finish, const Answer& answer) {
  if (done()) return finish();
  const WaiterId id = next_waiter_++;
  Waiter& waiter = waiters_[id];
  waiter.done = std::move(done);
  waiter.finish = std::move(finish);
  answer.when_gone([this, id] { waiters_.erase(id); });
  if (!limit) return;
  waiter.timer = std::make_unique<boost::asio::steady_timer>(io_, *limit);
  waiter.timer->async_wait([this, id](const boost::system::error_code& error) {
    if (!error) finish_waiter(id);
  });
}

void Supervisor::finish_waiter(WaiterId id) {
  auto waiter = waiters_.extract(id);
  if (!waiter.empty()) waiter.mapped().finish();
}

Supervisor::Named Supervisor::named(const json::object& request) const {
  const std::string path = text_of(request, "path");
  Named all;
  for (const Rollout::Place& place : rollout_->places()) {
    const bool whole = path.empty() || place.guard.path == path;
    if (whole && place.guard.glob) all.globs.push_back(place.guard.path);
    for (const auto& [file, member] : place.members) {
      if (whole || file == path) all.files.push_back(file);
    }
  }
  return all;
}

// A glob's files are paused and resumed with it: it alone is told of.
void Supervisor::note_command(const std::vector<std::string>& paths,
                              const std::function<Event(const std::string&)>& event_of) {
  const std::set<std::string> all(paths.begin(), paths.end());
  std::vector<Event> events;
  for (const std::string& path : all) {
    const auto guard = rollout_->guard_of(path);
    const std::string& whole = guard ? rollout_->places()[*guard].guard.path : path;
    if (whole != path && all.contains(whole)) continue;
    events.push_back(event_of(path));
    events.back().generation = status_.generation;
  }
  record(std::move(events));
}

void Supervisor::set_pause(const json::object& request, const Answer& answer) {
  const Named paths = named(request);
  if (paths.empty()) return answer(refusal("no such guard: " + text_of(request, "path")));
  const auto time = milliseconds_of(request, "for_ms");
  const WallTime until = time ? std::chrono::system_clock::now() + *time : WallTime::max();
  std::vector<std::string> all = paths.globs;
  all.insert(all.end(), paths.files.begin(), paths.files.end());
  for (const std::string& path : all) {
    if (auto set = pauses_.set(path, until); !set) return answer(refusal(set.error().text()));
  }
  note_command(all, [until](const std::string& path) { return paused_event(path, until); });
  for (const std::string& path : paths.files) {
    lanes_->tell(path, [path, until](LaneLoop& loop) { loop.pause(path, until); });
    rollout_->paused(path, true);
    find(path)->paused_until = until;
  }
  pump_soon();
  const auto all_paused = [this, files = paths.files] {
    return std::all_of(files.begin(), files.end(), [this](const std::string& path) {
      const GuardStatus* guard = find(path);
      return guard == nullptr || guard->state == State::paused || guard->state == State::waiting;
    });
  };
  wait_until(
      all_paused, kAnswerWithin,
      [answer] {
        answer({{"ok", true}});
      },
      answer);
}

// Those, too, that a glob doesn't match any more.
std::vector<std::string> Supervisor::paused_by(const json::object& request) const {
  const std::string wanted = text_of(request, "path");
  std::vector<std::string> paths = pauses_.paths();
  std::erase_if(
      paths, [&](const std::string& path) { return !wanted.empty() && path != wanted && !matches_glob(wanted, path); });
  return paths;
}

void Supervisor::resume(const json::object& request, const Answer& answer) {
  const Named paths = named(request);
  const auto paused = paused_by(request);
  if (paths.empty() && paused.empty()) return answer(refusal("no such guard: " + text_of(request, "path")));
  std::vector<std::string> resumed = paused;
  std::copy_if(paths.files.begin(), paths.files.end(), std::back_inserter(resumed),
               [this](const std::string& path) { return pause_of(*rollout_->guard_of(path), path).has_value(); });
  for (const std::string& path : paused) {
    if (auto set = pauses_.set(path, std::nullopt); !set) return answer(refusal(set.error().text()));
  }
  note_command(resumed, resumed_event);
  for (const std::string& path : paths.files) {
    stored(pauses_.set(rollout_->places()[*rollout_->guard_of(path)].guard.path,
                       std::nullopt));  // of all its glob matches
    lanes_->tell(path, [path](LaneLoop& loop) { loop.pause(path, std::nullopt); });
    rollout_->paused(path, false);
    find(path)->paused_until.reset();
  }
  pump_soon();
  const auto none_paused = [this, files = paths.files] {
    return std::none_of(files.begin(), files.end(), [this](const std::string& path) {
      const GuardStatus* guard = find(path);
      return guard != nullptr && guard->state == State::paused;
    });
  };
  wait_until(
      none_paused, kAnswerWithin,
      [answer] {
        answer({{"ok", true}});
      },
      answer);
}

void Supervisor::release(const json::object& request, const Answer& answer) {
  const Named paths = named(request);
  if (paths.empty()) return answer(refusal("no such guard: " + text_of(request, "path")));
  struct Pending {
    std::atomic<bool> given_up{false};  // nobody waits any more: what hasn't begun isn't done
    std::size_t left = 0;
    std::string errors;
  };
  const auto pending = std::make_shared<Pending>();
  pending->left = paths.files.size();
  std::chrono::milliseconds limit = kAnswerWithin;
  for (const std::string& path : paths.globs) stored(pauses_.set(path, WallTime::max()));
  for (const std::string& path : paths.files) {
    const Policy policy = policy_of(rollout_->guard_of(path).value_or(0), path);
    limit = std::min(limit + policy.deadline, kMostTime);
    lanes_->tell_any(path, [this, pending, policy](LaneLoop& loop) {
      if (pending->given_up) return;
      mailbox_->post([this, pending, path = policy.path, error = loop.release(policy)] {
        if (error.empty()) stored(pauses_.set(path, WallTime::max()));
        if (error.empty()) note_command({path}, released_event);
        if (!error.empty()) pending->errors.append(pending->errors.empty() ? "" : "; ").append(error);
        --pending->left;
        refresh();
      });
    });
  }
  // Gone with the waiter: answered, or its client has left.
  const std::shared_ptr<void> waited(nullptr, [pending](void*) { pending->given_up = true; });
  wait_until([pending] { return pending->left == 0; }, limit,
             [pending, answer, waited] {
               if (pending->left != 0) return answer(refusal("a file system doesn't answer: not released"));
               answer(pending->errors.empty() ? json::object{{"ok", true}} : refusal(pending->errors));
             },
             answer);
}

// One pass over everything, by the running guardian itself.
void Supervisor::apply(const Answer& answer) {
  std::chrono::milliseconds limit{1000};
  unlooked_.clear();
  for (const GuardStatus& guard : status_.guards) {
    const Rollout::Member* file = rollout_->find(guard.path);
    if (file != nullptr && file->told && !file->held_back) unlooked_.insert(guard.path);
    const Policy& policy = setup_.loaded.settings->guards.at(rollout_->guard_of(guard.path).value_or(0));
    limit += policy.deadline + policy.settle;
    for (const Requirement& requirement : policy.requirements) limit += requirement.timeout;
    limit = std::min(limit, kMostTime);
  }
  routes_changed();
  lanes_->look_at_all();
  wait_until([this] { return pass_is_over(); }, limit,
             [this, answer] {
               answer({{"status", status_json(status_)}});
             },
             answer);
}

// Each guard that nothing keeps waiting has come to something.
bool Supervisor::pass_is_over() const {
  using Stand = Rollout::Trial::Stand;
  return std::all_of(status_.guards.begin(), status_.guards.end(), [this](const GuardStatus& guard) {
    const Rollout::Member* file = rollout_->find(guard.path);
    const std::size_t order = rollout_->guard_of(guard.path).value_or(0);
    const Rollout::Place& place = rollout_->places()[order];
    const bool waits = unresolved_.contains(order);  // as long as that takes
    if ((place.gate.stand == Stand::asked && !waits) || place.list.stand == Stand::asked) return false;
    if (file == nullptr || !file->told || file->held_back || file->stand == Stand::unanswered) return true;
    if (unlooked_.contains(guard.path) || file->stand == Stand::asked) return false;
    return guard.state != State::settling && guard.state != State::restoring;
  });
}

}  // namespace rg
