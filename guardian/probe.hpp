// Whether a server answers: one question over the network, for the gate of a rollout. Blocks: on a thread of its own.
#pragma once

#include <cstdint>
#include <string>

#include "lib/policy/policy.hpp"

namespace rg {

/// Asks over UDP, and over TCP too after half of the timeout or where UDP failed. Empty once the server has answered
/// with anything but SERVFAIL and REFUSED, else the reason: "192.0.2.1 didn't answer a.example within 500ms". Blocks
/// at most `requirement.timeout` (a minute at most), and returns "stopped" at once when `stop`, a descriptor for
/// poll(2), becomes readable or is at its end; -1: never. No exceptions, no name is resolved, nothing is left open.
[[nodiscard]] std::string probe(const Requirement& requirement, int stop, std::uint16_t port = 53);

}  // namespace rg
