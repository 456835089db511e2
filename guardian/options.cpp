#include "guardian/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/config/nearest.hpp"
#include "lib/config/values.hpp"

namespace rg {

template <>
struct Keywords<LogFormat> {
  static constexpr std::array<std::pair<std::string_view, LogFormat>, 2> kAll{
      {{"text", LogFormat::text}, {"json", LogFormat::json}}};
};
template <>
struct Keywords<LogLevel> {
  static constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kAll{{{"debug", LogLevel::debug},
                                                                              {"info", LogLevel::info},
                                                                              {"warning", LogLevel::warning},
                                                                              {"error", LogLevel::error}}};
};

namespace {

using std::chrono::milliseconds;

// The arguments as they stand there. CLI11 only sorts them: every value is read by the functions that read the
// configuration.
struct Raw {
  std::vector<std::string> config, root, state_dir, runtime_dir, log_format, log_level;
  std::vector<std::string> path, first, last, only, deny, fallback, search_first, set, max, link;
  std::vector<std::string> pause_for, target, wait_holds, count;
  bool observe = false, version = false, json = false, diff = false;
};
using Values = std::vector<std::string> Raw::*;

struct Flag {
  const char* name;
  const char* value;
  Values into;
  const char* help;
};

constexpr Flag kGlobalFlags[] = {
    {"--config", "FILE", &Raw::config,
     "Configuration [/etc/resolv-guardian/config.toml]; config.d/*.toml beside it too"},
    {"--root", "DIR", &Raw::root, "Guarded paths and their links are inside DIR [/]"},
    {"--state-dir", "DIR", &Raw::state_dir, "What is remembered [$STATE_DIRECTORY, /var/lib/resolv-guardian]"},
    {"--runtime-dir", "DIR", &Raw::runtime_dir, "The control socket [$RUNTIME_DIRECTORY, /run/resolv-guardian]"},
    {"--log-format", "FORMAT", &Raw::log_format, "text or json [text]"},
    {"--log-level", "LEVEL", &Raw::log_level, "debug, info, warning or error [info]"},
};

constexpr Flag kGuardFlags[] = {
    {"--path", "PATH", &Raw::path, "The guarded file [/etc/resolv.conf]"},
    {"--first", "ADDRESS", &Raw::first, "This nameserver stands first"},
    {"--last", "ADDRESS", &Raw::last, "This nameserver stands last"},
    {"--only", "ADDRESS", &Raw::only, "This nameserver and no learned one"},
    {"--deny", "WHAT", &Raw::deny, "Never this address, prefix, or loopback, unspecified, link-local"},
    {"--fallback", "ADDRESS", &Raw::fallback, "Where nothing was learned and nothing is remembered"},
    {"--search-first", "DOMAIN", &Raw::search_first, "This search domain stands first"},
    {"--set", "OPTION", &Raw::set, "This resolver option is set"},
    {"--max", "N", &Raw::max, "How many nameservers may stand there, 0 = no limit [3]"},
    {"--link", "MODE", &Raw::link, "If the path is a link: follow it, or replace it by a file [follow]"},
};

struct CommandHelp {
  const char* name;
  Command command;
  const char* help;
  bool takes_path;
};

constexpr CommandHelp kCommands[] = {
    {"run", Command::run, "Guard until SIGTERM; SIGHUP or a changed configuration reloads", false},
    {"apply", Command::apply, "One pass over all guards, then end (3: a guard doesn't hold)", false},
    {"check", Command::check, "Write nothing, print what a restore would change (1: drift)", false},
    {"pause", Command::pause, "Make the running guardian watch and learn, but write nothing", true},
    {"resume", Command::resume, "End a pause", true},
    {"release", Command::release, "Put back what the last writer left, then pause", true},
    {"status", Command::status, "State of the running guardian (1: not all hold, 3: none answers)", false},
    {"history", Command::history, "The newest rewrites and restores", false},
    {"config", Command::config, "Check the configuration, print it with all defaults filled in", false},
};

// One value each time and however often: with a vector, `--first 127.0.0.1 run` would take the command for a second
// address, and newer versions of CLI11 take `[::1]` for a list.
void add_flag(CLI::App& app, const Flag& flag, Raw& raw, const char* group) {
  const auto keep = [&values = raw.*flag.into](const std::string& text) { values.push_back(text); };
  CLI::Option* option = app.add_option_function<std::string>(flag.name, keep, flag.help);
  option->type_name(flag.value)->trigger_on_parse()->group(group);
}

// Said, not left to CLI11, whose versions differ in it.
constexpr const char* kGroup = "Options";

void add_own_flags(CLI::App& sub, Command command, Raw& raw) {
  if (command == Command::pause)
    add_flag(sub, {"--for", "TIME", &Raw::pause_for, "End by itself after 30s, 10m, 2h"}, raw, kGroup);
  if (command == Command::status || command == Command::history)
    sub.add_flag("--json", raw.json, "JSON instead of text")->group(kGroup);
  if (command == Command::status) {
    add_flag(sub, {"--wait-holds", "SECONDS", &Raw::wait_holds, "Wait until every guard holds, 0 = for ever"}, raw,
             kGroup);
  }
  if (command == Command::history) {
    add_flag(sub, {"-n", "N", &Raw::count, "How many, 0 = all [20]"}, raw, kGroup);
    sub.add_flag("--diff", raw.diff, "With what each one changed")->group(kGroup);
  }
}

void add_everything(CLI::App& app, Raw& raw) {
  app.set_help_flag("-h,--help", "Print this help")->group(kGroup);
  app.add_flag("--version", raw.version, "Print the version")->group(kGroup);
  for (const Flag& flag : kGlobalFlags) add_flag(app, flag, raw, kGroup);
  constexpr const char* kGuard =
      "One guard without a configuration file (each may be repeated where a list makes sense)";
  for (const Flag& flag : kGuardFlags) add_flag(app, flag, raw, kGuard);
  app.add_flag("--observe", raw.observe, "Watch, learn and record, but never write")->group(kGuard);
  app.require_subcommand(0, 1);
  for (const CommandHelp& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help)->fallthrough();
    sub->get_help_ptr()->group(kGroup);
    sub->footer("The options of `resolv-guardian --help` may stand here too.");
    if (command.takes_path) add_flag(*sub, {"PATH", "", &Raw::target, "This guard alone [all]"}, raw, "Positionals");
    add_own_flags(*sub, command.command, raw);
  }
}

// Reads values, collects what is wrong with them.
class Reading {
 public:
  void wrong(const std::string& flag, const std::string& found, const std::string& expected) {
    errors_ += fmt::format("resolv-guardian: {}: found {}, expected {}\n", flag, found, expected);
  }

  template <class T>
  bool one(const std::string& flag, const std::string& text, T& into, Read<T> (*read)(std::string_view)) {
    Read<T> result = read(text);
    if (auto* value = std::get_if<T>(&result)) {
      into = std::move(*value);
      return true;
    }
    wrong(flag, ticked(text), std::get<Expected>(result).text);
    return false;
  }

  template <class T>
  void single(const std::string& flag, const std::vector<std::string>& texts, T& into,
              Read<T> (*read)(std::string_view)) {
    if (texts.size() > 1) wrong(flag, ticked(texts[0]) + " and " + ticked(texts[1]), "it only once");
    if (texts.size() == 1) one(flag, texts[0], into, read);
  }

  template <class T>
  void list(const std::string& flag, const std::vector<std::string>& texts, std::vector<T>& into,
            Read<T> (*read)(std::string_view)) {
    for (const std::string& text : texts) {
      T value;
      if (one(flag, text, value, read)) into.push_back(std::move(value));
    }
  }

  [[nodiscard]] const std::string& errors() const { return errors_; }

 private:
  std::string errors_;
};

Read<std::size_t> read_count(std::string_view text) {
  const bool digits = !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == text.npos;
  if (!digits) return Expected{"a whole number, 0 or more"};
  return static_cast<std::size_t>(std::stoul(std::string(text)));
}

// Seconds, with a fraction if need be.
Read<milliseconds> read_seconds(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string whole(text.substr(0, point));
  std::string fraction(point < text.size() ? text.substr(point + 1) : std::string_view());
  const bool digits = (whole + fraction).find_first_not_of("0123456789") == std::string::npos;
  if (!digits || whole.empty() || whole.size() > 8 || (point < text.size() && fraction.empty())) {
    return Expected{"a number of seconds, like `30` or `0.5`; 0 waits for ever"};
  }
  fraction.resize(3, '0');
  const milliseconds duration{std::stoll(whole) * 1000 + std::stoll(fraction)};
  // A wait that was asked for may not become one for ever.
  const bool zero = text.find_first_not_of("0.") == text.npos;
  return duration.count() == 0 && !zero ? milliseconds{1} : duration;
}

Read<std::string> read_file_name(std::string_view text) {
  if (text.empty()) return Expected{"a path"};
  return std::string(text);
}

bool guard_given(const Raw& raw) {
  return raw.observe || std::any_of(std::begin(kGuardFlags), std::end(kGuardFlags),
                                    [&](const Flag& flag) { return !(raw.*flag.into).empty(); });
}

Policy guard_of(const Raw& raw, Reading& values) {
  Policy policy;
  values.single("--path", raw.path, policy.path, read_guard_path);
  values.list("--first", raw.first, policy.nameservers.first, read_address);
  values.list("--last", raw.last, policy.nameservers.last, read_address);
  if (!raw.only.empty()) values.list("--only", raw.only, policy.nameservers.only.emplace(), read_address);
  values.list("--deny", raw.deny, policy.nameservers.deny, read_deny);
  values.list("--fallback", raw.fallback, policy.nameservers.fallback, read_address);
  values.list("--search-first", raw.search_first, policy.search.first, read_domain);
  values.list("--set", raw.set, policy.options.set, read_option);
  values.single("--max", raw.max, policy.nameservers.max, read_count);
  values.single("--link", raw.link, policy.link, read_keyword<LinkMode>);
  policy.enforce = !raw.observe;
  return policy;
}

// The words of the configuration as the flags that were written: `nameservers.first` is `--first` here.
std::string in_flags(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"`search.first`", "`--search-first`"}, {"`options.", "`--"}, {"`nameservers.", "`--"}};
  for (const auto& [word, flag] : kWords) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at))
      text.replace(at, word.size(), flag);
  }
  return text;
}

std::string guard_errors(const Options& options) {
  std::string text;
  if (options.config_given && ::access(options.config.c_str(), F_OK) == 0) {
    text +=
        fmt::format("resolv-guardian: found both --config {} and a guard on the command line, expected one of them\n",
                    ticked(options.config));
  }
  for (const ConfigError& error : check_policy(*options.guard, "resolv-guardian: command line")) {
    text += in_flags(error.text()) + '\n';
  }
  return text;
}

Stop usage_error(std::string text) { return {2, {}, text + "Try `resolv-guardian --help`.\n"}; }

std::variant<Options, Stop> options_of(const Raw& raw, Command command) {
  Options options;
  Reading values;
  options.command = command;
  options.config_given = !raw.config.empty();
  values.single("--config", raw.config, options.config, read_file_name);
  values.single("--root", raw.root, options.root, read_file_name);
  values.single("--state-dir", raw.state_dir, options.state_dir, read_file_name);
  values.single("--runtime-dir", raw.runtime_dir, options.runtime_dir, read_file_name);
  values.single("--log-format", raw.log_format, options.log_format, read_keyword<LogFormat>);
  values.single("--log-level", raw.log_level, options.log_level, read_keyword<LogLevel>);
  if (!raw.target.empty()) values.single("PATH", raw.target, options.path.emplace(), read_absolute_path);
  if (!raw.pause_for.empty()) values.single("--for", raw.pause_for, options.pause.emplace(), read_deadline);
  if (!raw.wait_holds.empty())
    values.single("--wait-holds", raw.wait_holds, options.wait_holds.emplace(), read_seconds);
  values.single("-n", raw.count, options.count, read_count);
  options.json = raw.json;
  options.diff = raw.diff;
  if (guard_given(raw)) options.guard = guard_of(raw, values);
  std::string errors = values.errors();
  if (options.guard && errors.empty()) errors = guard_errors(options);
  if (!errors.empty()) return usage_error(std::move(errors));
  return options;
}

// What CLI11 could not place: an option or a command that there is not, or more than belongs behind a command.
std::string unexpected(const std::string& found, const std::string& command) {
  std::vector<std::string_view> options{"--observe", "--help",       "--version", "--for",
                                        "--json",    "--wait-holds", "--diff"};
  for (const Flag& flag : kGlobalFlags) options.emplace_back(flag.name);
  for (const Flag& flag : kGuardFlags) options.emplace_back(flag.name);
  std::vector<std::string_view> commands;
  for (const CommandHelp& known : kCommands) commands.emplace_back(known.name);
  const std::string where = command.empty() ? "" : " of `" + command + "`";
  std::string expected = one_of(commands) + did_you_mean(found, commands);
  if (!command.empty()) expected = "nothing more behind `" + command + "`";
  if (found.rfind('-', 0) == 0)
    expected = "an option" + where + did_you_mean(found.substr(0, found.find('=')), options);
  return fmt::format("resolv-guardian: found {}, expected {}\n", ticked(found), expected);
}

Command command_of(const std::string& name) {
  const auto known =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const auto& c) { return c.name == name; });
  return known->command;  // CLI11 knows no others
}

}  // namespace

std::variant<Options, Stop> parse_command_line(int argc, const char* const* argv) {
  Raw raw;
  CLI::App app("Keeps the nameservers of this host in the required order, whoever rewrites its resolv.conf.",
               "resolv-guardian");
  add_everything(app, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Stop{0, app.help(), {}};
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> left = app.remaining(true);
    const std::string command = app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name();
    const bool named = !left.empty();
    return usage_error(named ? unexpected(left[0], command) : fmt::format("resolv-guardian: {}\n", error.what()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    return usage_error(
        fmt::format("resolv-guardian: {}: found no value, expected one\n", what.substr(0, what.find(':'))));
  } catch (const CLI::ParseError& error) {
    return usage_error(fmt::format("resolv-guardian: {}\n", error.what()));
  }
  if (raw.version) return Stop{0, "resolv-guardian " RG_VERSION "\n", {}};
  if (app.get_subcommands().empty())
    return Stop{2, {}, app.help() + "resolv-guardian: found no command, expected one of them\n"};
  return options_of(raw, command_of(app.get_subcommands().front()->get_name()));
}

Directories resolve_directories(const Options& options, const Environment& environment) {
  // systemd gives a colon-separated list where a unit names more than one directory (systemd.exec(5)).
  const auto choose = [&](const std::string& given, const char* variable, const char* otherwise) -> std::string {
    if (!given.empty()) return given;
    const std::string list = environment(variable).value_or("");
    const std::string first = list.substr(0, list.find(':'));
    return first.empty() ? otherwise : first;
  };
  return {choose(options.state_dir, "STATE_DIRECTORY", "/var/lib/resolv-guardian"),
          choose(options.runtime_dir, "RUNTIME_DIRECTORY", "/run/resolv-guardian")};
}

}  // namespace rg
