#include "guardian/lane_guard.hpp"

#include "test/support/catch.hpp"

namespace rg::test {
namespace {

using Kind = Change::Kind;
using std::chrono::milliseconds;
constexpr Time kNow{std::chrono::seconds{1000}};

// A guard whose last pass is over.
LaneGuard quiet_guard() {
  LaneGuard guard(1, 0);
  guard.due = guard.structure = false;
  return guard;
}

void note(LaneGuard& guard, Kind kind, How how, Time at = kNow) { guard.note({kind, how, -1}, at); }

}  // namespace

TEST_CASE("note: who is writing is looked at when he is through, or in a moment") {
  LaneGuard guard = quiet_guard();
  note(guard, Kind::unfinished, How::written);
  CHECK_FALSE(guard.due);
  CHECK(guard.is_busy());
  REQUIRE(guard.next_time());
  const Time later = *guard.next_time();
  CHECK(later > kNow);
  CHECK(later <= kNow + milliseconds{10});

  SECTION("he is through") {
    note(guard, Kind::finished, How::written, kNow + milliseconds{1});
    CHECK(guard.due);
  }
  SECTION("he goes on: that prolongs nothing") {
    note(guard, Kind::unfinished, How::written, later - milliseconds{1});
    CHECK(guard.next_time() == later);
    guard.tick(later - milliseconds{1});
    CHECK_FALSE(guard.due);
    guard.tick(later);
    CHECK(guard.due);
    CHECK_FALSE(guard.next_time());
  }
  SECTION("he was looked at: a busy writer costs nothing until it is quiet") {
    guard.tick(later);
    guard.due = false;
    guard.skip_until_settled = true;
    note(guard, Kind::unfinished, How::written, later + milliseconds{1});
    CHECK_FALSE(guard.due);
    CHECK_FALSE(guard.next_time());
  }
}

TEST_CASE("note: what was made is looked at at once, for a link is finished then") {
  LaneGuard guard = quiet_guard();
  note(guard, Kind::unfinished, How::relinked);
  CHECK(guard.due);
}

TEST_CASE("note: writing takes nothing from what was due") {
  LaneGuard guard = quiet_guard();
  note(guard, Kind::touched, How::attributes);
  note(guard, Kind::unfinished, How::written);
  CHECK(guard.due);
}

// systemd-resolved renames its file and closes it then; a script may empty it right behind that.
TEST_CASE("note: how it was changed is told by a writing behind a rename, not by a closing alone") {
  LaneGuard guard = quiet_guard();
  guard.how = How::unknown;
  note(guard, Kind::finished, How::renamed);
  note(guard, Kind::finished, How::written);
  CHECK(guard.how == How::renamed);
  note(guard, Kind::unfinished, How::written);
  note(guard, Kind::finished, How::written);
  CHECK(guard.how == How::written);
}

}  // namespace rg::test
