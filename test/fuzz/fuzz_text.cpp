// Any bytes where the program reads its own words back: the status from its socket, the history and the memory from
// disk, and the kernel's inotify buffer; and as the answer of a DNS server. What is understood means the same once it
// is printed and read again.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "lib/dns/message.hpp"
#include "lib/report/status.hpp"
#include "lib/store/memory_json.hpp"
#include "lib/watch/inotify_event.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const std::optional<rg::Status> status = rg::parse_status(bytes)) {
    const std::string printed = rg::status_json(*status);
    const std::optional<rg::Status> again = rg::parse_status(printed);
    if (!again || rg::status_json(*again) != printed) std::abort();
  }
  if (const std::optional<rg::Event> event = rg::parse_event(bytes)) {
    const std::string printed = rg::event_json(*event);
    const std::optional<rg::Event> again = rg::parse_event(printed);
    if (!again || rg::event_json(*again) != printed) std::abort();
  }
  if (const auto memory = rg::store::parse_memory(bytes, "/etc/resolv.conf").value) {
    const auto again =
        rg::store::parse_memory(rg::store::memory_json("/etc/resolv.conf", *memory), "/etc/resolv.conf").value;
    if (again != memory) std::abort();
  }
  std::size_t named = 0;
  rg::decode_inotify(bytes, [&](const rg::InotifyEvent& event) { named += event.name.size(); });
  if (named > size) std::abort();
  const std::string query = rg::dns::query(0x2020, "a.example");
  const bool refused = rg::dns::judge(bytes, query) == rg::dns::Verdict::refused;
  if (refused && (size < query.size() || rg::dns::refusal(bytes).empty())) std::abort();
  return 0;
}
