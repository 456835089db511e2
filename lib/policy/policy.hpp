// What must hold for one guarded path: values only. resolv-guardian.toml is where they come from (lib/config).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/policy/source_address.hpp"
#include "lib/resolv/nameserver.hpp"

namespace rg {

enum class WhenEmpty { last_good, fallback, leave };

struct NameserverPolicy {
  std::vector<Nameserver> first, last;
  std::optional<std::vector<Nameserver>> only;
  std::vector<Deny> deny;
  std::vector<Prefix> prefer;
  std::size_t max = 3;  ///< 0: no limit. glibc, musl and Go read three
  WhenEmpty when_empty = WhenEmpty::last_good;
  std::vector<Nameserver> fallback;
  /// Set where a source-address-of stands among them: then the lists above hold what was told last
  /// (lib/policy/resolve).
  std::optional<WrittenAddresses> written{};
  friend bool operator==(const NameserverPolicy&, const NameserverPolicy&) = default;
};

struct SearchPolicy {
  std::vector<std::string> first, last;
  std::optional<std::vector<std::string>> only;
  std::vector<std::string> deny;
  std::size_t max = 0;
  WhenEmpty when_empty = WhenEmpty::leave;
  std::vector<std::string> fallback;
  bool merge_lines = false;
  friend bool operator==(const SearchPolicy&, const SearchPolicy&) = default;
};

struct OptionsPolicy {
  std::vector<std::string> set;
  std::optional<std::vector<std::string>> only;
  std::vector<std::string> deny;
  std::size_t max = 0;
  WhenEmpty when_empty = WhenEmpty::leave;
  std::vector<std::string> fallback;
  friend bool operator==(const OptionsPolicy&, const OptionsPolicy&) = default;
};

enum class LinkMode { follow, file };
enum class WriteMode { automatic, in_place };
enum class UpstreamWhen { always, none_left };
enum class OnExit { leave, restore };

/// A server that must answer before a new configuration's guard is brought to hold.
struct Requirement {
  Nameserver nameserver;
  std::string answers;  ///< the domain name it is asked for
  std::chrono::milliseconds timeout{500};
  std::optional<SourceAddressOf> source{};  ///< written in its place: then `nameserver` is what was told last
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct Policy {
  std::string path = "/etc/resolv.conf";  ///< inside --root
  bool enforce = true;
  bool optional = false;
  LinkMode link = LinkMode::follow;
  std::optional<std::string> link_to;  ///< the exact text of the link
  WriteMode write = WriteMode::automatic;
  std::vector<std::string> write_within = {"/etc", "/run", "/var/run"};
  std::uint32_t mode = 0644;
  std::string selinux_label = "auto";
  bool comment = true;
  std::vector<std::string> upstream;
  UpstreamWhen upstream_when = UpstreamWhen::always;
  std::chrono::milliseconds settle{200};
  std::chrono::milliseconds deadline{2000};
  OnExit on_exit = OnExit::leave;
  std::vector<Requirement> requirements;  ///< `requires`, which is a keyword of C++20
  NameserverPolicy nameservers;
  SearchPolicy search;
  OptionsPolicy options;
  friend bool operator==(const Policy&, const Policy&) = default;
};

enum class ReloadMode { automatic, sighup };

/// A whole configuration. The order of the guards is the order in which they are first brought to hold.
struct Settings {
  std::optional<std::chrono::milliseconds> ready_within = std::chrono::seconds{30};  ///< nullopt: "never"
  ReloadMode reload = ReloadMode::automatic;
  std::vector<Policy> guards;
  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace rg
