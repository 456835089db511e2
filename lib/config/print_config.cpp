#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/config/config_file.hpp"
#include "lib/config/keywords.hpp"
#include "lib/config/values.hpp"
#include "lib/policy/resolve.hpp"

namespace rg {
namespace {

// A basic string of TOML 1.0: quotation mark, backslash and control characters (DEL too) must be escaped.
std::string toml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append("\\").push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml(const std::string& text) { return toml(std::string_view(text)); }
std::string toml(bool value) { return value ? "true" : "false"; }
std::string toml(std::size_t value) { return fmt::format("{}", value); }
std::string toml(std::chrono::milliseconds value) { return toml(duration_text(value)); }
std::string toml(const Prefix& value) { return toml(value.text()); }
std::string toml(const Address& value) { return toml(address_text(value)); }
std::string toml(const Deny& value) { return toml(deny_text(value)); }
// An inline table: it must stand in one line (TOML 1.0).
std::string toml(const Requirement& value) {
  const std::string server = value.source ? value.source->text() : value.nameserver.text();
  return fmt::format("{{ nameserver = {}, answers = {}, timeout = {} }}", toml(server), toml(value.answers),
                     toml(value.timeout));
}

template <class T>
std::string toml(const std::vector<T>& values) {
  std::string out = "[";
  for (const T& value : values) out += (out.size() > 1 ? ", " : "") + toml(value);
  return out + ']';
}

class Print {
 public:
  void header(std::string_view name) { text_ += fmt::format("{}\n", name); }
  void gap() { text_ += '\n'; }
  template <class T>
  void key(std::string_view name, const T& value) {
    text_ += fmt::format("{} = {}\n", name, toml(value));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// `only` stands alone with `max`: the defaults of the other verbs beside it would be errors.
void print_nameservers(Print& print, const NameserverPolicy& policy) {
  const WrittenAddresses written = as_written(policy);
  print.header("[guard.nameservers]");
  if (written.only) {
    print.key("only", *written.only);
    return print.key("max", policy.max);
  }
  print.key("first", written.first);
  print.key("last", written.last);
  print.key("deny", written.deny);
  print.key("prefer", policy.prefer);
  print.key("max", policy.max);
  print.key("when_empty", keyword(policy.when_empty));
  print.key("fallback", written.fallback);
}

void print_search(Print& print, const SearchPolicy& policy) {
  print.header("[guard.search]");
  if (policy.only) {
    print.key("only", *policy.only);
    return print.key("max", policy.max);
  }
  print.key("first", policy.first);
  print.key("last", policy.last);
  print.key("deny", policy.deny);
  print.key("max", policy.max);
  print.key("when_empty", keyword(policy.when_empty));
  print.key("fallback", policy.fallback);
  print.key("merge_lines", policy.merge_lines);
}

void print_options(Print& print, const OptionsPolicy& policy) {
  print.header("[guard.options]");
  if (policy.only) {
    print.key("only", *policy.only);
    return print.key("max", policy.max);
  }
  print.key("set", policy.set);
  print.key("deny", policy.deny);
  print.key("max", policy.max);
  print.key("when_empty", keyword(policy.when_empty));
  print.key("fallback", policy.fallback);
}

void print_guard(Print& print, const Policy& policy) {
  print.gap();
  print.header("[[guard]]");
  print.key("path", policy.path);
  print.key("enforce", policy.enforce);
  print.key("optional", policy.optional);
  print.key("link", keyword(policy.link));
  if (policy.link_to) print.key("link_to", *policy.link_to);
  print.key("write", keyword(policy.write));
  print.key("write_within", policy.write_within);
  print.key("mode", fmt::format("{:04o}", policy.mode));
  print.key("selinux_label", policy.selinux_label);
  print.key("comment", policy.comment);
  print.key("upstream", policy.upstream);
  print.key("upstream_when", keyword(policy.upstream_when));
  print.key("settle", policy.settle);
  print.key("deadline", policy.deadline);
  print.key("on_exit", keyword(policy.on_exit));
  print.key("requires", policy.requirements);
  print_nameservers(print, policy.nameservers);
  print_search(print, policy.search);
  print_options(print, policy.options);
}

}  // namespace

std::string print_config(const Settings& settings) {
  Print print;
  print.key("ready_within", settings.ready_within ? duration_text(*settings.ready_within) : std::string("never"));
  print.key("reload", keyword(settings.reload));
  for (const Policy& policy : settings.guards) print_guard(print, policy);
  return print.text();
}

}  // namespace rg
