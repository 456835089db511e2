#include "guardian/pauses.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>

#include "lib/report/text.hpp"
#include "lib/report/words.hpp"
#include "lib/store/file.hpp"
#include "lib/tree/file_descriptor.hpp"

namespace rg {
namespace {

std::string boot_id() {
  const FileDescriptor fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[36]{};
  const ssize_t length = fd ? ::read(fd.get(), text, sizeof text) : 0;
  return {text, length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

Pauses Pauses::load(const std::string& runtime_dir) {
  Pauses pauses;
  pauses.file_ = runtime_dir + "/paused.json";
  const auto text = store::read_file(pauses.file_, 1U << 20U);
  if (text && !*text) return pauses;
  const std::string mistake = text ? pauses.take(**text) : text.error().text();
  if (!mistake.empty())
    pauses.warning_ = printable("pauses that were made aren't known: " + pauses.file_ + ": " + mistake);
  return pauses;
}

// What is wrong with the file, or nothing.
std::string Pauses::take(const std::string& text) {
  boost::system::error_code error;
  const auto value = boost::json::parse(text, error);
  if (error) return error.message();
  const auto* object = value.if_object();
  const auto* boot = object != nullptr ? object->if_contains("boot_id") : nullptr;
  const auto* guards = object != nullptr ? object->if_contains("guards") : nullptr;
  if (boot == nullptr || !boot->is_string() || guards == nullptr || !guards->is_object()) return "it holds no pauses";
  if (std::string_view(boot->as_string()) != boot_id()) return {};  // a pause doesn't outlast a reboot
  for (const auto& entry : guards->as_object()) {
    const auto until = entry.value().is_string() ? parse_rfc3339(entry.value().as_string()) : std::nullopt;
    if (!until) return "it holds no time for " + std::string(entry.key());
    if (*until > std::chrono::system_clock::now()) until_[std::string(entry.key())] = *until;
  }
  return {};
}

std::optional<WallTime> Pauses::of(const std::string& path) const {
  const auto found = until_.find(path);
  if (found == until_.end() || found->second <= std::chrono::system_clock::now()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Pauses::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, end] : until_) {
    if (of(path)) paths.push_back(path);
  }
  return paths;
}

Result<void> Pauses::set(const std::string& path, std::optional<WallTime> until) {
  if (until) until_[path] = *until;
  if (!until) until_.erase(path);
  boost::json::object guards;
  for (const auto& [guard, end] : until_) guards[guard] = rfc3339(end);
  const std::string text = boost::json::serialize(boost::json::object{{"boot_id", boot_id()}, {"guards", guards}});
  return store::replace_file(file_, text, store::Sync::none);
}

}  // namespace rg
