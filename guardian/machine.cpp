#include "guardian/machine.hpp"

#include <net/if.h>

#include <array>
#include <cstdlib>

namespace rg {

bool interface_exists(const std::string& zone) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(zone.c_str(), &end, 10);
  std::array<char, IF_NAMESIZE> name{};
  if (!zone.empty() && *end == '\0') return ::if_indextoname(static_cast<unsigned>(number), name.data()) != nullptr;
  return ::if_nametoindex(zone.c_str()) != 0;
}

void heed_machine(Memory& memory, Files& files) {
  std::string id = files.observe("/etc/machine-id").bytes.substr(0, 64);
  while (!id.empty() && (id.back() == '\n' || id.back() == ' ')) id.pop_back();
  if (memory.machine_id != id) {
    // An image that was cloned with our state knows nothing of the network it wakes up in.
    memory.nameservers = {};
    memory.search = {};
    memory.options = {};
  }
  memory.machine_id = id;
}

}  // namespace rg
