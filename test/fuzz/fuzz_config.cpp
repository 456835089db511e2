// Any bytes as a configuration: an error with a place, or settings that survive being printed and read again.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "lib/config/config_file.hpp"

namespace {

std::optional<std::string> environment(const std::string& name) {
  return name == "NODE_IP" ? std::optional<std::string>("203.0.113.5") : std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const rg::ParsedConfig parsed = rg::parse_config({{"config.toml", text}}, environment);
  if (parsed.settings.has_value() != parsed.errors.empty()) std::abort();
  if (!parsed.settings) return 0;
  const rg::ParsedConfig again = rg::parse_config({{"printed", rg::print_config(*parsed.settings)}}, environment);
  if (again.settings != parsed.settings) std::abort();
  return 0;
}
