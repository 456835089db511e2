#include "guardian/deadline_watch.hpp"

#include <poll.h>

#include <optional>

#include "test/support/catch.hpp"

namespace rg::test {
namespace {

bool readable(const DeadlineWatch& watch, int within_ms) {
  pollfd timer{watch.descriptor(), POLLIN, 0};
  return ::poll(&timer, 1, within_ms) == 1;
}

TEST_CASE("deadline watch: tells once of what is late, and of nothing when it is back") {
  const auto watch = std::move(DeadlineWatch::create().value());
  std::optional<DeadlineWatch::At> at;
  at.emplace(*watch, "/a", milliseconds{5});
  REQUIRE(readable(*watch, 5000));
  CHECK(watch->look() == "/a");
  CHECK(watch->is_late());
  CHECK_FALSE(watch->look().has_value());  // that was told
  std::string seen;
  watch->while_late([&](const std::string& path) { seen = path; });
  CHECK(seen == "/a");
  at.reset();
  CHECK_FALSE(watch->is_late());
  watch->while_late([&](const std::string&) { seen = "it is back"; });
  CHECK(seen == "/a");
}

TEST_CASE("deadline watch: the timer of an earlier guard is moved on to the next one's deadline") {
  const auto watch = std::move(DeadlineWatch::create().value());
  { const DeadlineWatch::At first(*watch, "/a", milliseconds{5}); }
  const DeadlineWatch::At second(*watch, "/b", milliseconds{200});
  REQUIRE(readable(*watch, 5000));
  CHECK_FALSE(watch->look().has_value());
  REQUIRE(readable(*watch, 5000));
  CHECK(watch->look() == "/b");
}

TEST_CASE("deadline watch: a shorter deadline isn't hidden behind a longer one that was armed before") {
  const auto watch = std::move(DeadlineWatch::create().value());
  { const DeadlineWatch::At first(*watch, "/a", milliseconds{3'600'000}); }
  const DeadlineWatch::At second(*watch, "/b", milliseconds{5});
  REQUIRE(readable(*watch, 5000));
  CHECK(watch->look() == "/b");
}

TEST_CASE("deadline watch: at rest it wakes nobody") {
  const auto watch = std::move(DeadlineWatch::create().value());
  { const DeadlineWatch::At first(*watch, "/a", milliseconds{20}); }
  watch->rest();
  CHECK_FALSE(readable(*watch, 60));
}

}  // namespace
}  // namespace rg::test
