#include "lib/reconcile/rollout.hpp"

#include <map>

#include "test/reconcile/rollout_run.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

constexpr bool kOptional = false, kHoldsBack = true, kGated = true, kGlob = true;
constexpr auto kHolds = Rollout::Said::holds, kUnfinished = Rollout::Said::unfinished, kFailed = Rollout::Said::failed;

TEST_CASE("rollout: one by one, in the configured order") {
  Run run({{"/a"}, {"/b"}, {"/c"}}, 7);
  CHECK(run.rollout.generation() == 7);
  CHECK(run.next() == Words{"adopt /a"});
  CHECK(run.next().empty());
  CHECK(run.say("/a", kUnfinished).empty());
  CHECK(run.rollout.waits_for() == 0U);
  CHECK(run.say("/a", kHolds) == Words{"adopt /b"});
  CHECK(run.say("/b", kHolds) == Words{"adopt /c"});
  CHECK(run.rollout.phase() == Phase::updating);
  CHECK(run.say("/c", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
  CHECK_FALSE(run.rollout.waits_for().has_value());
  CHECK(run.rollout.attempt() == 0);
}

TEST_CASE("rollout: an update cancelled at 0 of 573 is a failure and still updating (bug 1843526)") {
  std::vector<Rollout::Guard> guards;
  for (int i = 0; i < 573; ++i) guards.push_back({"/" + std::to_string(i)});
  Run run(guards);
  CHECK(run.next() == Words{"adopt /0"});
  CHECK(run.say("/0", kFailed).empty());  // cancelled
  CHECK(run.rollout.phase() == Phase::updating);
  CHECK(run.rollout.attempt() == 1);
  CHECK(run.rollout.waits_for() == 0U);
  CHECK(run.wait() == Words{"look /0"});
  for (int i = 0; i < 573; ++i) {
    CHECK(run.rollout.phase() == Phase::updating);
    (void)run.say("/" + std::to_string(i), kHolds);
  }
  CHECK(run.rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: an attempt that failed at the last one starts from the first again") {
  Run run({{"/a"}, {"/b"}, {"/c"}});
  (void)run.next();
  (void)run.say("/a", kHolds);
  (void)run.say("/b", kHolds);
  SECTION("it failed") { CHECK(run.say("/c", kFailed).empty()); }
  SECTION("its deadline passed") {
    CHECK(run.unanswered("/c") == Words{"look /a", "hold_back /b", "hold_back /c"});
    CHECK(run.rollout.attempt() == 1);
    CHECK(run.say("/c", kHolds).empty());  // too late
    CHECK(run.rollout.attempt() == 1);
    CHECK(run.say("/a", kHolds) == Words{"look /b"});
    CHECK(run.say("/b", kHolds) == Words{"look /c"});
    CHECK(run.rollout.phase() == Phase::updating);
    CHECK(run.say("/c", kHolds).empty());
    CHECK(run.rollout.phase() == Phase::reconciling);
    return;
  }
  CHECK(run.rollout.attempt() == 1);
  CHECK(run.wait() == Words{"look /a", "hold_back /b", "hold_back /c"});
  CHECK(run.say("/a", kHolds) == Words{"look /b"});
  CHECK(run.say("/b", kHolds) == Words{"look /c"});
  CHECK(run.rollout.phase() == Phase::updating);
  CHECK(run.say("/c", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: back-off grows, is bounded, and a success resets it") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  const auto delay = [&](const std::string& path) {
    (void)run.say(path, kFailed);
    const auto put_off = *run.rollout.wakes() - run.now;
    (void)run.wait();
    return put_off;
  };
  for (const int expected : {100, 200, 400, 800, 1600, 2000, 2000}) {
    const auto put_off = delay("/a");
    CHECK(put_off >= milliseconds{expected});
    CHECK(put_off <= milliseconds{expected * 6 / 5 + 1});
  }
  CHECK(run.rollout.attempt() == 7);
  CHECK(run.rollout.find("/a")->attempt == 7);
  (void)run.say("/a", kHolds);
  CHECK(run.rollout.find("/a")->attempt == 0);
  CHECK(delay("/a") <= milliseconds{120});
}

TEST_CASE("rollout: what failed and holds by itself starts the next attempt at once") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  (void)run.say("/a", kHolds);
  CHECK(run.say("/b", kFailed).empty());
  CHECK(run.say("/a", kHolds).empty());
  CHECK(run.say("/b", kHolds) == Words{"look /a", "hold_back /b"});
  CHECK(run.rollout.phase() == Phase::updating);
}

TEST_CASE("rollout: an earlier one that breaks again holds back those behind it, and they are verified after it") {
  Run run({{"/a"}, {"/b"}, {"/c"}});
  (void)run.next();
  (void)run.say("/a", kHolds);
  (void)run.say("/b", kHolds);
  CHECK(run.say("/a", kUnfinished) == Words{"hold_back /b", "hold_back /c"});
  CHECK(run.say("/c", kHolds).empty());  // asked before it was held back
  CHECK(run.say("/a", kHolds) == Words{"look /b"});
  CHECK(run.say("/b", kHolds) == Words{"look /c"});
  CHECK(run.rollout.phase() == Phase::updating);
  CHECK(run.say("/c", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: an optional guard holds back no one behind it, and waits like everyone") {
  Run run({{"/a", kOptional}, {"/b"}, {"/c", kOptional}, {"/d"}});
  CHECK(run.next() == Words{"adopt /a", "adopt /b"});
  CHECK(run.say("/a", kFailed).empty());
  CHECK(run.rollout.attempt() == 0);
  CHECK(run.say("/b", kHolds) == Words{"adopt /c", "adopt /d"});
  CHECK(run.say("/d", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
  CHECK(run.wait() == Words{"look /a"});
}

TEST_CASE("rollout: in reconciling each is restored on its own") {
  Run run({{"/a"}, {"/b"}});
  (void)run.next();
  (void)run.say("/a", kHolds);
  (void)run.say("/b", kHolds);
  CHECK(run.say("/a", kUnfinished).empty());
  CHECK(run.say("/a", kFailed).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
  CHECK(run.say("/b", kFailed).empty());
  const auto first = run.wait();
  CHECK((first == Words{"look /a"} || first == Words{"look /b"}));  // by jitter
  CHECK(run.unanswered("/a").empty());
  CHECK(run.say("/a", kHolds).empty());
  CHECK(run.rollout.find("/a")->stand != Rollout::Trial::Stand::holds);
  CHECK(run.later().size() == (first == Words{"look /a"} ? 2U : 1U));
}

TEST_CASE("rollout: a gate is asked first, in its turn") {
  Run run({{"/a"}, {"/b", kHoldsBack, kGated}});
  CHECK(run.next() == Words{"adopt /a"});
  CHECK(run.say("/a", kHolds) == Words{"probe 1"});
  CHECK(run.probed(1, false).empty());
  CHECK(run.rollout.attempt() == 1);
  CHECK(run.wait() == Words{"look /a"});
  CHECK(run.say("/a", kHolds) == Words{"probe 1"});
  CHECK(run.probed(1, true) == Words{"adopt /b"});
  CHECK(run.say("/b", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: a glob is one place in the order") {
  Run run({{"/a"}, {"/g*", kHoldsBack, false, kGlob}, {"/gx"}});
  (void)run.next();
  CHECK(run.say("/a", kHolds) == Words{"list 1"});
  CHECK(run.listed(1, {"/g1", "/g2", "/gx"}) == Words{"adopt /g1", "adopt /g2"});  // /gx is a guard of its own
  CHECK(run.say("/g2", kHolds).empty());
  CHECK(run.say("/g1", kHolds) == Words{"adopt /gx"});
  CHECK(run.listed(1, {"/g2", "/g3"}) == Words{"drop /g1", "adopt /g3", "hold_back /gx"});
  CHECK(run.say("/g3", kHolds) == Words{"look /gx"});
  CHECK(run.say("/gx", kHolds).empty());
  CHECK(run.rollout.phase() == Phase::reconciling);
  CHECK(run.listed(1, {"/g2", "/g3", "/g4"}) == Words{"adopt /g4"});
}

TEST_CASE("rollout: a paused guard is lifted out of the order") {
  Run run({{"/a"}, {"/b"}, {"/c"}});
  (void)run.next();
  CHECK(run.paused("/a", true) == Words{"adopt /b"});
  CHECK(run.say("/b", kHolds) == Words{"adopt /c"});
  CHECK(run.paused("/a", false) == Words{"hold_back /b", "hold_back /c"});
  CHECK(run.rollout.waits_for() == 0U);
  CHECK(run.say("/a", kHolds) == Words{"look /b"});
}

}  // namespace
}  // namespace rg::test
