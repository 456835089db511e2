// The state directory: one file a guard (its Memory), the generation, the last verified configuration. Every file is
// written atomically (temp, fdatasync, rename), carries a version and is bounded; a damaged, foreign or newer one is
// set aside (renamed to *.damaged) with a warning, never fatal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/policy/memory.hpp"
#include "lib/result.hpp"

namespace rg {

template <class T>
struct Loaded {
  T value{};
  std::string warning;  ///< empty: nothing to warn of. A missing file is no warning
};

class StateDirectory {
 public:
  enum class Access { full, read_only };
  /// `directory` exists. Nothing is read or written yet. `read_only`: what is damaged stays where it is.
  explicit StateDirectory(std::string directory, Access access = Access::full);

  [[nodiscard]] Loaded<Memory> load_memory(const std::string& guard_path) const;
  /// `later`: a kill can't lose it, a power loss may damage it. For what must stand there before a write.
  enum class Durable { now, later };
  [[nodiscard]] Result<void> save_memory(const std::string& guard_path, const Memory& memory,
                                         Durable durable = Durable::now) const;
  /// Stores the digest of bytes that are about to be written, without reading or changing the memory itself:
  /// load_memory() gives it back as `intended` until the next save_memory(). Small and quick (no sync).
  [[nodiscard]] Result<void> save_intent(const std::string& guard_path, const std::string& digest) const;

  [[nodiscard]] Loaded<std::uint64_t> load_generation() const;
  [[nodiscard]] Result<void> save_generation(std::uint64_t generation) const;

  /// The configuration that was last verified as a whole, as print_config() wrote it.
  [[nodiscard]] Loaded<std::optional<std::string>> load_verified_config() const;
  [[nodiscard]] Result<void> save_verified_config(const std::string& toml) const;

  /// What a kill left behind, at a start: nobody else writes yet.
  void remove_left_over() const;

  [[nodiscard]] const std::string& path() const { return directory_; }

 private:
  std::string directory_;
  Access access_;
};

/// Makes a directory and its missing parents, mode 0755.
[[nodiscard]] Result<void> make_directories(const std::string& path);

}  // namespace rg
