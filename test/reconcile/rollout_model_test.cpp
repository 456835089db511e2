// Every interleaving of answers, deadlines, pauses, reloads, crashes and time for up to three guards, breadth-first
// until no new state appears; and long random runs with up to five.
#include <rapidcheck.h>

#include <cstdio>
#include <deque>
#include <unordered_map>

#include "test/reconcile/rollout_ghost.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

class Search {
 public:
  explicit Search(const Ghost& start) { visit(start, 0, {}); }

  void run() {
    while (broken.empty() && !frontier_.empty()) {
      const auto [ghost, id] = std::move(frontier_.front());
      frontier_.pop_front();
      if (const std::string why = ghost.stuck(); !why.empty()) return tell(why, id);
      for (const Input& input : ghost.inputs()) {
        Ghost after = ghost;
        after.apply(input);
        ++transitions;
        visit(std::move(after), id, input);
        if (!broken.empty()) return;
      }
    }
  }

  std::size_t transitions = 0;
  std::string broken;
  [[nodiscard]] std::size_t states() const { return ways_.size(); }

 private:
  struct Way {  // how a state was first reached
    std::size_t from;
    Input by;
  };

  void visit(Ghost ghost, std::size_t from, const Input& by) {
    const bool bad = !ghost.broken().empty();
    if (!bad && !seen_.emplace(ghost.key(), ways_.size()).second) return;
    ways_.push_back({from, by});
    if (bad) return tell(ghost.broken(), ways_.size() - 1);
    frontier_.emplace_back(std::move(ghost), ways_.size() - 1);
  }

  void tell(const std::string& what, std::size_t id) {
    for (; id != 0; id = ways_[id].from) broken = "\n  " + to_string(ways_[id].by) + broken;
    broken = what + broken;
  }

  std::unordered_map<std::string, std::size_t> seen_;
  std::deque<std::pair<Ghost, std::size_t>> frontier_;
  std::vector<Way> ways_;
};

void search(const char* name, const std::vector<Rollout::Guard>& guards, std::size_t matches = 0) {
  Search search(Ghost(guards, matches));
  search.run();
  std::printf("rollout model, %s: %zu states, %zu transitions\n", name, search.states(), search.transitions);
  INFO(name << ": " << search.broken);
  CHECK(search.broken.empty());
}

constexpr bool kOptional = false, kHoldsBack = true, kGated = true, kGlob = true;
const Rollout::Guard kFiles{"/g", kHoldsBack, false, kGlob};

TEST_CASE("rollout model: three plain guards") { search("plain", {{"/a"}, {"/b"}, {"/c"}}); }

TEST_CASE("rollout model: the second of three is optional") { search("optional", {{"/a"}, {"/b", kOptional}, {"/c"}}); }

TEST_CASE("rollout model: the second of three is gated") {
  search("gated", {{"/a"}, {"/b", kHoldsBack, kGated}, {"/c"}});
}

TEST_CASE("rollout model: a glob of up to two files") {
  SECTION("before a guard") { search("glob first", {kFiles, {"/b"}}, 2); }
  SECTION("behind a guard") { search("glob last", {{"/a"}, kFiles}, 2); }
  SECTION("of one file, between two guards") { search("glob between", {{"/a"}, kFiles, {"/c"}}, 1); }
}

// Takes a minute: `test_reconcile "[model]"`.
TEST_CASE("rollout model: a glob of up to two files between two guards", "[.][model]") {
  search("glob of two between", {{"/a"}, kFiles, {"/c"}}, 2);
}

// Mostly answers, and mostly good ones: else nothing ever gets far.
Input pick(const std::vector<Input>& inputs, int random) {
  using Kind = Input::Kind;
  const auto often = [&](const Input& input) {
    const bool answer = input.kind == Kind::say || input.kind == Kind::probe || input.kind == Kind::list;
    return random % 4 < 2 ? input.kind == Kind::say && input.how == 0 : answer || input.kind == Kind::wait;
  };
  const bool any = random % 4 == 3;
  const bool restart = random % 64 == 3;
  std::vector<Input> some;
  for (const Input& input : inputs) {
    const bool begins = input.kind == Kind::reload || input.kind == Kind::crash || input.kind == Kind::cancel;
    if (restart == begins && (any || often(input))) some.push_back(input);
  }
  const auto& from = some.empty() ? inputs : some;
  return from[static_cast<std::size_t>(random / 64) % from.size()];
}

// From all of the range: RapidCheck begins with its small end.
rc::Gen<std::vector<int>> some_of(std::size_t count, int below) {
  return rc::gen::resize(100, rc::gen::container<std::vector<int>>(count, rc::gen::inRange(0, below)));
}

TEST_CASE("rollout model: long random runs") {
  CHECK(rc::check("1 to 5 guards of any kind: no promise is broken, and all comes to hold", [] {
    std::vector<Rollout::Guard> guards;
    for (const int kind : *some_of(*rc::gen::resize(100, rc::gen::inRange<std::size_t>(1, 6)), 8)) {
      guards.push_back({"/" + std::to_string(guards.size()), (kind & 1) == 0, (kind & 2) != 0, (kind & 4) != 0});
    }
    Ghost ghost(guards, 2);
    bool reconciled = false;
    for (const int random : *some_of(400, 1 << 20)) {
      const Input input = pick(ghost.inputs(), random);
      RC_LOG() << to_string(input) << "\n";
      ghost.apply(input);
      if (!ghost.broken().empty()) RC_FAIL(ghost.broken());
      reconciled = reconciled || ghost.rollout().phase() == Phase::reconciling;
    }
    RC_CLASSIFY(reconciled, "was reconciling");
    RC_ASSERT(ghost.stuck() == "");
  }));
}

}  // namespace
}  // namespace rg::test
