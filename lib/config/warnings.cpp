#include "lib/config/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

#include "lib/config/nearest.hpp"
#include "lib/config/values.hpp"
#include "lib/policy/resolve.hpp"
#include "lib/resolv/resolv_conf.hpp"

namespace rg {
namespace {

// What resolv.conf(5) of glibc (the older ones too), musl and the BSDs names, and what Go and c-ares read beside it. A
// libc to come may have more, so that another name is no mistake.
const std::vector<std::string_view>& known_options() {
  static const std::vector<std::string_view> names = {
      "ndots",        "timeout",        "attempts",     "rotate",        "debug",
      "edns0",        "trust-ad",       "use-vc",       "usevc",         "tcp",
      "no-aaaa",      "no-reload",      "no-tld-query", "no_tld_query",  "no-check-names",
      "inet4",        "inet6",          "ip6-dotint",   "no-ip6-dotint", "ip6-bytestring",
      "strict-error", "single-request", "retrans",      "retry",         "single-request-reopen",
      "insecure1",    "insecure2",      "reload-period"};
  return names;
}

class Warnings {
 public:
  Warnings(const Marks& marks, const std::string& file, std::vector<ConfigError>& warnings)
      : marks_(marks), file_(file), warnings_(warnings) {}

  void options(const std::string& key, const std::vector<std::string>& options) {
    const auto& known = known_options();
    for (std::size_t i = 0; i < options.size() && !full(); ++i) {
      const std::string_view name = option_name(options[i]);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      add(key, i, fmt::format("the unknown option {} in `{}`", ticked(name), key),
          "one that resolvers read" + did_you_mean(name, known));
    }
  }

  void servers(const std::string& key, const std::vector<Address>& servers) {
    for (std::size_t i = 0; i < servers.size() && !full(); ++i) {
      const auto* server = std::get_if<Nameserver>(&servers[i]);
      if (server == nullptr || !server->is_ipv6() || !server->is_link_local() || !server->zone().empty()) continue;
      add(key, i, fmt::format("{} in `{}`", ticked(server->text()), key),
          fmt::format("a zone behind a link-local address, like `{}%eth0`: hardly a resolver reaches it without one",
                      server->text()));
    }
  }

 private:
  [[nodiscard]] bool full() const { return warnings_.size() >= kMaxErrors; }
  void add(const std::string& key, std::size_t index, std::string found, std::string expected) {
    const Position at = place_of(marks_, key, index);
    warnings_.push_back({file_, at.line, at.column, std::move(found), std::move(expected)});
  }

  const Marks& marks_;
  const std::string& file_;
  std::vector<ConfigError>& warnings_;
};

}  // namespace

void warn_of_guard(const Policy& policy, const Marks& marks, const std::string& file, std::vector<ConfigError>& all) {
  Warnings warnings(marks, file, all);
  const WrittenAddresses servers = as_written(policy.nameservers);
  warnings.servers("nameservers.first", servers.first);
  warnings.servers("nameservers.last", servers.last);
  if (servers.only) warnings.servers("nameservers.only", *servers.only);
  warnings.servers("nameservers.fallback", servers.fallback);
  const OptionsPolicy& options = policy.options;
  warnings.options("options.set", options.set);
  if (options.only) warnings.options("options.only", *options.only);
  warnings.options("options.deny", options.deny);
  warnings.options("options.fallback", options.fallback);
}

std::vector<ConfigError> policy_warnings(const Policy& policy, const std::string& file) {
  std::vector<ConfigError> warnings;
  warn_of_guard(policy, {}, file, warnings);
  return warnings;
}

}  // namespace rg
