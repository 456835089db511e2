#include "lib/store/journal.hpp"

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "lib/report/status.hpp"
#include "test/store/file_bytes.hpp"
#include "test/store/temp_directory.hpp"
#include "test/support/catch.hpp"

namespace fs = std::filesystem;
using namespace rg;

namespace {

Event event(std::uint64_t number, std::string after = "") {
  Event event;
  event.at = WallTime{} + std::chrono::seconds(number);
  event.kind = Event::Kind::restore;
  event.path = "/etc/resolv.conf";
  event.generation = number;
  event.after = std::move(after);
  return event;
}

std::vector<Event> events(std::uint64_t begin, std::uint64_t end) {
  std::vector<Event> all;
  for (std::uint64_t number = begin; number < end; ++number) all.push_back(event(number));
  return all;
}

using Numbers = std::vector<std::uint64_t>;

Numbers newest(const Journal& journal, std::size_t count) {
  const auto read = journal.newest(count);
  REQUIRE(read.has_value());
  Numbers numbers;
  for (const Event& one : *read) numbers.push_back(one.generation);
  return numbers;
}

std::string line(std::uint64_t number) { return event_json(event(number)) + "\n"; }

}  // namespace

TEST_CASE("journal: the newest, oldest first") {
  const TempDirectory directory;
  Journal journal(directory.path);
  CHECK(newest(journal, 20).empty());
  REQUIRE(journal.append({}).has_value());
  CHECK(fs::is_empty(directory.path));
  REQUIRE(journal.append(events(1, 3)).has_value());
  REQUIRE(journal.append(events(3, 6)).has_value());
  CHECK(newest(journal, 0) == Numbers{1, 2, 3, 4, 5});
  CHECK(newest(journal, 2) == Numbers{4, 5});
  CHECK(newest(journal, 20) == Numbers{1, 2, 3, 4, 5});
  CHECK(read_bytes(directory / "history.jsonl") == line(1) + line(2) + line(3) + line(4) + line(5));
  CHECK((fs::status(directory / "history.jsonl").permissions() == (fs::perms::owner_read | fs::perms::owner_write)));
}

TEST_CASE("journal: broken lines are skipped, wherever they stand") {
  const TempDirectory directory;
  const Journal journal(directory.path);
  const std::string garbage("\0\xff\xfe{\"at\":\x1b[2J\0", 14);
  const std::string cut = line(2).substr(0, 50);
  write_bytes(directory / "history.jsonl", cut + "\n" + line(1) + garbage + "\n\n\r\n" + cut + "\n" + line(3) +
                                               "{}\n[]\nnull\n" + line(4).substr(1) + line(5) + cut);
  CHECK(newest(journal, 0) == Numbers{1, 3, 5});
  CHECK(newest(journal, 2) == Numbers{3, 5});
  CHECK(newest(journal, 1) == Numbers{5});
}

TEST_CASE("journal: a file that is nothing but garbage") {
  const TempDirectory directory;
  Journal journal(directory.path, 10U << 20U);
  write_bytes(directory / "history.jsonl", std::string(3U << 20U, '\0'));  // far longer than any line of ours
  CHECK(newest(journal, 20).empty());
  REQUIRE(journal.append(events(1, 2)).has_value());
  CHECK(newest(journal, 20) == Numbers{1});
}

TEST_CASE("journal: after a cut line the next one stands on its own") {
  const TempDirectory directory;
  Journal journal(directory.path);
  write_bytes(directory / "history.jsonl", line(1) + line(2).substr(0, 30));
  REQUIRE(journal.append(events(3, 4)).has_value());
  CHECK(read_bytes(directory / "history.jsonl") == line(1) + line(2).substr(0, 30) + "\n" + line(3));
  CHECK(newest(journal, 0) == Numbers{1, 3});
  // Only the line end of the last one is missing: it was whole.
  write_bytes(directory / "history.jsonl", line(1).substr(0, line(1).size() - 1));
  CHECK(newest(journal, 0) == Numbers{1});
  REQUIRE(journal.append(events(2, 3)).has_value());
  CHECK(newest(journal, 0) == Numbers{1, 2});
}

TEST_CASE("journal: it rotates, stays bounded and is read across both files") {
  const TempDirectory directory;
  const std::size_t most = 10 * line(100).size();
  Journal journal(directory.path, most);
  for (std::uint64_t number = 100; number < 125; ++number) {
    REQUIRE(journal.append({event(number)}).has_value());
    CHECK(fs::file_size(directory / "history.jsonl") <= most);
  }
  CHECK(fs::file_size(directory / "history.1.jsonl") == most);
  CHECK(newest(journal, 7) == Numbers{118, 119, 120, 121, 122, 123, 124});
  CHECK(newest(journal, 0).size() == 15);
  CHECK(newest(journal, 0).front() == 110);
  CHECK(newest(journal, 1) == Numbers{124});
}

TEST_CASE("journal: a flood in one go keeps its newest events, and always one") {
  const TempDirectory directory;
  Journal journal(directory.path, 10 * line(100).size());
  REQUIRE(journal.append(events(100, 150)).has_value());
  CHECK(newest(journal, 0) == Numbers{140, 141, 142, 143, 144, 145, 146, 147, 148, 149});
  Journal tiny(directory.path, 1);
  REQUIRE(tiny.append(events(200, 203)).has_value());
  CHECK(read_bytes(directory / "history.jsonl") == line(202));
}

TEST_CASE("journal: lines that cross the chunks it reads") {
  const TempDirectory directory;
  Journal journal(directory.path);
  Numbers all;
  for (std::uint64_t number = 0; number < 40; ++number) {
    REQUIRE(journal.append({event(number, std::string(16000, '\x01'))}).has_value());  // 96 KB each in JSON
    all.push_back(number);
  }
  CHECK(fs::file_size(directory / "history.jsonl") > 40U * 90000);
  CHECK(newest(journal, 0) == all);
  CHECK(newest(journal, 3) == Numbers{37, 38, 39});
}

// Count what is read by making the rest unreadable as a number of events: everything in front of the newest lines is a
// hole of 1 TB, which nobody reads in a test's time.
TEST_CASE("journal: it reads no more than it needs") {
  const TempDirectory directory;
  const Journal journal(directory.path);
  write_bytes(directory / "history.jsonl", "");
  fs::resize_file(directory / "history.jsonl", std::uintmax_t{1} << 40U);
  write_bytes(directory / "history.jsonl", "\n" + line(1) + line(2), "ab");
  CHECK(newest(journal, 2) == Numbers{1, 2});
}

TEST_CASE("journal: a reader beside a writer sees whole events in order, without gaps") {
  const TempDirectory directory;
  const std::size_t most = 3 * line(1000).size();
  Journal writer(directory.path, most);
  const Journal reader(directory.path, most);
  REQUIRE(writer.append({event(1000)}).has_value());
  std::atomic<bool> failed{false};
  std::atomic<int> reads{0};
  std::atomic<bool> done{false};
  std::thread writing([&] {
    // Rotates at every third event, and goes on until the reader had its turn.
    for (std::uint64_t number = 1001; number < 3000 || reads < 300; ++number) {
      if (!writer.append({event(number)}).has_value()) failed = true;
    }
    done = true;
  });
  Numbers gaps;
  while (!done) {
    const auto read = reader.newest(20);
    ++reads;
    if (!read || read->empty()) {
      gaps.push_back(0);
      continue;
    }
    for (std::size_t i = 1; i < read->size(); ++i) {
      if ((*read)[i].generation != (*read)[i - 1].generation + 1) gaps.push_back((*read)[i].generation);
    }
  }
  writing.join();
  CHECK(!failed);
  CHECK(gaps == Numbers{});
}

TEST_CASE("journal: errors are values") {
  const TempDirectory directory;
  CHECK(!Journal("/proc").append(events(1, 2)).has_value());
  CHECK(!Journal(directory / "missing").append(events(1, 2)).has_value());
  CHECK(newest(Journal(directory / "missing"), 20).empty());
  write_bytes(directory / "elsewhere", "");
  fs::create_symlink("elsewhere", directory / "history.jsonl");
  Journal journal(directory.path);
  CHECK(!journal.append(events(1, 2)).has_value());
  CHECK(!journal.newest(20).has_value());
  CHECK(fs::file_size(directory / "elsewhere") == 0);
}
