#include "lib/report/knobs.hpp"

#include <algorithm>
#include <array>

namespace rg {
namespace {

struct Knob {
  std::string_view writer, setting;
};

// NetworkManager.conf(5), dhcpcd.conf(5), resolvconf.conf(5), wsl.conf, tailscale(1), connman.conf(5), cloud-init.
constexpr std::array<Knob, 9> kKnobs{{
    {"NetworkManager", "[main] rc-manager=unmanaged or dns=none in NetworkManager.conf"},
    {"systemd-resolved", "link = \"file\" here, so that its file is left alone"},
    {"dhcpcd", "nohook resolv.conf in dhcpcd.conf"},
    {"openresolv", "resolv_conf=/dev/null in resolvconf.conf"},
    {"resolvconf", "resolvconf --disable-updates"},
    {"tailscale", "tailscale set --accept-dns=false"},
    {"wsl", "generateResolvConf=false in wsl.conf"},
    {"connman", "--nodnsproxy and --noresolvconf"},
    {"cloud-init", "manage_resolv_conf: false"},
}};

}  // namespace

std::string contested_reason(std::string_view writer) {
  const auto* const knob =
      std::find_if(kKnobs.begin(), kKnobs.end(), [&](const Knob& entry) { return entry.writer == writer; });
  std::string reason = "the same rewrite keeps coming back";
  if (!writer.empty()) reason.append(" from ").append(writer);
  if (knob == kKnobs.end()) return reason + "; it is restored ever more slowly";
  return reason + "; ended by " + std::string(knob->setting);
}

}  // namespace rg
