// What comes out of time: after its deadline, of an older question, of an older generation.
#include "test/reconcile/rollout_run.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

constexpr bool kHoldsBack = true, kGlob = true;
constexpr auto kHolds = Rollout::Said::holds, kUnfinished = Rollout::Said::unfinished, kFailed = Rollout::Said::failed;

const Rollout::Guard kFiles{"/g*", kHoldsBack, false, kGlob};

TEST_CASE("rollout: an answer to a question of an older generation is none") {
  Run old({{"/a"}}, 1), run({{"/a"}}, 2);
  (void)old.next();
  (void)run.next();
  run.rollout.said("/a", old.tickets["/a"], kHolds, run.now);
  CHECK(run.next().empty());
  CHECK(run.rollout.phase() == Phase::updating);
}

TEST_CASE("rollout: a deadline and its late answer are one failed attempt, and never a success") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  CHECK(run.unanswered("/a").empty());
  CHECK(run.rollout.attempt() == 1);
  CHECK(run.later().empty());  // nothing is asked until it answers
  CHECK(run.say("/a", kHolds).empty());
  CHECK(run.rollout.attempt() == 1);
  CHECK(run.say("/a", kHolds).empty());  // nothing it says to that question counts any more
  CHECK(run.wait() == Words{"look /a"});
  CHECK(run.say("/a", kHolds) == Words{"adopt /b"});
  CHECK(run.rollout.attempt() == 1);
}

TEST_CASE("rollout: one that is late though it was held back is asked again once it has answered") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  (void)run.say("/a", kHolds);
  CHECK(run.say("/a", kUnfinished) == Words{"hold_back /b"});
  CHECK(run.unanswered("/b") == Words{"look /a"});
  CHECK(run.say("/a", kHolds).empty());
  CHECK(run.say("/b", kHolds) == Words{"look /b"});
  CHECK(run.say("/b", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: a deadline of a question that nobody of this generation asked is none") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  CHECK(run.unanswered("/b").empty());
  CHECK(run.rollout.attempt() == 0);
  CHECK(run.say("/a", kHolds) == Words{"adopt /b"});
}

TEST_CASE("rollout: a list that comes too late is no success") {
  Run run({kFiles, {"/b"}});
  CHECK(run.next() == Words{"list 0"});
  CHECK(run.unanswered("/g*").empty());
  CHECK(run.rollout.attempt() == 1);
  CHECK(run.listed(0, {}).empty());
  CHECK(run.rollout.waits_for() == 0U);
  CHECK(run.wait() == Words{"list 0"});
  CHECK(run.listed(0, {}) == Words{"adopt /b"});
}

TEST_CASE("rollout: what fails meanwhile doesn't put the next attempt off") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  (void)run.say("/a", kFailed);
  const Time again = *run.rollout.wakes();
  for (int i = 0; i < 5; ++i) CHECK(run.say("/a", kFailed).empty());
  CHECK(*run.rollout.wakes() <= again);
  CHECK(run.wait() == Words{"look /a"});
  CHECK(run.rollout.attempt() == 1);
}

TEST_CASE("rollout: what failed behind a glob starts from its files again") {
  Run run({kFiles, {"/b"}});
  (void)run.next();
  (void)run.listed(0, {"/g1"});
  CHECK(run.say("/g1", kHolds) == Words{"adopt /b"});
  CHECK(run.say("/b", kFailed).empty());
  CHECK(run.wait() == Words{"look /g1", "hold_back /b"});
}

TEST_CASE("rollout: a file of a glob that fails doesn't hold back the others") {
  Run run({kFiles, {"/b"}});
  (void)run.next();
  CHECK(run.listed(0, {"/g1", "/g2", "/g3"}).size() == 3);
  (void)run.say("/g1", kHolds);
  (void)run.say("/g2", kFailed);
  CHECK(run.wait() == Words{"look /g2"});  // /g3 is still at it
  (void)run.say("/g3", kHolds);
  CHECK(run.say("/g2", kHolds) == Words{"adopt /b"});
}

TEST_CASE("rollout: what a paused guard fails at is no failed attempt") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  CHECK(run.paused("/a", true) == Words{"adopt /b"});
  SECTION("it fails") { CHECK(run.say("/a", kFailed).empty()); }
  SECTION("its deadline passes") { CHECK(run.unanswered("/a").empty()); }
  CHECK(run.rollout.attempt() == 0);
  CHECK(run.say("/b", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: a resumed guard is verified again, and those behind it after it") {
  Run run({{"/a"}, {"/b"}, {"/c"}});
  (void)run.next();
  CHECK(run.paused("/a", true) == Words{"adopt /b"});
  CHECK(run.say("/b", kHolds) == Words{"adopt /c"});
  CHECK(run.say("/a", kHolds).empty());  // asked before the pause, answered after /b
  CHECK(run.paused("/a", false) == Words{"look /a", "hold_back /b", "hold_back /c"});
}

}  // namespace
}  // namespace rg::test
