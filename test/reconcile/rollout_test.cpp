#include "lib/reconcile/rollout.hpp"

#include <rapidcheck.h>

#include <map>

#include "test/support/catch.hpp"

namespace rg::test {
namespace {

using Indices = std::vector<std::size_t>;

TEST_CASE("rollout: one by one, in the configured order") {
  Rollout rollout(7, {{"/a"}, {"/b"}, {"/c"}});
  CHECK(rollout.generation() == 7);
  CHECK(rollout.take_next() == Indices{0});
  CHECK(rollout.take_next().empty());
  CHECK(rollout.waits_for() == 0U);
  rollout.said("/a", false);
  CHECK(rollout.take_next().empty());
  rollout.said("/a", true);
  CHECK(rollout.take_next() == Indices{1});
  CHECK(rollout.phase() == Phase::updating);
  rollout.said("/b", true);
  CHECK(rollout.take_next() == Indices{2});
  CHECK(rollout.phase() == Phase::updating);
  rollout.said("/c", true);
  CHECK(rollout.phase() == Phase::reconciling);
  CHECK_FALSE(rollout.waits_for().has_value());
}

TEST_CASE("rollout: what an older generation verified says nothing") {
  Rollout rollout(2, {{"/a"}, {"/b"}});
  (void)rollout.take_next();
  rollout.said("/b", true);  // it wasn't told yet
  rollout.said("/a", true);
  CHECK(rollout.phase() == Phase::updating);
  CHECK(rollout.take_next() == Indices{1});
  CHECK(rollout.phase() == Phase::updating);
  rollout.said("/other", true);
  CHECK(rollout.phase() == Phase::updating);
}

TEST_CASE("rollout: an earlier one that drifts again holds back those behind it") {
  Rollout rollout(1, {{"/a"}, {"/b"}, {"/c"}});
  (void)rollout.take_next();
  rollout.said("/a", true);
  (void)rollout.take_next();
  rollout.said("/a", false);
  rollout.said("/b", true);
  CHECK(rollout.take_next().empty());
  CHECK(rollout.waits_for() == 0U);
  rollout.said("/a", true);
  CHECK(rollout.take_next() == Indices{2});
}

TEST_CASE("rollout: an optional guard holds back no one behind it") {
  Rollout rollout(1, {{"/a", false}, {"/b"}, {"/c", false}, {"/d"}});
  CHECK(rollout.take_next() == Indices{0, 1});
  rollout.said("/a", false);
  CHECK(rollout.take_next().empty());
  rollout.said("/b", true);
  CHECK(rollout.take_next() == Indices{2, 3});
  rollout.said("/d", true);
  CHECK_FALSE(rollout.waits_for().has_value());
}

TEST_CASE("rollout: a paused guard is out of the order until it is resumed") {
  Rollout rollout(1, {{"/a"}, {"/b"}});
  (void)rollout.take_next();
  rollout.paused("/a", true);
  CHECK(rollout.take_next() == Indices{1});
  rollout.paused("/a", false);
  rollout.said("/b", true);
  CHECK(rollout.phase() == Phase::updating);
  CHECK(rollout.waits_for() == 0U);
  rollout.said("/a", true);
  CHECK(rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: reconciling stays, whatever drifts then") {
  Rollout rollout(1, {{"/a"}});
  (void)rollout.take_next();
  rollout.said("/a", true);
  rollout.said("/a", false);
  CHECK(rollout.phase() == Phase::reconciling);
}

TEST_CASE("rollout: any order of events") {
  CHECK(
      rc::check("only a verified pass over all that hold back leaves updating; nothing is told twice or too early", [] {
        const auto flags = *rc::gen::nonEmpty(rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>()));
        std::vector<Rollout::Guard> guards;
        for (std::size_t i = 0; i < flags.size(); ++i) guards.push_back({"/" + std::to_string(i), flags[i]});
        Rollout rollout(1, guards);
        std::map<std::size_t, bool> told, verified, paused;
        const auto lets_pass = [&](std::size_t i) { return !flags[i] || paused[i] || verified[i]; };
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4000));
        for (const int step : steps) {
          const std::size_t i = static_cast<std::size_t>(step) / 8 % flags.size();
          const bool was_updating = rollout.phase() == Phase::updating;
          if (step % 8 < 3) {
            for (const std::size_t next : rollout.take_next()) {
              RC_ASSERT(!told[next]);
              for (std::size_t before = 0; before < next; ++before) RC_ASSERT(lets_pass(before));
              told[next] = true;
            }
          } else if (step % 8 < 7) {
            const bool holds = step % 8 != 3;
            rollout.said(guards[i].path, holds);
            if (told[i]) verified[i] = holds;
          } else {
            paused[i] = !paused[i];
            rollout.paused(guards[i].path, paused[i]);
          }
          if (!was_updating || rollout.phase() == Phase::updating) continue;
          for (std::size_t all = 0; all < flags.size(); ++all) RC_ASSERT(told[all] && lets_pass(all));
        }
      }));
}

}  // namespace
}  // namespace rg::test
