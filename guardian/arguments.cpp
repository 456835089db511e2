#include "guardian/arguments.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "lib/config/nearest.hpp"
#include "lib/config/values.hpp"

namespace rg {
namespace {

using Values = std::vector<std::string> Raw::*;

// A value each time (`into`), or none (`on`). A name, a letter or both.
struct Flag {
  const char* name;
  std::string_view value;
  Values into;
  bool Raw::*on;
  std::string_view help;
  char letter = '\0';
};

using Flags = std::span<const Flag>;

constexpr Flag kHelp{"--help", "", nullptr, &Raw::help, "Print this help", 'h'};
constexpr Flag kProgramFlags[] = {kHelp, {"--version", "", nullptr, &Raw::version, "Print the version"}};

constexpr Flag kGlobalFlags[] = {
    {"--config", "FILE", &Raw::config, nullptr,
     "Configuration [/etc/resolv-guardian/config.toml]; config.d/*.toml beside it too"},
    {"--root", "DIR", &Raw::root, nullptr, "Guarded paths and their links are inside DIR [/]"},
    {"--state-dir", "DIR", &Raw::state_dir, nullptr, "What is remembered [$STATE_DIRECTORY, /var/lib/resolv-guardian]"},
    {"--runtime-dir", "DIR", &Raw::runtime_dir, nullptr,
     "The control socket [$RUNTIME_DIRECTORY, /run/resolv-guardian]"},
    {"--log-format", "FORMAT", &Raw::log_format, nullptr, "text or json [text]"},
    {"--log-level", "LEVEL", &Raw::log_level, nullptr, "debug, info, warning or error [info]"},
};

constexpr Flag kGuardFlags[] = {
    {"--path", "PATH", &Raw::path, nullptr, "The guarded file [/etc/resolv.conf]"},
    {"--first", "ADDRESS", &Raw::first, nullptr,
     "This nameserver stands first; ADDRESS may be source-address-of:OTHER"},
    {"--last", "ADDRESS", &Raw::last, nullptr, "This nameserver stands last"},
    {"--only", "ADDRESS", &Raw::only, nullptr, "This nameserver and no learned one"},
    {"--deny", "WHAT", &Raw::deny, nullptr, "Never this address, prefix, or loopback, unspecified, link-local"},
    {"--fallback", "ADDRESS", &Raw::fallback, nullptr, "Where nothing was learned and nothing is remembered"},
    {"--search-first", "DOMAIN", &Raw::search_first, nullptr, "This search domain stands first"},
    {"--set", "OPTION", &Raw::set, nullptr, "This resolver option is set"},
    {"--max", "N", &Raw::max, nullptr, "How many nameservers may stand there, 0 = no limit [3]"},
    {"--link", "MODE", &Raw::link, nullptr, "If the path is a link: follow it, or replace it by a file [follow]"},
    {"--observe", "", nullptr, &Raw::observe, "Watch, learn and record, but never write"},
};

constexpr Flag kJson{"--json", "", nullptr, &Raw::json, "JSON instead of text"};
constexpr Flag kPauseFlags[] = {{"--for", "TIME", &Raw::pause_for, nullptr, "End by itself after 30s, 10m, 2h"}};
constexpr Flag kStatusFlags[] = {
    kJson,
    {"--wait-holds", "SECONDS", &Raw::wait_holds, nullptr, "Wait until every guard holds, 0 = for ever"},
    {"--alive", "", nullptr, &Raw::alive, "End with 0 whenever a guardian answers, whatever holds"}};
constexpr Flag kHistoryFlags[] = {kJson,
                                  {"", "N", &Raw::count, nullptr, "How many, 0 = all [20]", 'n'},
                                  {"--diff", "", nullptr, &Raw::diff, "With what each one changed"}};

struct CommandHelp {
  std::string_view name;
  Command command;
  std::string_view help;
  Flags flags = {};
  bool takes_path = false;
};

constexpr CommandHelp kCommands[] = {
    {"run", Command::run, "Guard until SIGTERM; SIGHUP or a changed configuration reloads"},
    {"apply", Command::apply, "One pass over all guards, then end (3: a guard doesn't hold)"},
    {"check", Command::check, "Write nothing, print what a restore would change (1: drift)"},
    {"pause", Command::pause, "Make the running guardian watch and learn, but write nothing", kPauseFlags, true},
    {"resume", Command::resume, "End a pause", {}, true},
    {"release", Command::release, "Put back what the last writer left, then pause", {}, true},
    {"status", Command::status, "State of the running guardian (1: not all hold, 3: none answers)", kStatusFlags},
    {"history", Command::history, "The newest rewrites and restores", kHistoryFlags},
    {"config", Command::config, "Check the configuration, print it with all defaults filled in"},
};

std::string written(const Flag& flag) {
  if (flag.letter == '\0') return flag.name;
  return fmt::format("-{}{}{}", flag.letter, *flag.name == '\0' ? "" : ",", flag.name);
}

std::string line(std::string_view name, std::string_view value, std::string_view help) {
  return fmt::format("  {:<28}{}\n", fmt::format("{}{}{}", name, value.empty() ? "" : " ", value), help);
}

std::string lines(Flags flags) {
  std::string text;
  for (const Flag& flag : flags) text += line(written(flag), flag.value, flag.help);
  return text;
}

std::string help() {
  std::string text =
      "Keeps the nameservers of this host in the required order, whoever rewrites its resolv.conf.\n"
      "Usage: resolv-guardian [OPTIONS] [SUBCOMMAND]\n\nOptions:\n";
  text += lines(kProgramFlags) + lines(kGlobalFlags);
  text += "\n\nOne guard without a configuration file (each may be repeated where a list makes sense):\n";
  text += lines(kGuardFlags) + "\nSubcommands:\n";
  for (const CommandHelp& command : kCommands) text += line(command.name, "", command.help);
  return text + '\n';
}

std::string help(const CommandHelp& command) {
  std::string text = fmt::format("{}\nUsage: resolv-guardian {} [OPTIONS]{}\n", command.help, command.name,
                                 command.takes_path ? " [PATH]" : "");
  if (command.takes_path) text += "\nPositionals:\n" + line("PATH", "", "This guard alone [all]");
  text += "\nOptions:\n" + lines({&kHelp, 1}) + lines(command.flags);
  if (command.takes_path) text += '\n';
  return text + "\nThe options of `resolv-guardian --help` may stand here too.\n";
}

// An option or a command that there is not, or more than belongs behind a command.
std::string unexpected(const std::string& found, const CommandHelp* command) {
  std::vector<std::string_view> options{"--observe", "--help",       "--version", "--for",
                                        "--json",    "--wait-holds", "--alive",   "--diff"};
  for (const Flag& flag : kGlobalFlags) options.emplace_back(flag.name);
  for (const Flag& flag : kGuardFlags) options.emplace_back(flag.name);
  std::vector<std::string_view> commands;
  for (const CommandHelp& known : kCommands) commands.emplace_back(known.name);
  std::string expected = command != nullptr ? fmt::format("nothing more behind `{}`", command->name)
                                            : one_of(commands) + did_you_mean(found, commands);
  if (found.rfind('-', 0) == 0) {
    const std::string where = command != nullptr ? fmt::format(" of `{}`", command->name) : "";
    expected = "an option" + where + did_you_mean(found.substr(0, found.find('=')), options);
  }
  return fmt::format("resolv-guardian: found {}, expected {}\n", ticked(found), expected);
}

constexpr std::size_t kMostFlags = [] {
  std::size_t most = 0;
  for (const CommandHelp& command : kCommands) most = std::max(most, command.flags.size());
  return most + std::size(kProgramFlags) + std::size(kGlobalFlags) + std::size(kGuardFlags);
}();

// The options known before or behind a command, as getopt_long(3) takes them.
class Known {
 public:
  explicit Known(const CommandHelp* command) {
    if (command != nullptr) add(command->flags);
    add(kProgramFlags);
    add(kGlobalFlags);
    add(kGuardFlags);
  }

  // What getopt_long() finds at `optind`.
  [[nodiscard]] int next(int argc, char** argv) const {
    return ::getopt_long(argc, argv, letters_.c_str(), names_, nullptr);
  }

  // The flag that it means by that. nullptr: none.
  [[nodiscard]] const Flag* find(int found) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (code(i) == found) return flags_[i];
    }
    return nullptr;
  }

 private:
  void add(Flags flags) {
    for (const Flag& flag : flags) {
      flags_[size_] = &flag;
      const bool valued = flag.into != nullptr;
      if (*flag.name != '\0')
        names_[named_++] = {flag.name + 2, valued ? required_argument : no_argument, nullptr, code(size_)};
      if (flag.letter != '\0') letters_.append(1, flag.letter).append(valued ? ":" : "");
      ++size_;
    }
  }

  // Its letter, or what no character is.
  [[nodiscard]] int code(std::size_t i) const {
    return flags_[i]->letter != '\0' ? flags_[i]->letter : 256 + static_cast<int>(i);
  }

  const Flag* flags_[kMostFlags] = {};
  ::option names_[kMostFlags + 1] = {};  // the last stays empty: the end
  std::size_t size_ = 0, named_ = 0;
  std::string letters_ = "+:";  // stop at a word; a value that is missing is `:`
};

class Sorting {
 public:
  // getopt_long() wants pointers to char, and doesn't write through them.
  Sorting(int argc, const char* const* argv) {
    arguments_.reserve(static_cast<std::size_t>(argc) + 1);
    arguments_.assign(const_cast<char**>(argv), const_cast<char**>(argv) + argc);
    arguments_.push_back(nullptr);
  }

  std::variant<Raw, Stop> all() {
    const int behind = scan(0);
    if (command_ != nullptr) scan(behind - 1);
    if (!errors_.empty()) return usage_error(std::move(errors_));
    if (raw_.help) return Stop{0, command_ != nullptr ? help(*command_) : help(), {}};
    if (stray_ != nullptr) return usage_error(unexpected(stray_, command_));
    if (raw_.version) return Stop{0, "resolv-guardian " RG_VERSION "\n", {}};
    if (command_ == nullptr) return Stop{2, {}, help() + "resolv-guardian: found no command, expected one of them\n"};
    return std::move(raw_);
  }

 private:
  // What stands behind argument `first`, up to the command, whose options are other ones, or to the end. Returns where
  // it stopped.
  int scan(int first) {
    char** const argv = arguments_.data() + first;
    const int argc = static_cast<int>(arguments_.size()) - 1 - first;
    const CommandHelp* const command = command_;
    const Known known(command);
    opterr = 0;
    optind = 0;  // Anew, from argv[1]: glibc reads the `+` at 0 alone, and musl takes it too.
    while (optind < argc && command_ == command && errors_.empty()) {
      const int at = std::max(optind, 1);
      const int found = known.next(argc, argv);
      if (found != -1) {
        option(known, found, at, argv[at]);
      } else if (optind > at) {  // `--`
        while (optind < argc) word(argv[optind++]);
      } else if (optind < argc) {
        word(argv[optind++]);
      }
    }
    return first + optind;
  }

  void stray(const char* argument) {
    if (stray_ == nullptr) stray_ = argument;
    unplaced_ = argument;
  }

  // A command, or a command's path.
  void word(const char* argument) {
    if (command_ != nullptr) {
      if (!command_->takes_path || !raw_.target.empty()) return stray(argument);
      raw_.target.emplace_back(argument);
      return;
    }
    const auto* known = std::find_if(std::begin(kCommands), std::end(kCommands),
                                     [&](const CommandHelp& c) { return c.name == argument; });
    if (known == std::end(kCommands)) return stray(argument);
    command_ = known;
    raw_.command = known->command;
  }

  // What getopt_long() found in `argument`, which stands at `at`.
  void option(const Known& known, int found, int at, const char* argument) {
    if (argument == unplaced_) return;  // `-path` isn't `-h`.
    const std::string_view text = argument;
    const Flag* flag = known.find(found == ':' ? optopt : found);
    if (flag == nullptr) {
      stray(argument);
    } else if (text.starts_with("--") && text.substr(0, text.find('=')) != flag->name) {
      optind = at + 1;  // Abbreviated: no option here, so that what follows is no value.
      stray(argument);
    } else if (found == ':') {
      errors_ = fmt::format("resolv-guardian: {}: found no value, expected one\n", written(*flag));
    } else if (flag->on != nullptr) {
      raw_.*flag->on = true;
    } else {
      (raw_.*flag->into).emplace_back(optarg);
    }
  }

  std::vector<char*> arguments_;  // and a nullptr, which musl's getopt_long() looks for
  Raw raw_;
  const CommandHelp* command_ = nullptr;
  const char *stray_ = nullptr, *unplaced_ = nullptr;  // the first that could not be placed, and the newest
  std::string errors_;
};

}  // namespace

bool guard_given(const Raw& raw) {
  return std::any_of(std::begin(kGuardFlags), std::end(kGuardFlags),
                     [&](const Flag& flag) { return flag.on != nullptr ? raw.*flag.on : !(raw.*flag.into).empty(); });
}

Stop usage_error(std::string text) { return {2, {}, text + "Try `resolv-guardian --help`.\n"}; }

std::variant<Raw, Stop> sort_arguments(int argc, const char* const* argv) { return Sorting(argc, argv).all(); }

}  // namespace rg
