// The history on disk: one JSON object a line, bounded. A broken or cut line is skipped, never fatal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/reconcile/state.hpp"
#include "lib/result.hpp"

namespace rg {

class Journal {
 public:
  /// history.jsonl in `directory`; past `max_bytes` it becomes history.1.jsonl (an older one is dropped).
  explicit Journal(std::string directory, std::size_t max_bytes = 4U << 20U);
  /// Appends with one write(2) to an O_APPEND descriptor; a file that ends in the middle of a line gets a line end
  /// first.
  [[nodiscard]] Result<void> append(const std::vector<Event>& events);
  /// The newest `count` events (0: all), oldest first.
  [[nodiscard]] Result<std::vector<Event>> newest(std::size_t count) const;

 private:
  std::string directory_;
  std::size_t max_bytes_;
};

}  // namespace rg
