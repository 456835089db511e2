#include "lib/reconcile/pace.hpp"

#include <rapidcheck.h>

#include "test/support/catch.hpp"

namespace rg::test {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

const Time kStart = Time{} + std::chrono::hours{1};

// A writer who comes back `gap` after each restore, for ever: how long each of his contents stood.
struct Fight {
  explicit Fight(std::uint64_t seed = 1) : pace(seed) {}
  milliseconds stands(const std::string& key, milliseconds gap) {
    now += gap;
    const Time begun = now;
    const Time due = pace.due(key, now);
    now = due;
    CHECK(pace.due(key, now) <= now);  // what was promised is kept
    pace.restored(key, now);
    return std::chrono::duration_cast<milliseconds>(due - begun);
  }
  Pace pace;
  Time now = kStart;
};

TEST_CASE("pace: at once for the first second, then 100 ms doubling to 5 s") {
  Fight fight;
  while (fight.now - kStart < milliseconds{950}) CHECK(fight.stands("k", milliseconds{50}).count() == 0);
  (void)fight.stands("k", milliseconds{100});
  (void)fight.stands("k", milliseconds{1});  // the second is over: 100 ms after the last restore at the earliest
  milliseconds expected{100};
  for (int i = 0; i < 12; ++i) {
    const milliseconds stood = fight.stands("k", milliseconds{1});
    INFO(i << ": " << stood.count() << " ms, expected " << expected.count());
    CHECK(stood >= expected - milliseconds{2});
    CHECK(stood <= expected * 6 / 5 + milliseconds{2});  // jitter
    expected = std::min(expected * 2, milliseconds{5000});
  }
}

TEST_CASE("pace: quick again after 10 s of quiet, not before") {
  Fight fight;
  for (int i = 0; i < 60; ++i) (void)fight.stands("k", milliseconds{40});
  CHECK(fight.stands("k", milliseconds{1}).count() >= 100);
  SECTION("quiet") {
    CHECK(fight.stands("k", milliseconds{10'001}).count() == 0);
    for (int i = 0; i < 20; ++i) CHECK(fight.stands("k", milliseconds{45}).count() == 0);
  }
  SECTION("not quite") {
    (void)fight.stands("k", milliseconds{9'000});
    CHECK(fight.stands("k", milliseconds{1}).count() >= 100);
  }
}

TEST_CASE("pace: new content is never delayed") {
  Fight fight;
  for (int i = 0; i < 200; ++i) CHECK(fight.stands("new " + std::to_string(i), milliseconds{5}).count() == 0);
  for (int i = 0; i < 60; ++i) (void)fight.stands("k", milliseconds{40});
  CHECK(fight.stands("another", milliseconds{1}).count() == 0);
  CHECK(fight.stands("k", milliseconds{1}).count() >= 100);  // and the fight goes on
}

TEST_CASE("pace: two contents in turn are a fight too") {
  Fight fight;
  for (int i = 0; i < 40; ++i) {
    (void)fight.stands("a", milliseconds{30});
    (void)fight.stands("b", milliseconds{30});
  }
  milliseconds stood = fight.stands("a", milliseconds{1});
  stood += fight.stands("b", milliseconds{1});
  CHECK(stood.count() >= 1000);
}

TEST_CASE("pace: asking again changes nothing") {
  Fight fight;
  for (int i = 0; i < 60; ++i) (void)fight.stands("k", milliseconds{40});
  fight.now += milliseconds{1};
  const Time due = fight.pace.due("k", fight.now);
  for (int i = 0; i < 100; ++i)
    CHECK(fight.pace.due("k", fight.now + milliseconds{i}) == std::max(due, fight.now + milliseconds{i}));
}

TEST_CASE("pace: never given up, whatever the writers do") {
  CHECK(rc::check("a drift waits 6 s at the most", [] {
    Pace pace(*rc::gen::arbitrary<std::uint64_t>());
    Time now = kStart;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20'000));
    for (const int step : steps) {
      now += milliseconds{step};
      const std::string key = std::to_string(step % 3);
      const Time due = pace.due(key, now);
      RC_ASSERT(due >= now);
      RC_ASSERT(due - now <= seconds{6});
      now = due;
      pace.restored(key, now);
    }
  }));
}

TEST_CASE("back-off: from the first to the most, with jitter, and from the first again") {
  BackOff back_off(milliseconds{100}, milliseconds{5000}, 7);
  milliseconds expected{100};
  for (int i = 0; i < 10; ++i) {
    const milliseconds wait = back_off.next();
    CHECK(wait >= expected);
    CHECK(wait <= expected * 6 / 5 + milliseconds{1});
    expected = std::min(expected * 2, milliseconds{5000});
  }
  back_off.reset();
  CHECK(back_off.next() < milliseconds{125});
}

TEST_CASE("back-off: two guards don't go in step") {
  BackOff a(milliseconds{1000}, milliseconds{5000}, 2), b(milliseconds{1000}, milliseconds{5000}, 3000);
  bool differ = false;
  for (int i = 0; i < 5; ++i) differ = a.next() != b.next() || differ;
  CHECK(differ);
}

TEST_CASE("budget: a burst of 250 ms, half of the time over the long run") {
  Budget budget;
  Time now = kStart;
  CHECK(budget.wait(now).count() == 0);
  budget.spent(milliseconds{250}, now);
  CHECK(budget.wait(now).count() == 0);
  budget.spent(milliseconds{10}, now);
  CHECK(budget.wait(now) == milliseconds{20});
  CHECK(budget.wait(now + milliseconds{20}).count() == 0);

  Budget busy;
  nanoseconds worked{0};
  while (now - kStart < seconds{60}) {
    const nanoseconds wait = busy.wait(now);
    now += wait;
    if (wait.count() > 0) continue;
    now += milliseconds{3};
    worked += milliseconds{3};
    busy.spent(milliseconds{3}, now);
  }
  CHECK(worked > seconds{28});
  CHECK(worked < seconds{31});
  CHECK(busy.wait(now + seconds{10}).count() == 0);
}

}  // namespace
}  // namespace rg::test
