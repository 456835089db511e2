// Any bytes as a guarded file: parse is lossless, and what the judgement wants holds, has the required server first,
// stays within max and keeps nothing that is denied.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lib/policy/content.hpp"
#include "lib/resolv/resolv_conf.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const rg::Policy& policy() {
  static const rg::Policy fixed = [] {
    rg::Policy policy;
    policy.nameservers.first = {*rg::Nameserver::parse("127.0.0.1")};
    policy.nameservers.deny = {*rg::Prefix::parse("198.51.100.0/24"), rg::DenyWord::link_local};
    policy.nameservers.fallback = {*rg::Nameserver::parse("192.0.2.1")};
    policy.search.first = {"cluster.example"};
    policy.options.set = {"edns0", "timeout:2"};
    return policy;
  }();
  return fixed;
}

bool every_interface(const std::string&) { return true; }

rg::Content judge(std::string_view on_disk, std::string_view document) {
  static const std::vector<rg::Upstream> none;
  static const rg::Memory memory;
  return rg::judge_content({policy(), on_disk, document, none, memory, every_interface});
}

void check_wanted(const rg::Content& content) {
  const std::vector<rg::Nameserver> servers = rg::nameservers(rg::parse(content.wanted));
  require(servers == content.want.nameservers);
  require(!servers.empty() && servers.front() == policy().nameservers.first.front());
  require(servers.size() <= policy().nameservers.max);
  const rg::Prefix denied = *rg::Prefix::parse("198.51.100.0/24");
  for (const rg::Nameserver& server : servers) require(!denied.contains(server) && !server.is_link_local());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  require(rg::render(rg::parse(bytes)) == bytes);
  const rg::Content content = judge(bytes, bytes);
  if (content.violations.empty()) return 0;
  check_wanted(content);
  require(judge(content.wanted, bytes).violations.empty());  // restored once is enough
  return 0;
}
