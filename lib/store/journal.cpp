#include "lib/store/journal.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/report/status.hpp"
#include "lib/store/file.hpp"

namespace rg {
namespace {

using store::File;

constexpr std::size_t kChunk = 64U << 10U;
// The longest line of ours: twice 16 KiB of contents, six bytes for each that JSON escapes, and what stands around
// them. What is longer is garbage that is read past, never collected.
constexpr std::size_t kMaxLine = 1U << 20U;

// The lines of a file from its end to its front. What was appended after it was opened is not read.
class Backwards {
 public:
  Backwards(const File& file, const std::string& path, std::size_t size) : file_(file), path_(path), unread_(size) {}

  /// The line before the last one given, without its end; nullopt in front of the first.
  Result<std::optional<std::string>> previous() {
    std::string line;
    bool too_long = false;
    for (;;) {
      const std::size_t end = chunk_.rfind('\n');
      const std::size_t start = end == std::string::npos ? 0 : end + 1;
      const std::size_t length = chunk_.size() - start;
      too_long = too_long || line.size() + length > kMaxLine;
      if (too_long) {
        line.clear();
      } else {
        line.insert(0, chunk_, start, length);
      }
      chunk_.resize(end == std::string::npos ? 0 : end);
      if (end != std::string::npos) return std::optional<std::string>(std::move(line));
      if (unread_ == 0) break;
      if (auto more = read_chunk(); !more) return more.error();
    }
    if (std::exchange(ended_, true)) return std::optional<std::string>{};
    return std::optional<std::string>(std::move(line));
  }

 private:
  Result<void> read_chunk() {
    const std::size_t size = std::min(kChunk, unread_);
    auto bytes = store::read_at(file_, path_, unread_ - size, size);
    if (!bytes) return bytes.error();
    chunk_ = std::move(*bytes);
    unread_ -= size;
    return {};
  }

  const File& file_;
  const std::string& path_;
  std::size_t unread_;
  std::string chunk_;  // what was read and not yet given
  bool ended_ = false;
};

// A file of the history as it was when it was opened; no `file` where there is none.
struct Opened {
  std::string path;
  File file;
  struct stat status {};
};

Result<Opened> open_to_read(const std::string& path) {
  Opened opened{path, File(), {}};
  auto file = store::open_file(path, O_RDONLY);
  if (!file && file.error().code == ENOENT) return opened;
  if (!file) return file.error();
  auto status = store::stat_file(*file, path);
  if (!status) return status.error();
  opened.file = std::move(*file);
  opened.status = *status;
  return opened;
}

// Is it still what stands at its path? Its inode number is not given to another file while we have it open.
bool still_there(const Opened& opened) {
  struct stat now {};
  if (lstat(opened.path.c_str(), &now) != 0) return !opened.file;
  return opened.file && now.st_dev == opened.status.st_dev && now.st_ino == opened.status.st_ino;
}

// The newer and the older file of one moment: append() may rotate between the two opens, even twice. Bounded: the newer
// file alone is what is left to say of a history that rotates faster than it can be opened.
Result<std::array<Opened, 2>> open_both(const std::string& newer_path, const std::string& older_path) {
  constexpr int kTries = 100;
  for (int tries = 1;; ++tries) {
    auto newer = open_to_read(newer_path);
    if (!newer) return newer.error();
    auto older = open_to_read(older_path);
    if (!older) return older.error();
    if (still_there(*newer)) return std::array{std::move(*newer), std::move(*older)};
    if (tries == kTries) return std::array{std::move(*newer), Opened()};
  }
}

// Adds the events of a file, newest first, until there are `count` (0: no limit).
Result<void> collect(const Opened& opened, std::size_t count, std::vector<Event>& events) {
  Backwards lines(opened.file, opened.path, static_cast<std::size_t>(opened.status.st_size));
  while (count == 0 || events.size() < count) {
    auto line = lines.previous();
    if (!line) return line.error();
    if (!line->has_value()) break;
    if ((*line)->empty()) continue;
    if (auto event = parse_event(**line)) events.push_back(std::move(*event));
  }
  return {};
}

// The newest events that fit, one a line: a flood of them must not outgrow the bound in one go.
std::string lines_of(const std::vector<Event>& events, std::size_t most) {
  std::vector<std::string> lines;
  std::size_t size = 0;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    lines.push_back(event_json(*event) + "\n");
    size += lines.back().size();
    if (size > most && lines.size() > 1) {
      lines.pop_back();
      break;
    }
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) text += *line;
  return text;
}

// The descriptor to append `adding` bytes to, after a rotation where they would make the file too large.
Result<File> open_to_append(const std::string& directory, const std::string& path, std::size_t adding,
                            std::size_t most) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND;
  auto file = store::open_file(path, kFlags);
  if (!file) return file.error();
  auto status = store::stat_file(*file, path);
  if (!status) return status.error();
  if (status->st_size == 0 || static_cast<std::size_t>(status->st_size) + adding <= most) return file;
  const std::string older = directory + "/history.1.jsonl";
  if (std::rename(path.c_str(), older.c_str()) != 0) return errno_error("rename to", older);
  return store::open_file(path, kFlags);
}

// The last byte of a file, nothing of an empty one.
Result<std::string> last_byte(const File& file, const std::string& path) {
  auto status = store::stat_file(file, path);
  if (!status) return status.error();
  if (status->st_size == 0) return std::string();
  return store::read_at(file, path, static_cast<std::size_t>(status->st_size) - 1, 1);
}

}  // namespace

Journal::Journal(std::string directory, std::size_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

Result<void> Journal::append(const std::vector<Event>& events) {
  if (events.empty()) return {};
  const std::string path = directory_ + "/history.jsonl";
  std::string lines = lines_of(events, max_bytes_);
  auto file = open_to_append(directory_, path, lines.size(), max_bytes_);
  if (!file) return file.error();
  auto last = last_byte(*file, path);
  if (!last) return last.error();
  if (!last->empty() && *last != "\n") lines.insert(0, 1, '\n');  // a kill or a full disk cut the last line
  return store::write_all(*file, path, lines);
}

Result<std::vector<Event>> Journal::newest(std::size_t count) const {
  auto opened = open_both(directory_ + "/history.jsonl", directory_ + "/history.1.jsonl");
  if (!opened) return opened.error();
  std::vector<Event> events;
  for (const Opened& one : *opened) {
    if (!one.file || (count != 0 && events.size() >= count)) continue;
    auto collected = collect(one, count, events);
    if (!collected) return collected.error();
  }
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace rg
