#include "guardian/source_address.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "guardian/socket_address.hpp"
#include "lib/report/reasons.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {
namespace {

constexpr std::uint16_t kPort = 53;  // any: it is part of no route
constexpr int kPreferPublic = 2;     // IPV6_PREFER_SRC_PUBLIC, linux/in6.h

SourceAnswer why_not(int error) { return std::generic_category().message(error); }

}  // namespace

SourceAnswer source_address(const SourceAddressOf& source) {
  const Nameserver& towards = source.destination;
  const auto destination = socket_address(towards, kPort);
  if (!destination) return no_interface_reason(towards.zone());
  const FileDescriptor socket(::socket(towards.is_ipv6() ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return why_not(errno);
  // A temporary address (RFC 8981) is another one tomorrow. Without effect on IPv4.
  (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, &kPreferPublic, sizeof kPreferPublic);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&destination->bytes), destination->size) != 0) {
    return why_not(errno);
  }
  SocketAddress own;
  own.size = sizeof own.bytes;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own.bytes), &own.size) != 0) return why_not(errno);
  const auto address = from_socket_address(own);
  // IPv4 has routes over interfaces without an address (ip_route_output_key(): the source is then 0.0.0.0). IPv6 takes
  // the link-local one until a router or DHCPv6 has given another (RFC 6724, 5): it is no address for others, and has
  // no zone here.
  if (!address || address->is_unspecified()) return no_address_reason();
  if (address->is_link_local() && !towards.is_link_local()) return no_address_reason();
  return *address;
}

std::optional<Unresolved> resolve_all(Policy& policy) {
  const auto problem = resolve(policy.nameservers, source_address).problem;
  return problem ? problem : resolve(policy.requirements, source_address);
}

Resolved SourceAddresses::resolve(Policy& policy) {
  if (!policy.nameservers.written) return {};
  note(policy.path, std::nullopt);
  Told told;
  const Resolved resolved = rg::resolve(policy.nameservers, [&](const SourceAddressOf& source) {
    return told.emplace(source, ask_(source)).first->second;
  });
  note(policy.path, std::move(told));
  return resolved;
}

void SourceAddresses::note(const std::string& path, std::optional<Told> told) {
  const std::lock_guard lock(mutex_);
  told_[path] = std::move(told);
}

void SourceAddresses::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  told_.erase(path);
}

std::vector<std::string> SourceAddresses::outdated() const {
  const std::lock_guard lock(mutex_);
  Told now;
  const auto same = [&](const auto& one) {
    const auto [answer, fresh] = now.try_emplace(one.first);
    if (fresh) answer->second = ask_(one.first);
    return answer->second == one.second;
  };
  std::vector<std::string> paths;
  for (const auto& [path, told] : told_) {
    if (!told || !std::all_of(told->begin(), told->end(), same)) paths.push_back(path);
  }
  return paths;
}

}  // namespace rg
