#include "lib/store/state_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "lib/report/text.hpp"
#include "lib/store/file.hpp"
#include "lib/store/memory_json.hpp"
#include "lib/store/sha256.hpp"

namespace rg {
namespace {

using store::Parsed;
using store::Sync;

constexpr std::size_t kMaxBytes = 4U << 20U;
constexpr std::string_view kVerifiedVersion = "# resolv-guardian: the last verified configuration, version 1\n";

// A guard's path may hold any byte and be longer than a file name (255 bytes): its digest is neither. 64 bits of it are
// enough, since the path stands in the file as well.
std::string guard_file(const std::string& directory, const std::string& guard_path, std::string_view suffix) {
  return directory + "/guard-" + sha256_hex(guard_path).substr(0, 16).append(suffix);
}

using Access = StateDirectory::Access;

// Renames what cannot be used to *.damaged, for a person to look at, and says so.
std::string set_aside(const std::string& path, const std::string& mistake, Access access) {
  if (access == Access::read_only) return printable(path + " is ignored: " + mistake);
  const std::string aside = path + ".damaged";
  if (std::rename(path.c_str(), aside.c_str()) != 0) {
    return printable(path + " is ignored: " + mistake + "; " + errno_error("rename to", aside).text());
  }
  return printable(path + " was set aside as " + aside + ": " + mistake);
}

// Is the error one of the thing itself, and not of the disk or of our rights?
bool is_damage(const Error& error) { return error.code == EFBIG || error.code == EINVAL || error.code == ELOOP; }

template <class T, class Parse>
Loaded<T> load(const std::string& path, Access access, Parse parse) {
  const auto bytes = store::read_file(path, kMaxBytes);
  if (!bytes && is_damage(bytes.error())) return {{}, set_aside(path, bytes.error().text(), access)};
  if (!bytes) return {{}, printable(bytes.error().text())};
  if (!bytes->has_value()) return {};
  auto parsed = parse(**bytes);
  if (!parsed.value) return {{}, set_aside(path, parsed.mistake, access)};
  return {std::move(*parsed.value), {}};
}

Result<void> save(const std::string& path, const std::string& bytes, Sync sync) {
  if (bytes.size() > kMaxBytes) return Error{EFBIG, "write", path};  // it would not be read again
  return store::replace_file(path, bytes, sync);
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

StateDirectory::StateDirectory(std::string directory, Access access)
    : directory_(std::move(directory)), access_(access) {}

Loaded<Memory> StateDirectory::load_memory(const std::string& guard_path) const {
  auto memory = load<Memory>(guard_file(directory_, guard_path, ".json"), access_,
                             [&](const std::string& bytes) { return store::parse_memory(bytes, guard_path); });
  auto intent = load<std::string>(guard_file(directory_, guard_path, ".intent"), access_,
                                  [&](const std::string& bytes) { return store::parse_intent(bytes, guard_path); });
  if (!intent.value.empty()) memory.value.intended = std::move(intent.value);
  if (!memory.warning.empty() && !intent.warning.empty()) memory.warning += "; ";
  memory.warning += intent.warning;
  return memory;
}

Result<void> StateDirectory::save_memory(const std::string& guard_path, const Memory& memory, Durable durable) const {
  const std::string path = guard_file(directory_, guard_path, ".json");
  const Sync sync = durable == Durable::now ? Sync::data : Sync::none;
  if (auto saved = save(path, store::memory_json(guard_path, memory), sync); !saved) return saved.error();
  // Only now: a kill between the two leaves an intent that the memory already knows of, which harms nobody.
  const std::string intent = guard_file(directory_, guard_path, ".intent");
  if (unlink(intent.c_str()) != 0 && errno != ENOENT) return errno_error("remove", intent);
  return {};
}

// No sync: it stands before a write that a resolver waits for, and it is there for a kill, which the page cache
// outlives. After a power loss it may be empty: then it is set aside as damaged.
Result<void> StateDirectory::save_intent(const std::string& guard_path, const std::string& digest) const {
  return save(guard_file(directory_, guard_path, ".intent"), store::intent_json(guard_path, digest), Sync::none);
}

Loaded<std::uint64_t> StateDirectory::load_generation() const {
  return load<std::uint64_t>(directory_ + "/generation.json", access_,
                             [](const std::string& bytes) { return store::parse_generation(bytes); });
}

Result<void> StateDirectory::save_generation(std::uint64_t generation) const {
  return save(directory_ + "/generation.json", store::generation_json(generation), Sync::data);
}

Loaded<std::optional<std::string>> StateDirectory::load_verified_config() const {
  using Config = std::optional<std::string>;
  return load<Config>(directory_ + "/verified.toml", access_, [](const std::string& bytes) -> Parsed<Config> {
    if (!bytes.starts_with(kVerifiedVersion)) return {{}, "it does not begin with a version that is known"};
    return {Config(bytes.substr(kVerifiedVersion.size())), {}};
  });
}

Result<void> StateDirectory::save_verified_config(const std::string& toml) const {
  return save(directory_ + "/verified.toml", std::string(kVerifiedVersion) + toml, Sync::data);
}

void StateDirectory::remove_left_over() const { store::remove_temporary_files(directory_); }

Result<void> make_directories(const std::string& path) {
  // From the front: stat(2) first, because mkdir(2) of a directory that is there says EROFS or EACCES on some file
  // systems.
  for (std::size_t end = path.find('/', 1); !path.empty(); end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (!is_directory(part)) {
      const bool made = mkdir(part.c_str(), 0755) == 0;
      if (!made && errno == EEXIST && is_directory(part)) continue;  // somebody else was faster
      if (!made) return errno_error("make directory", part);
      if (chmod(part.c_str(), 0755) != 0) return errno_error("change the mode of", part);  // whatever the umask
    }
    if (end == std::string::npos) return {};
  }
  return Error{ENOENT, "make directory", path};
}

}  // namespace rg
