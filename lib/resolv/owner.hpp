// Who wrote a resolv.conf, by its own header comment: a guess, nothing more.
#pragma once

#include <string>
#include <string_view>

namespace rg {

/// The name of the writer that the comments before the first other line speak of: `NetworkManager`, `systemd-resolved`,
/// `openresolv`, `resolvconf`, `dhcpcd`, `tailscale`, `netbird`, `docker`, `wsl`, `connman`, `cloud-init`; empty if
/// none.
[[nodiscard]] std::string apparent_writer(std::string_view bytes);

}  // namespace rg
