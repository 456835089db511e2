#include "guardian/config_source.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/store/sha256.hpp"

namespace rg {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;
constexpr std::size_t kMaxFiles = 1000;
constexpr const char* kDoing = "read the configuration";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Result<std::string> read_all(int fd, const std::string& path, std::size_t size_hint) {
  std::string bytes(std::min(size_hint, kMaxBytes) + 1, '\0');
  std::size_t length = 0;
  for (;;) {
    const ssize_t got = ::read(fd, bytes.data() + length, bytes.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(kDoing, path);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > kMaxBytes) return Error{EFBIG, "read more than 1 MiB of configuration from", path};
    if (length == bytes.size()) bytes.resize(std::min(2 * length, kMaxBytes) + 1);
  }
  bytes.resize(length);
  return bytes;
}

// nullopt: there is no such file, or it is neither a regular file nor a link to one.
Result<std::optional<std::string>> read_regular(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that somebody put there must not hang.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  // A link that leads nowhere is a key that left the ConfigMap: its link goes after the data. ENXIO: a socket or a
  // device.
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENXIO)) return std::optional<std::string>();
  if (file.get() < 0) return errno_error(kDoing, path);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return errno_error(kDoing, path);
  if (!S_ISREG(facts.st_mode)) return std::optional<std::string>();
  Result<std::string> bytes = read_all(file.get(), path, static_cast<std::size_t>(facts.st_size));
  if (!bytes) return bytes.error();
  return std::optional<std::string>(std::move(*bytes));
}

bool is_toml_name(std::string_view name) {
  constexpr std::string_view kEnding = ".toml";
  return name.front() != '.' && name.size() > kEnding.size() && name.substr(name.size() - kEnding.size()) == kEnding;
}

// The names in config.d that are read, sorted; none if there is no such directory.
Result<std::vector<std::string>> drop_in_names(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream && (errno == ENOENT || errno == ENOTDIR)) return names;
  if (!stream) return errno_error(kDoing, directory);
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (is_toml_name(entry->d_name)) names.emplace_back(entry->d_name);
    if (names.size() > kMaxFiles) return Error{E2BIG, "read more than 1000 files of", directory};
    errno = 0;
  }
  if (errno != 0) return errno_error(kDoing, directory);
  std::sort(names.begin(), names.end());
  return names;
}

// Lengths in front: no two configurations give the same text.
std::string digest(const std::vector<ConfigText>& files) {
  std::string all;
  for (const ConfigText& file : files) {
    for (const std::string* part : {&file.path, &file.bytes}) all += std::to_string(part->size()) + ':' + *part;
  }
  return sha256_hex(all);
}

Result<void> add(ConfigBytes& config, const std::string& path) {
  Result<std::optional<std::string>> bytes = read_regular(path);
  if (!bytes) return bytes.error();
  if (*bytes) config.files.push_back({path, std::move(**bytes)});
  return {};
}

}  // namespace

Result<ConfigBytes> read_config(const std::string& path) {
  ConfigBytes config;
  if (Result<void> added = add(config, path); !added) return added.error();
  const std::size_t slash = path.rfind('/');
  const std::string directory = (slash == path.npos ? std::string() : path.substr(0, slash + 1)) + "config.d";
  const Result<std::vector<std::string>> names = drop_in_names(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (Result<void> added = add(config, directory + '/' + name); !added) return added.error();
  }
  if (config.files.empty()) return Error{ENOENT, kDoing, path};
  if (config.files.size() > kMaxFiles) return Error{E2BIG, "read more than 1000 files of", directory};
  config.sha256 = digest(config.files);
  return config;
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

}  // namespace rg
