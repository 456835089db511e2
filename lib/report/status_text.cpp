// status and history for people. Everything that somebody else chose goes through printable(): a comment in a
// resolv.conf or the name of a file must not be able to move the cursor of whoever asks for the status.
#include <fmt/format.h>

#include <algorithm>

#include "lib/policy/finder.hpp"
#include "lib/report/diff.hpp"
#include "lib/report/reasons.hpp"
#include "lib/report/status.hpp"
#include "lib/report/text.hpp"
#include "lib/report/words.hpp"
#include "lib/resolv/resolv_conf.hpp"

namespace rg {
namespace {

// systemd shows STATUS= in one line of `systemctl status`, and one datagram must hold it: a few guards say enough.
constexpr std::size_t kMaxNamed = 8;
constexpr std::size_t kMaxReason = 240;
constexpr std::size_t kMaxAddresses = 16;  // of an event's line in the log

std::string reason_text(const std::string& reason) { return shortened(printable(reason), kMaxReason); }

template <class Values, class Text>
std::string joined(const Values& values, std::string_view separator, Text text) {
  std::string line;
  for (const auto& value : values) {
    if (!line.empty()) line += separator;
    line += text(value);
  }
  return line;
}

std::string words_text(const std::vector<std::string>& words) { return joined(words, " ", printable); }

std::string addresses_text(const std::vector<Nameserver>& servers) {
  return joined(servers, ", ", [](const Nameserver& server) { return printable(server.text()); });
}

std::size_t holding(const Status& status) {
  return static_cast<std::size_t>(std::count_if(status.guards.begin(), status.guards.end(),
                                                [](const GuardStatus& guard) { return guard.state == State::holds; }));
}

// Which knob helps, for the states that somebody should do something about.
std::string advice(const GuardStatus& guard) {
  const std::string path = printable(guard.path);
  switch (guard.state) {
    case State::holds:
    case State::restoring:
    case State::blocked:  // its reason says what to do
      return {};
    case State::settling:
      return "somebody is still writing the file; it is judged when he closes it, or when `settle` is over";
    case State::waiting:
      if (guard.reason.starts_with(waits_reason(""))) {
        return "a guard before it in the configuration doesn't hold: look at that one, or make that one `optional`";
      }
      if (guard.reason.starts_with(unresolved_reason())) {
        return "nothing, if the network is still coming up: it goes on as soon as there is one; ip route get ADDRESS";
      }
      if (guard.reason.starts_with(misplaced_reason())) return "change the list that the reason names";
      return guard.reason.empty() ? "" : "start that server, or look whether it answers: dig @SERVER NAME";
    case State::contested:
      return fmt::format(
          "another writer undoes it again and again: resolv-guardian history --diff shows whose it is; "
          "turn that one off, or: resolv-guardian pause {}",
          path);
    case State::paused:
      return fmt::format("resolv-guardian resume {}", path);
    case State::observing:
      return "enforce = false: nothing is written; resolv-guardian check shows what a restore would change";
    case State::failed:
      return "tried again by itself, every 2 s at the slowest; resolv-guardian history shows the attempts";
  }
  return {};
}

std::string state_text(const GuardStatus& guard) {
  std::string line = fmt::format("{}: {} since {}", printable(guard.path), word(guard.state), rfc3339(guard.since));
  if (guard.paused_until == WallTime::max()) {
    line += ", until it is resumed";
  } else if (guard.paused_until) {
    line += ", until " + rfc3339(*guard.paused_until);
  }
  if (guard.attempt != 0) line += fmt::format(", attempt {}", guard.attempt);
  return line + "\n";
}

// A server that is read but that the judgement didn't speak of (somebody's latest) has no origin to show.
std::string servers_text(const GuardStatus& guard) {
  std::vector<Nameserver> servers;
  for (const SaidServer& said : guard.servers) servers.push_back(said.server);
  Finder<SameServer> finder(servers);
  return joined(guard.read.nameservers, ", ", [&](const Nameserver& server) {
    const std::size_t place = finder.find(server);
    const std::string_view origin = place == servers.size() ? "not judged yet" : word(guard.servers[place].origin);
    return fmt::format("{} ({})", printable(server.text()), origin);
  });
}

std::string source_text(const GuardStatus& guard) {
  std::string line{word(guard.source)};
  if (guard.learned.empty()) return line;
  line += "; learned " + addresses_text(guard.learned);
  if (!guard.learned_writer.empty()) line += " from " + printable(guard.learned_writer);
  if (guard.learned_at) line += " at " + rfc3339(*guard.learned_at);
  return line;
}

std::string counts_text(const GuardStatus& guard) {
  std::string line =
      fmt::format("{} rewrites, {} restores, {} failures", guard.rewrites, guard.restores, guard.failures);
  if (guard.last_restore_us) line += fmt::format("; the last restore took {} us", *guard.last_restore_us);
  return line;
}

std::string guard_text(const GuardStatus& guard) {
  std::string text = state_text(guard);
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", name, value);
  };
  add("reason", printable(guard.reason));
  const bool looked_at = guard.state != State::waiting || !guard.read.nameservers.empty();
  add("nameservers", !looked_at ? "not looked at yet" : guard.read.nameservers.empty() ? "none" : servers_text(guard));
  add("search", words_text(guard.read.search));
  add("options", words_text(guard.read.options));
  add("source", source_text(guard));
  add("dropped", joined(guard.dropped, ", ", [](const DroppedServer& one) {
        return fmt::format("{} ({})", printable(one.address), word(one.why));
      }));
  add("counts", counts_text(guard));
  add("to do", advice(guard));
  return text;
}

std::string who(const Writer& writer) {
  std::string name = printable(writer.comm.empty() ? writer.exe : writer.comm);
  if (writer.pid) name += fmt::format("{}[{}]", name.empty() ? "process " : "", *writer.pid);
  if (!writer.unit.empty()) name += (name.empty() ? "" : " of ") + printable(writer.unit);
  if (name.empty()) name = printable(writer.apparent);
  return name.empty() ? "an unknown writer" : name;
}

std::string change_text(const Event& event) {
  switch (event.how) {
    case How::start:
      return "found at the start";
    case How::removed:
      return "removed";  // whoever did it left no name
    case How::relinked:
    case How::attributes:
    case How::mounted:
      return fmt::format("changed by {} ({})", who(event.writer), word(event.how));
    case How::renamed:
    case How::written:
    case How::unknown:
      return fmt::format("rewritten by {} ({})", who(event.writer), word(event.how));
  }
  return {};
}

std::string contents_text(const std::optional<std::string>& bytes) {
  if (!bytes) return "no file";
  std::vector<Nameserver> servers = nameservers(parse(*bytes));
  if (servers.empty()) return "no nameserver";
  const std::size_t more = servers.size() - std::min(servers.size(), kMaxAddresses);
  servers.resize(servers.size() - more);
  return addresses_text(servers) + (more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string violations_text(const Event& event) {
  return joined(event.violations, ", ", [](Violation violation) { return std::string(word(violation)); });
}

// "rewritten by NetworkManager (renamed): required, order"
std::string judged_text(const Event& event) {
  const bool nobody = event.kind == Event::Kind::restore && !event.reason.empty();  // has changed the file
  return (nobody ? printable(event.reason) : change_text(event)) +
         (event.violations.empty() ? "" : ": " + violations_text(event));
}

// A file system that doesn't answer, or a gate: no change has come before.
bool is_of_a_change(const Event& event) { return event.how != How::unknown || !event.violations.empty(); }

std::string outcome_text(const Event& event) {
  std::string line = printable(event.outcome);
  if (!event.reason.empty()) line += (line.empty() ? "" : ": ") + printable(event.reason);
  return line;
}

}  // namespace

bool all_hold(const Status& status) { return holding(status) == status.guards.size(); }

std::string status_text(const Status& status) {
  std::string text = fmt::format("resolv-guardian {} (pid {}, since {}): generation {}, {}, {} of {} guards hold\n",
                                 printable(status.version), status.pid, rfc3339(status.started), status.generation,
                                 word(status.phase), holding(status), status.guards.size());
  if (!status.config_path.empty()) text += fmt::format("configuration {}\n", printable(status.config_path));
  if (!status.config_error.empty()) {
    text +=
        fmt::format("configuration refused, the one before it stays in force: {}\n", printable(status.config_error));
  }
  for (const GuardStatus& guard : status.guards) text += "\n" + guard_text(guard);
  return text;
}

std::string status_line(const Status& status) {
  const std::size_t hold = holding(status);
  std::string line = fmt::format("holds: {} of {}", hold, status.guards.size());
  std::size_t named = 0;
  for (const GuardStatus& guard : status.guards) {
    if (guard.state == State::holds) continue;
    if (++named > kMaxNamed) break;
    line += fmt::format("; {} is {}", printable(guard.path), word(guard.state));
    if (!guard.reason.empty()) line += ": " + reason_text(guard.reason);
  }
  if (named > kMaxNamed) line += fmt::format("; and {} more", status.guards.size() - hold - kMaxNamed);
  if (!status.config_error.empty()) line += "; configuration refused: " + reason_text(status.config_error);
  return line;
}

std::string event_text(const Event& event) {
  std::string line{word(event.kind)};
  const std::string reason = event.reason.empty() ? "" : "; " + printable(event.reason);
  if (!event.path.empty()) line += " " + printable(event.path);
  switch (event.kind) {
    case Event::Kind::rewrite:
      line += fmt::format(": {}; reads {}{}", judged_text(event), contents_text(event.after), reason);
      break;
    case Event::Kind::restore:
      line += fmt::format(": {}; reads {} ({} us)", judged_text(event), contents_text(event.after), event.took_us);
      break;
    case Event::Kind::would_restore:
      line += fmt::format(": {}; would read {}{}", judged_text(event), contents_text(event.after), reason);
      break;
    case Event::Kind::failure:
      line += ": " + (is_of_a_change(event) ? judged_text(event) + "; " : "") + outcome_text(event);
      break;
    case Event::Kind::state:
      line += ": " + outcome_text(event);
      break;
    case Event::Kind::reload:
      line += fmt::format(": generation {}: {}", event.generation, outcome_text(event));
      break;
  }
  return line;
}

std::string event_diff(const Event& event) {
  if (!event.before || !event.after) return {};
  return printable_lines(unified_diff(*event.before, *event.after, event.path, event.path));
}

}  // namespace rg
