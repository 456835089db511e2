// The judgement of a file's content: which lists must stand in it, whether they do, and the bytes that would.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/policy/memory.hpp"
#include "lib/policy/policy.hpp"
#include "lib/resolv/resolv_conf.hpp"

namespace rg {

enum class Origin { first, last, only, writer, upstream, last_good, fallback };
enum class Why { denied, duplicate, over_max, invalid };
enum class Source { writer, upstream, last_good, fallback, policy };

/// How the content misses the policy, or the node it stands in does (link, mode, label: lib/policy/decide).
enum class Violation {
  absent,    ///< there is no file, and something to write
  empty,     ///< no server is left but ours and denied ones, and there are others to write
  required,  ///< a server that must stand there is missing: of first, last or only, or a learned one (not all: `empty`)
  order,     ///< the right servers in another order
  foreign,   ///< a server that has no place in the list
  denied,
  duplicate,
  over_max,
  search,
  options,
  misread,  ///< a Flaw, or an address in another form
  link,
  mode,
  label,
  unreadable,
};

struct SaidServer {
  Nameserver server;
  Origin origin{};
  friend bool operator==(const SaidServer&, const SaidServer&) = default;
};
/// So many dropped servers are told of: whoever wrote 60,000 doesn't read them all again in the status.
inline constexpr std::size_t kMaxDropped = 100, kMaxDroppedText = 256;
struct DroppedServer {
  std::string address;  ///< as it stood; its first kMaxDroppedText bytes
  Why why{};
  friend bool operator==(const DroppedServer&, const DroppedServer&) = default;
};

/// An upstream file as it was read. `name` is the last part of its path; under /run/systemd/netif/links it is the
/// interface's number, and `netif` is true.
struct Upstream {
  std::string name;
  std::string bytes;
  bool netif = false;
};

struct ContentInput {
  const Policy& policy;
  std::optional<std::string_view>
      on_disk;  ///< what a resolver reads now; nullopt: there is no file, or it can't be read
  std::optional<std::string_view> document;  ///< the last writer's: `on_disk` itself unless those bytes are ours
  const std::vector<Upstream>& upstream;     ///< in the order they are joined in
  const Memory& memory;                      ///< last good lists; already emptied if another machine learned them
  const std::function<bool(const std::string& zone)>& interface_exists;
};

struct Content {
  std::vector<Violation> violations;   ///< of the content only, sorted, each once; empty: it holds
  std::string wanted;                  ///< the bytes that hold; meaningless where violations is empty
  bool nothing_to_write = false;       ///< no file, and nothing known that would stand in one: holds as it is
  Lists read;                          ///< on_disk as a resolver reads it
  Lists want;                          ///< what must be read
  std::vector<SaidServer> servers;     ///< want.nameservers with where each comes from
  std::vector<DroppedServer> dropped;  ///< the first kMaxDropped
  Source source{};                     ///< where the servers that aren't ours come from; policy: nowhere
  Lists learned;        ///< the writer's (or upstream's) less ours and less what is denied; before max and when_empty
  std::string writer;   ///< apparent_writer() of where the servers were learned
  bool filled = false;  ///< a list of `want` was filled in from memory or fallback
};

/// Pure. Judges `on_disk` and composes what should stand there from `document`.
[[nodiscard]] Content judge_content(const ContentInput& input);

/// As much of a list becomes last good: more serves nobody and would be stored with every change.
inline constexpr std::size_t kMaxLastGood = 1000;

/// The new memory after a finished document was judged: each list of `learned` that isn't empty becomes last good, its
/// first kMaxLastGood entries.
void remember(Memory& memory, const Content& content, WallTime now);

/// Forgets what the policy denies; true if anything was forgotten.
bool forget_denied(Memory& memory, const Policy& policy);

/// So many of them are kept: a node that moves every day has moved for two months.
inline constexpr std::size_t kMaxSourceAddresses = 64;

/// What source-address-of stands for now is remembered; true if that is new.
bool note_source_addresses(Memory& memory, const NameserverPolicy& policy);

/// Every line of a guarded file that is our own comment begins so.
inline constexpr std::string_view kCommentPrefix = "# resolv-guardian";

/// Our comment stands in it: somebody edited and saved what we had written.
[[nodiscard]] bool is_copy_of_ours(std::string_view bytes);

/// Such a copy less our comment and less our servers, domains and options; the other lines byte for byte.
[[nodiscard]] std::string without_ours(const Policy& policy, const Memory& memory, std::string_view bytes);

}  // namespace rg
