#include "guardian/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "guardian/arguments.hpp"
#include "lib/config/values.hpp"
#include "lib/policy/resolve.hpp"

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

Policy guard_of(const Raw& raw, Reading& values) {
  Policy policy;
  values.single("--path", raw.path, policy.path, read_guard_path);
  WrittenAddresses& written = policy.nameservers.written.emplace();
  values.list("--first", raw.first, written.first, read_server);
  values.list("--last", raw.last, written.last, read_server);
  if (!raw.only.empty()) values.list("--only", raw.only, written.only.emplace(), read_server);
  values.list("--deny", raw.deny, written.deny, read_deny);
  values.list("--fallback", raw.fallback, written.fallback, read_server);
  take_written(policy.nameservers);
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

constexpr const char* kOnCommandLine = "resolv-guardian: command line";

std::string guard_errors(const Options& options) {
  std::string text;
  if (options.config_given && ::access(options.config.c_str(), F_OK) == 0) {
    text +=
        fmt::format("resolv-guardian: found both --config {} and a guard on the command line, expected one of them\n",
                    ticked(options.config));
  }
  for (const ConfigError& error : check_policy(*options.guard, kOnCommandLine)) text += in_flags(error.text()) + '\n';
  return text;
}

std::variant<Options, Stop> options_of(const Raw& raw) {
  Options options;
  Reading values;
  options.command = *raw.command;
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
  options.alive = raw.alive;
  options.diff = raw.diff;
  if (guard_given(raw)) options.guard = guard_of(raw, values);
  std::string errors = values.errors();
  if (options.guard && errors.empty()) errors = guard_errors(options);
  if (!errors.empty()) return usage_error(std::move(errors));
  if (!options.guard) return options;
  for (const ConfigError& warning : policy_warnings(*options.guard, kOnCommandLine)) {
    options.warnings.push_back(in_flags(warning.text()));
  }
  return options;
}

}  // namespace

std::variant<Options, Stop> parse_command_line(int argc, const char* const* argv) {
  std::variant<Raw, Stop> sorted = sort_arguments(argc, argv);
  if (auto* stop = std::get_if<Stop>(&sorted)) return std::move(*stop);
  return options_of(std::get<Raw>(sorted));
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
