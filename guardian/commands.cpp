#include "guardian/commands.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "guardian/command_events.hpp"
#include "guardian/control.hpp"
#include "guardian/log.hpp"
#include "guardian/offline.hpp"
#include "guardian/probe.hpp"
#include "guardian/settings_source.hpp"
#include "guardian/source_address.hpp"
#include "guardian/supervisor.hpp"
#include "lib/report/diff.hpp"
#include "lib/report/reasons.hpp"
#include "lib/report/status.hpp"
#include "lib/report/words.hpp"
#include "lib/store/journal.hpp"

namespace rg {
namespace {

namespace json = boost::json;

constexpr int kNotAnswered = 3;
constexpr std::chrono::minutes kPass{10};  // the guardian itself answers within the deadlines of its guards

// With fputs(3): fmt::print throws where stderr can't be written.
void say_plain(const std::string& line) { (void)std::fputs((line + "\n").c_str(), stderr); }
void say(const std::string& line) { say_plain("resolv-guardian: " + line); }

// A result goes to stdout as a whole, at the end: what can't be written there (a full disk, /dev/full) is no success.
int print_result(const std::string& text, int status) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return status;
  say(errno_error("write to", "standard output").text());
  return 3;
}

std::string runtime_of(const Options& options) { return resolve_directories(options, process_environment()).runtime; }
std::string state_of(const Options& options) { return resolve_directories(options, process_environment()).state; }

void say_warnings(const LoadedSettings& loaded) {
  for (const std::string& warning : loaded.warnings) say_plain("warning: " + warning);
}

// The mistakes; where there is no file at all, the ways out.
void say_error(const LoadedSettings& loaded) {
  const char* ways = "; --config FILE names another one, and --path PATH, --first ADDRESS and the like need none";
  say_plain(loaded.error + (loaded.missing ? ways : ""));
}

// The configuration, or an exit status after the mistakes were said.
std::optional<Settings> settings_or_say(const Options& options) {
  LoadedSettings loaded = SettingsSource(options, process_environment()).load();
  say_warnings(loaded);
  if (!loaded.settings) say_error(loaded);
  return std::move(loaded.settings);
}

Result<Status> status_in(const Result<json::object>& answer) {
  if (!answer) return answer.error();
  const auto* text = answer->if_contains("status");
  auto status = text != nullptr && text->is_string() ? parse_status(text->as_string()) : std::nullopt;
  if (!status) return Error{0, "the guardian gave no status"};
  return std::move(*status);
}

int no_answer(const Error& error) {
  const bool none = error.code == ENOENT || error.code == ECONNREFUSED;
  if (error.code == EACCES)
    say("permission denied: the guardian answers root alone");
  else
    say(none ? "no guardian answers" : error.text());
  return kNotAnswered;
}

// Says why an answer is no success; the exit status.
int checked(const Result<json::object>& answer) {
  if (!answer) return no_answer(answer.error());
  const auto* error = answer->if_contains("error");
  if (error == nullptr) return 0;
  say(error->is_string() ? std::string(error->as_string()) : "refused");
  return kNotAnswered;
}

// The guard that a command is for: the one that it names, or that the command line is. nullopt: all.
std::optional<std::string> wanted_guard(const Options& options) {
  if (options.path || !options.guard) return options.path;
  return options.guard->path;
}

json::object request_for(const char* command, const Options& options) {
  json::object request{{"command", command}};
  if (const auto wanted = wanted_guard(options)) request["path"] = *wanted;
  return request;
}

std::string why_not(const Outcome& outcome) {
  if (const auto* held = std::get_if<Held>(&outcome.result)) return std::string(word(held->why)) + ": " + held->reason;
  if (const auto* refused = std::get_if<Refused>(&outcome.result)) return "blocked: " + refused->reason;
  if (const auto* failed = std::get_if<Failed>(&outcome.result)) return "failed: " + failed->reason;
  if (outcome.holds()) return "observing: enforce = false";
  return "writers were faster, again and again";
}

Pauses load_pauses(const std::string& runtime_dir) {
  Pauses pauses = Pauses::load(runtime_dir);
  if (!pauses.warning().empty()) say(pauses.warning());
  return pauses;
}

// The running guardian makes its pass by its own configuration, whatever we were given.
void warn_of_another_configuration(const Options& options, const Status& status) {
  const LoadedSettings loaded = SettingsSource(options, process_environment()).load();
  say_warnings(loaded);
  const bool there_is_none = loaded.sha256.empty();
  if (there_is_none || loaded.sha256 == status.config_sha256) return;
  if (!loaded.settings) say_plain(loaded.error);
  say("the running guardian has another configuration, and made its pass by that");
}

// What can't be looked into isn't empty: nothing is said of any guard.
int not_listed(const Error& error) {
  say(not_listed_reason(error.text()));
  return 3;
}

// The gate: addresses that the kernel has to tell, then `requires`.
std::string why_closed(Policy& policy) {
  if (const auto unresolved = resolve_all(policy)) return unresolved_reason(*unresolved);
  for (const Requirement& requirement : policy.requirements) {
    if (const std::string why_not = probe(requirement, -1); !why_not.empty()) return requires_reason(why_not);
  }
  return {};
}

// One ordered pass by ourselves: a guard that doesn't hold keeps those behind it waiting, unless it is optional.
int apply_offline(const Settings& settings, Offline& offline, const Directories& directories) {
  const Pauses pauses = load_pauses(directories.runtime);
  Journal journal(directories.state);
  std::size_t waits_for = settings.guards.size();  // the matches of one glob don't hold each other back
  int status = 0;
  auto files = offline.files(settings.guards);
  if (!files) return not_listed(files.error());
  for (auto& [policy, guard] : *files) {
    if (guard > waits_for) {
      say(policy.path + ": waiting: " + waits_reason(settings.guards[waits_for].path));
      continue;
    }
    if (const std::string closed = why_closed(policy); !closed.empty()) {
      say(policy.path + ": waiting: " + closed);
      status = 3;
      if (policy.enforce && !policy.optional) waits_for = std::min(waits_for, guard);
      continue;
    }
    Outcome outcome = offline.bring_to_hold(policy, pauses.of(policy.path).has_value());
    (void)journal.append(outcome.events);
    for (const std::string& warning : offline.warnings()) say(policy.path + ": " + warning);
    if (outcome.holds() && policy.enforce) continue;
    say(policy.path + ": " + why_not(outcome));
    status = 3;
    if (policy.enforce && !policy.optional) waits_for = std::min(waits_for, guard);
  }
  return status;
}

std::string change_text(const Policy& policy, const Decision& decision, const Seen& seen) {
  std::string text;
  const auto mode = seen.info.st_mode & 07777U;
  for (const Violation violation : decision.violations) {
    const bool link = violation == Violation::link;
    if (violation == Violation::mode)
      text += fmt::format("# {}: mode {:04o} -> {:04o}\n", policy.path, mode, policy.mode);
    if (violation == Violation::label)
      text += "# " + policy.path + ": label " + seen.label + " -> " + decision.label + "\n";
    if (link && decision.make_link) text += "# " + policy.path + ": becomes a link to " + decision.bytes + "\n";
    if (link && !decision.make_link) text += "# " + policy.path + ": the link becomes a file\n";
  }
  if (decision.make_link) return text;
  const std::string before = seen.kind == NodeKind::file ? seen.bytes : "";
  return text + unified_diff(before, decision.bytes, policy.path, policy.path + " (restored)");
}

}  // namespace

int run_command(const Options& options) {
  const Directories directories = resolve_directories(options, process_environment());
  const Log log(options.log_format, options.log_level);
  for (const std::string& directory : {directories.state, directories.runtime}) {
    if (auto made = make_directories(directory); !made) {
      log.error(made.error().text());
      return 3;
    }
  }
  SettingsSource source(options, process_environment());
  LoadedSettings loaded = source.load_or_last_verified(StateDirectory(directories.state));
  for (const std::string& warning : loaded.warnings) log.warning(warning);
  if (!loaded.settings) {
    say_error(loaded);
    return 2;
  }
  return Supervisor({std::move(source), std::move(loaded), directories, options.root, log}).run();
}

int apply_command(const Options& options) {
  const Directories directories = resolve_directories(options, process_environment());
  if (const auto answer = ask(directories.runtime, {{"command", "apply"}}, kPass)) {
    const auto status = status_in(answer);
    if (!status) return no_answer(status.error());
    for (const GuardStatus& guard : status->guards) {
      if (guard.state != State::holds) say(guard.path + ": " + std::string(word(guard.state)) + ": " + guard.reason);
    }
    warn_of_another_configuration(options, *status);
    return all_hold(*status) ? 0 : 3;
  }
  const auto settings = settings_or_say(options);
  if (!settings) return 2;
  for (const std::string& directory : {directories.state, directories.runtime}) {
    if (auto made = make_directories(directory); !made) {
      say(made.error().text());
      return 3;
    }
  }
  auto offline = Offline::open(options.root, directories.state);
  auto locked = offline ? offline->lock(settings->guards) : Result<void>(offline.error());
  if (!locked) {
    say(why_not_locked("guards this directory", locked.error()));
    return 3;
  }
  return apply_offline(*settings, *offline, directories);
}

int check_command(const Options& options) {
  const auto settings = settings_or_say(options);
  if (!settings) return 2;
  auto offline = Offline::open(options.root, state_of(options));
  if (!offline) {
    say(offline.error().text());
    return 3;
  }
  auto files = offline->files(settings->guards);
  if (!files) return not_listed(files.error());
  int status = 0;
  std::string changes;
  for (auto& [policy, guard] : *files) {
    if (const auto unresolved = resolve(policy.nameservers, source_address).problem) {
      say(policy.path + ": " + unresolved_reason(*unresolved));
      status = 3;
      continue;
    }
    const Decision decision = offline->look(policy);
    for (const std::string& warning : offline->warnings()) say(policy.path + ": " + warning);
    if (decision.kind == Decision::Kind::keep) continue;
    if (decision.kind == Decision::Kind::refuse) {
      say(policy.path + (decision.failed ? ": failed: " : ": blocked: ") + decision.refusal);
      status = 3;
      continue;
    }
    changes += change_text(policy, decision, offline->seen());
    if (status == 0) status = 1;
  }
  return print_result(changes, status);
}

int pause_command(const Options& options) {
  json::object request = request_for("pause", options);
  if (options.pause) request["for_ms"] = options.pause->count();
  return checked(ask(runtime_of(options), request));
}

// A pause that `release` made stands without a running guardian, and is ended so.
int resume_command(const Options& options) {
  const std::string runtime = runtime_of(options);
  const auto answer = ask(runtime, request_for("resume", options));
  if (answer) return checked(answer);
  Pauses pauses = load_pauses(runtime);
  const std::vector<std::string> paused = pauses.paths();
  const auto wanted = wanted_guard(options);
  bool found = false;
  for (const std::string& path : paused) {
    if (wanted && *wanted != path && !matches_glob(*wanted, path)) continue;
    found = true;
    auto set = pauses.set(path, std::nullopt);
    if (!set) say(set.error().text());
    if (set) (void)Journal(state_of(options)).append({resumed_event(path)});
  }
  return found ? 0 : no_answer(answer.error());
}

int release_command(const Options& options) {
  const Directories directories = resolve_directories(options, process_environment());
  if (const auto answer = ask(directories.runtime, request_for("release", options), kPass)) {
    return checked(answer);
  }
  const auto settings = settings_or_say(options);
  if (!settings) return 3;
  auto offline = Offline::open(options.root, directories.state);
  auto made = make_directories(directories.runtime);
  if (made) made = make_directories(directories.state);
  if (offline && made) made = offline->lock(settings->guards);
  if (!offline || !made) {
    say(!offline ? offline.error().text() : why_not_locked("guards this directory", made.error()));
    return 3;
  }
  Pauses pauses = load_pauses(directories.runtime);
  bool found = false;
  int status = 0;
  const auto files = offline->files(settings->guards);
  if (!files) return not_listed(files.error());
  for (const auto& [policy, guard] : *files) {
    const bool named = !options.path || *options.path == policy.path || *options.path == settings->guards[guard].path;
    if (!named) continue;
    found = true;
    const auto released = offline->release(policy);
    for (const std::string& warning : offline->warnings()) say(policy.path + ": " + warning);
    if (!released) say(released.error().text());
    if (released) (void)Journal(directories.state).append({released_event(policy.path)});
    const auto paused = pauses.set(policy.path, WallTime::max());
    if (!paused) say(policy.path + " isn't paused: " + paused.error().text());
    if (!released || !paused) status = 3;
  }
  for (const Policy& policy : settings->guards) {  // what matches later is paused, too
    if (!has_glob(policy.path) || (options.path && *options.path != policy.path)) continue;
    found = true;
    if (auto paused = pauses.set(policy.path, WallTime::max()); !paused) status = 3;
  }
  if (!found) say("no such guard: " + options.path.value_or(""));
  return found ? status : 3;
}

// Waits for a guardian that isn't there yet, too, or that is being restarted: a unit that waits may start before it.
static Result<Status> wait_for_status(const std::string& runtime_dir, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kAnswerBy{500}, kAskAgain{10'000};  // one that is stopped isn't waited for
  const auto end = Clock::now() + limit;
  const bool for_ever = limit.count() == 0;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const auto within = for_ever ? 0 : std::max<std::int64_t>(1, left.count());
    auto status = status_in(ask(runtime_dir, {{"command", "wait-holds"}, {"within_ms", within}},
                                for_ever ? kAskAgain : std::chrono::milliseconds(within) + kAnswerBy));
    if (status || (!for_ever && Clock::now() >= end)) return status;
    (void)::poll(nullptr, 0, 50);
  }
}

int status_command(const Options& options) {
  const std::string runtime = runtime_of(options);
  const auto status = options.wait_holds ? wait_for_status(runtime, *options.wait_holds)
                                         : status_in(ask(runtime, {{"command", "status"}}));
  if (!status) return no_answer(status.error());
  return print_result((options.json ? status_json(*status) : status_text(*status)) + "\n",
                      options.alive || all_hold(*status) ? 0 : 1);
}

int history_command(const Options& options) {
  const auto events = Journal(state_of(options)).newest(options.count);
  if (!events) {
    say(events.error().text());
    return 3;
  }
  std::string lines;
  for (const Event& event : *events) {
    lines += (options.json ? event_json(event) : rfc3339(event.at) + " " + event_text(event)) + "\n";
    if (options.diff && !options.json) lines += event_diff(event);
  }
  return print_result(lines, 0);
}

int config_command(const Options& options) {
  const auto settings = settings_or_say(options);
  if (!settings) return 2;
  return print_result(print_config(*settings), 0);
}

}  // namespace rg
