#include "guardian/recorder.hpp"

#include <future>

#include "test/support/catch.hpp"

namespace rg::test {
namespace {

TEST_CASE("recorder: in order, and what it had to drop is told") {
  std::promise<void> go_on;
  std::promise<void> begun;
  std::vector<int> done;
  std::size_t lost = 0;
  {
    Recorder recorder([&](std::size_t jobs) { lost += jobs; });
    recorder.post([&, wait = go_on.get_future().share()] {
      begun.set_value();
      wait.wait();
    });
    begun.get_future().wait();
    for (int i = 0; i < 10'003; ++i) recorder.post([&done, i] { done.push_back(i); });
    go_on.set_value();
  }
  REQUIRE(done.size() == 10'000);
  CHECK(done.front() == 0);
  CHECK(done.back() == 9'999);
  CHECK(lost == 3);
}

}  // namespace
}  // namespace rg::test
