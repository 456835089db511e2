#include "lib/config/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "lib/config/checks.hpp"
#include "lib/config/reader.hpp"
#include "lib/config/toml_source.hpp"
#include "lib/config/values.hpp"
#include "lib/config/warnings.hpp"
#include "lib/policy/resolve.hpp"

namespace rg {
namespace {

constexpr Key<NameserverPolicy> kNameserverKeys[] = {
    {"first", [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.list(n, p.written->first, read_server); }},
    {"last", [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.list(n, p.written->last, read_server); }},
    {"only",
     [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.list(n, p.written->only.emplace(), read_server); }},
    {"deny", [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.list(n, p.written->deny, read_deny); }},
    {"prefer", [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.list(n, p.prefer, read_prefix); }},
    {"max", [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.count(n, p.max); }},
    {"when_empty",
     [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.value(n, p.when_empty, read_keyword<WhenEmpty>); }},
    {"fallback",
     [](Reader& r, const TomlNode& n, NameserverPolicy& p) { r.list(n, p.written->fallback, read_server); }},
};

void read_nameservers(Reader& reader, const TomlNode& node, Policy& policy) {
  policy.nameservers.written.emplace();
  reader.table(node, kNameserverKeys, policy.nameservers, "nameservers.");
  take_written(policy.nameservers);
}

constexpr Key<SearchPolicy> kSearchKeys[] = {
    {"first", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.list(n, p.first, read_domain); }},
    {"last", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.list(n, p.last, read_domain); }},
    {"only", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.list(n, p.only.emplace(), read_domain); }},
    {"deny", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.list(n, p.deny, read_domain); }},
    {"max", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.count(n, p.max); }},
    {"when_empty",
     [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.value(n, p.when_empty, read_keyword<WhenEmpty>); }},
    {"fallback", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.list(n, p.fallback, read_domain); }},
    {"merge_lines", [](Reader& r, const TomlNode& n, SearchPolicy& p) { r.flag(n, p.merge_lines); }},
};

constexpr Key<OptionsPolicy> kOptionsKeys[] = {
    {"set", [](Reader& r, const TomlNode& n, OptionsPolicy& p) { r.list(n, p.set, read_option); }},
    {"only", [](Reader& r, const TomlNode& n, OptionsPolicy& p) { r.list(n, p.only.emplace(), read_option); }},
    {"deny", [](Reader& r, const TomlNode& n, OptionsPolicy& p) { r.list(n, p.deny, read_option_name); }},
    {"max", [](Reader& r, const TomlNode& n, OptionsPolicy& p) { r.count(n, p.max); }},
    {"when_empty",
     [](Reader& r, const TomlNode& n, OptionsPolicy& p) { r.value(n, p.when_empty, read_keyword<WhenEmpty>); }},
    {"fallback", [](Reader& r, const TomlNode& n, OptionsPolicy& p) { r.list(n, p.fallback, read_option); }},
};

void read_required_server(Reader& reader, const TomlNode& node, Requirement& requirement) {
  Address address;
  if (!reader.value(node, address, read_server)) return;
  if (const auto* server = std::get_if<Nameserver>(&address)) requirement.nameserver = *server;
  if (const auto* source = std::get_if<SourceAddressOf>(&address)) requirement.source = *source;
}

constexpr Key<Requirement> kRequirementKeys[] = {
    {"nameserver", read_required_server},
    {"answers", [](Reader& r, const TomlNode& n, Requirement& q) { r.value(n, q.answers, read_domain); }},
    {"timeout", [](Reader& r, const TomlNode& n, Requirement& q) { r.value(n, q.timeout, read_timeout); }},
};

// They are asked one after the other, and a guard that waits for them isn't kept.
constexpr std::size_t kMostRequirements = 16;
constexpr std::string_view kExample = "{ nameserver = \"192.0.2.1\", answers = \"api.example\" }";

void read_requirement(Reader& reader, const TomlNode& node, Policy& policy) {
  const Table* table = std::get_if<Table>(&node.value);
  if (table == nullptr) return reader.error(node.at, node.text, fmt::format("a table: `{}`", kExample));
  for (const std::string_view needed : {"nameserver", "answers"}) {
    const auto is_it = [&](const Member& member) { return member.key == needed; };
    if (std::any_of(table->begin(), table->end(), is_it)) continue;
    reader.error(node.at, fmt::format("a requirement without `{}`", needed),
                 fmt::format("`nameserver` and `answers`: `{}`", kExample));
  }
  reader.table(node, kRequirementKeys, policy.requirements.emplace_back(), "requires.");
}

void read_requirements(Reader& reader, const TomlNode& node, Policy& policy) {
  const Array* list = std::get_if<Array>(&node.value);
  if (list == nullptr) {
    return reader.error(node.at, node.text, fmt::format("a list of tables: `requires = [{}]`", kExample));
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (i < kMostRequirements) {
      read_requirement(reader, (*list)[i], policy);
      continue;
    }
    return reader.error((*list)[i].at, fmt::format("requirement number {}", i + 1),
                        fmt::format("at most {} in a guard", kMostRequirements));
  }
}

constexpr Key<Policy> kGuardKeys[] = {
    {"path",
     [](Reader& r, const TomlNode& n, Policy& p) {
       p.path.clear();  // stays so after an error: then nothing is said about a second guard of the default path
       r.value(n, p.path, read_guard_path);
     }},
    {"enforce", [](Reader& r, const TomlNode& n, Policy& p) { r.flag(n, p.enforce); }},
    {"optional", [](Reader& r, const TomlNode& n, Policy& p) { r.flag(n, p.optional); }},
    {"link", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.link, read_keyword<LinkMode>); }},
    {"link_to", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.link_to.emplace(), read_link_text); }},
    {"write", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.write, read_keyword<WriteMode>); }},
    {"write_within",
     [](Reader& r, const TomlNode& n, Policy& p) {
       p.write_within.clear();
       r.list(n, p.write_within, read_absolute_path);
     }},
    {"mode", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.mode, read_mode); }},
    {"selinux_label", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.selinux_label, read_selinux_label); }},
    {"comment", [](Reader& r, const TomlNode& n, Policy& p) { r.flag(n, p.comment); }},
    {"upstream", [](Reader& r, const TomlNode& n, Policy& p) { r.list(n, p.upstream, read_absolute_path); }},
    {"upstream_when",
     [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.upstream_when, read_keyword<UpstreamWhen>); }},
    {"settle", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.settle, read_duration); }},
    {"deadline", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.deadline, read_deadline); }},
    {"on_exit", [](Reader& r, const TomlNode& n, Policy& p) { r.value(n, p.on_exit, read_keyword<OnExit>); }},
    {"requires", read_requirements},
    {"nameservers", read_nameservers},
    {"search", [](Reader& r, const TomlNode& n, Policy& p) { r.table(n, kSearchKeys, p.search, "search."); }},
    {"options", [](Reader& r, const TomlNode& n, Policy& p) { r.table(n, kOptionsKeys, p.options, "options."); }},
};

// One file: its top-level keys go into `settings`, its guards into the list.
struct File {
  Settings& settings;
  std::vector<Policy> guards;
  std::map<std::string, unsigned> lines;  // of each guarded path
  std::vector<ConfigError> warnings;
};

Read<std::optional<std::chrono::milliseconds>> read_ready_within(std::string_view text) {
  if (text == "never") return std::optional<std::chrono::milliseconds>();
  Read<std::chrono::milliseconds> duration = read_duration(text);
  if (const auto* value = std::get_if<std::chrono::milliseconds>(&duration)) return std::optional(*value);
  return Expected{std::get<Expected>(duration).text + ", or `never`" + did_you_mean(text, {"never"})};
}

void read_guard(Reader& reader, const TomlNode& node, File& file) {
  Policy policy;
  reader.forget_marks();
  reader.table(node, kGuardKeys, policy);
  check_guard(policy, reader.marks(), reader.file(), reader.errors());
  warn_of_guard(policy, reader.marks(), reader.file(), file.warnings);
  if (policy.path.empty()) return;
  const auto path = reader.marks().find("path");
  const Position at = path == reader.marks().end() ? node.at : path->second.key;
  const auto [same, fresh] = file.lines.emplace(comparable_path(policy.path), at.line);
  if (!fresh) {
    reader.error(at, "a second guard of " + ticked(policy.path),
                 fmt::format("one guard a path in a file, the other is in line {}", same->second));
  }
  file.guards.push_back(std::move(policy));
}

void read_guards(Reader& reader, const TomlNode& node, File& file) {
  const Array* guards = std::get_if<Array>(&node.value);
  if (guards == nullptr)
    return reader.error(node.at, node.text, "`[[guard]]` in two brackets: there may be more than one");
  for (const TomlNode& guard : *guards) read_guard(reader, guard, file);
}

constexpr Key<File> kFileKeys[] = {
    {"ready_within",
     [](Reader& r, const TomlNode& n, File& f) { r.value(n, f.settings.ready_within, read_ready_within); }},
    {"reload", [](Reader& r, const TomlNode& n, File& f) { r.value(n, f.settings.reload, read_keyword<ReloadMode>); }},
    {"guard", read_guards},
};

// TOML's tables end where the next one begins, so a key slips easily into the wrong one.
std::string where_it_belongs(std::string_view key) {
  std::vector<std::string_view> tables;
  const auto look = [&](const auto& keys, std::string_view table) {
    for (const auto& candidate : keys) {
      if (candidate.name == key) tables.push_back(table);
    }
  };
  look(kGuardKeys, "[[guard]]");
  look(kRequirementKeys, "[[guard.requires]]");
  look(kNameserverKeys, "[guard.nameservers]");
  look(kSearchKeys, "[guard.search]");
  look(kOptionsKeys, "[guard.options]");
  if (!tables.empty()) return fmt::format(" (`{}` belongs below {})", key, one_of(tables));
  for (const auto& candidate : kFileKeys) {
    if (candidate.name == key) return fmt::format(" (`{}` belongs above the first `[[guard]]`)", key);
  }
  return {};
}

// The guards of all files: one of a later file takes the place of the earlier one in the order.
class Guards {
 public:
  explicit Guards(std::vector<Policy>& guards) : guards_(guards) {}
  void merge(std::vector<Policy> later) {
    for (Policy& policy : later) {
      const auto [place, fresh] = places_.emplace(comparable_path(policy.path), guards_.size());
      if (fresh) {
        guards_.push_back(std::move(policy));
      } else {
        guards_[place->second] = std::move(policy);
      }
    }
  }

 private:
  std::vector<Policy>& guards_;
  std::map<std::string, std::size_t> places_;
};

void append_sorted(std::vector<ConfigError> errors, std::vector<ConfigError>& into) {
  std::stable_sort(errors.begin(), errors.end(), [](const ConfigError& a, const ConfigError& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (errors.size() > kMaxErrors) errors.resize(kMaxErrors);
  std::move(errors.begin(), errors.end(), std::back_inserter(into));
}

void read_file(const ConfigText& text, const Environment& environment, ParsedConfig& into, Settings& settings,
               Guards& guards) {
  std::vector<ConfigError> errors;
  auto toml = read_toml(text);
  if (auto* error = std::get_if<ConfigError>(&toml)) {
    errors.push_back(std::move(*error));
  } else {
    Reader reader(text.path, environment, where_it_belongs, errors);
    File file{settings, {}, {}, {}};
    reader.table(TomlNode{{1, 1}, std::move(std::get<Table>(toml)), "a table"}, kFileKeys, file);
    guards.merge(std::move(file.guards));
    append_sorted(std::move(file.warnings), into.warnings);
  }
  append_sorted(std::move(errors), into.errors);
}

}  // namespace

std::string ConfigError::text() const {
  const std::string name = one_line(file, PATH_MAX);
  const std::string place = line == 0 ? name : fmt::format("{}:{}:{}", name, line, column);
  return fmt::format("{}: found {}, expected {}", place, found, expected);
}

ParsedConfig parse_config(const std::vector<ConfigText>& files, const Environment& environment) {
  ParsedConfig parsed;
  Settings settings;
  Guards guards(settings.guards);
  for (const ConfigText& file : files) read_file(file, environment, parsed, settings, guards);
  if (parsed.errors.empty() && settings.guards.empty()) {
    parsed.errors.push_back({files.empty() ? "configuration" : files.front().path, 0, 0, "no guard at all",
                             "at least one `[[guard]]` table"});
  }
  if (parsed.errors.empty()) parsed.settings = std::move(settings);
  return parsed;
}

}  // namespace rg
