#include "lib/config/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>

#include "lib/config/values.hpp"
#include "lib/policy/finder.hpp"
#include "lib/policy/resolve.hpp"
#include "lib/policy/verbs.hpp"
#include "lib/resolv/resolv_conf.hpp"

namespace rg {
namespace {

// An entry of ours: its text, and where it was given.
template <class T>
struct Ours {
  const T* value;
  std::string key;
  Position at;
};

std::string shown(const Address& address) { return ticked(address_text(address)); }
std::string shown(const std::string& word) { return ticked(word); }

class Check {
 public:
  Check(const Marks& marks, const std::string& file, std::vector<ConfigError>& errors)
      : marks_(marks), file_(file), errors_(errors) {}

  void error(Position at, std::string found, std::string expected) {
    errors_.push_back({file_, at.line, at.column, std::move(found), std::move(expected)});
  }

  [[nodiscard]] bool given(const std::string& key) const { return marks_.count(key) > 0; }
  [[nodiscard]] Position place(const std::string& key) const { return given(key) ? marks_.at(key).key : Position{}; }
  [[nodiscard]] Position place(const std::string& key, std::size_t index) const { return place_of(marks_, key, index); }

  // `only` says everything that stands there: what another verb adds could never be.
  void only_alone(const std::string& table, std::initializer_list<std::string_view> others) {
    if (!given(table + ".only")) return;
    for (const auto other : others) {
      const std::string key = table + '.' + std::string(other);
      if (given(key)) error(place(key), ticked(key), "no verb but `max` beside `" + table + ".only`");
    }
  }

  template <class T>
  void add(std::vector<Ours<T>>& ours, const std::string& key, const std::vector<T>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) ours.push_back({&values[i], key, place(key, i)});
  }

  template <class Same, class T>
  void each_once(const std::vector<Ours<T>>& ours) {
    std::vector<T> values;
    values.reserve(ours.size());
    for (const auto& entry : ours) values.push_back(*entry.value);
    Finder<Same> finder(values);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const std::size_t first = finder.find(values[i]);
      if (first == i) continue;
      error(ours[i].at, fmt::format("{} in `{}`", shown(values[i]), ours[i].key),
            fmt::format("each only once: {} stands in `{}` already", shown(values[first]), ours[first].key));
    }
  }

  template <class T>
  void within_max(const std::vector<Ours<T>>& ours, const std::string& table, std::size_t max) {
    if (max == 0 || ours.size() <= max) return;
    const auto& excess = ours[max];
    error(excess.at, fmt::format("{} in `{}`, number {} of ours", shown(*excess.value), excess.key, max + 1),
          fmt::format("at most {}, as `{}.max` says{}", max, table, given(table + ".max") ? "" : " by default"));
  }

  // Reported where it is denied: `denies` tells whether element i of the list of denials means this entry. `rules`
  // tells of some of ours that they are meant at all, so that two long lists need not be compared each with each.
  template <class T, class Rules>
  void not_denied(const std::vector<Ours<T>>& ours, const std::string& table, Rules rules, std::size_t denials,
                  const std::function<bool(std::size_t, const T&)>& denies,
                  const std::function<std::string(std::size_t)>& text) {
    const std::string key = table + ".deny";
    if (given(table + ".only")) return;  // only_alone() has said that already
    std::vector<Ours<T>> denied;
    for (std::size_t i = 0; i < ours.size() && denied.size() < kMaxErrors; ++i) {
      if (rules.denied(*ours[i].value)) denied.push_back(ours[i]);
    }
    for (std::size_t i = 0; i < denials && !denied.empty(); ++i) {
      for (const auto& entry : denied) {
        if (!denies(i, *entry.value)) continue;
        error(place(key, i), fmt::format("{} in `{}`", ticked(text(i)), key),
              fmt::format("nothing that means {}, which `{}` requires", shown(*entry.value), entry.key));
        break;
      }
    }
  }

 private:
  const Marks& marks_;
  const std::string& file_;
  std::vector<ConfigError>& errors_;
};

// Of two that are written alike; that two others become one address only the kernel's answers show.
struct SameAddress {
  using Listed = Address;
  using Entry = const Address&;
  static bool same(Entry a, Entry b) { return a == b; }
  static bool less(Entry a, Entry b) { return a < b; }
};

class AddressRules {
 public:
  AddressRules(const NameserverPolicy& policy, const WrittenAddresses& written) : rules_(policy), written_(written) {}
  bool denied(const Address& address) {
    if (const auto* server = std::get_if<Nameserver>(&address)) return rules_.denied(*server);
    const auto& deny = written_.deny;
    return std::any_of(deny.begin(), deny.end(), [&](const Deny& one) { return means(one, address); });
  }
  static bool means(const Deny& deny, const Address& address) {
    if (const auto* server = std::get_if<Nameserver>(&address)) return matches(deny, *server);
    const auto* source = std::get_if<SourceAddressOf>(&deny);
    return source != nullptr && *source == std::get<SourceAddressOf>(address);
  }

 private:
  ServerRules rules_;
  const WrittenAddresses& written_;
};

void check_nameservers(Check& check, const NameserverPolicy& policy) {
  const std::string table = "nameservers";
  check.only_alone(table, {"first", "last", "deny", "prefer", "when_empty", "fallback"});
  const WrittenAddresses written = as_written(policy);
  std::vector<Ours<Address>> ours;
  if (written.only) {
    check.add(ours, table + ".only", *written.only);
  } else {
    check.add(ours, table + ".first", written.first);
    check.add(ours, table + ".last", written.last);
  }
  check.not_denied<Address>(
      ours, table, AddressRules(policy, written), written.deny.size(),
      [&](std::size_t i, const Address& address) { return AddressRules::means(written.deny[i], address); },
      [&](std::size_t i) { return deny_text(written.deny[i]); });
  check.each_once<SameAddress>(ours);
  check.within_max(ours, table, policy.max);
}

void check_search(Check& check, const SearchPolicy& policy) {
  const std::string table = "search";
  check.only_alone(table, {"first", "last", "deny", "when_empty", "fallback", "merge_lines"});
  std::vector<Ours<std::string>> ours;
  if (policy.only) {
    check.add(ours, table + ".only", *policy.only);
  } else {
    check.add(ours, table + ".first", policy.first);
    check.add(ours, table + ".last", policy.last);
  }
  check.not_denied<std::string>(
      ours, table, DomainRules(policy), policy.deny.size(),
      [&](std::size_t i, const std::string& d) { return same_domain(policy.deny[i], d); },
      [&](std::size_t i) { return policy.deny[i]; });
  check.each_once<SameDomain>(ours);
  check.within_max(ours, table, policy.max);
}

void check_options(Check& check, const OptionsPolicy& policy) {
  const std::string table = "options";
  check.only_alone(table, {"set", "deny", "when_empty", "fallback"});
  const auto same = [](std::string_view a, std::string_view b) { return option_name(a) == option_name(b); };
  std::vector<Ours<std::string>> ours;
  check.add(ours, table + (policy.only ? ".only" : ".set"), policy.only ? *policy.only : policy.set);
  check.not_denied<std::string>(
      ours, table, OptionRules(policy), policy.deny.size(),
      [&](std::size_t i, const std::string& o) { return same(policy.deny[i], o); },
      [&](std::size_t i) { return policy.deny[i]; });
  check.each_once<SameOption>(ours);
  check.within_max(ours, table, policy.max);
}

// The marks of a policy that no file gave: a key counts as given where its value is not the default.
Marks marks_of(const Policy& policy) {
  Marks marks;
  const auto mark = [&](const char* key, bool given) {
    if (given) marks[key];
  };
  const auto common = [&](const std::string& table, const auto& values, const auto& by_default) {
    mark((table + ".only").c_str(), values.only.has_value());
    mark((table + ".deny").c_str(), !values.deny.empty());
    mark((table + ".max").c_str(), values.max != by_default.max);
    mark((table + ".when_empty").c_str(), values.when_empty != by_default.when_empty);
    mark((table + ".fallback").c_str(), !values.fallback.empty());
  };
  const WrittenAddresses written = as_written(policy.nameservers);
  const NameserverPolicy defaults;
  mark("nameservers.only", written.only.has_value());
  mark("nameservers.deny", !written.deny.empty());
  mark("nameservers.max", policy.nameservers.max != defaults.max);
  mark("nameservers.when_empty", policy.nameservers.when_empty != defaults.when_empty);
  mark("nameservers.fallback", !written.fallback.empty());
  common("search", policy.search, SearchPolicy{});
  common("options", policy.options, OptionsPolicy{});
  mark("nameservers.first", !written.first.empty());
  mark("nameservers.last", !written.last.empty());
  mark("nameservers.prefer", !policy.nameservers.prefer.empty());
  mark("search.first", !policy.search.first.empty());
  mark("search.last", !policy.search.last.empty());
  mark("search.merge_lines", policy.search.merge_lines);
  mark("options.set", !policy.options.set.empty());
  return marks;
}

}  // namespace

Position place_of(const Marks& marks, const std::string& key, std::size_t index) {
  const auto mark = marks.find(key);
  if (mark == marks.end()) return {};
  return index < mark->second.elements.size() ? mark->second.elements[index] : mark->second.key;
}

void check_guard(const Policy& policy, const Marks& marks, const std::string& file, std::vector<ConfigError>& errors) {
  Check check(marks, file, errors);
  if (policy.link_to && policy.write == WriteMode::in_place) {
    check.error(check.place("link_to"), "`link_to` beside `write = \"in-place\"`",
                "one of them: a link cannot be made in place, it replaces what stands there");
  }
  check_nameservers(check, policy.nameservers);
  check_search(check, policy.search);
  check_options(check, policy.options);
}

std::vector<ConfigError> check_policy(const Policy& policy, const std::string& file) {
  std::vector<ConfigError> errors;
  check_guard(policy, marks_of(policy), file, errors);
  return errors;
}

}  // namespace rg
