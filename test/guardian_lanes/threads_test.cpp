#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <future>

#include "guardian/keeper.hpp"
#include "guardian/own_descriptors.hpp"
#include "guardian/spawner.hpp"
#include "lib/tree/file_descriptor.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST_CASE("own descriptors: what is kept is there, all else isn't, and the others notice nothing") {
  const FileDescriptor kept(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  bool own = false, keeps = false, has_other = true;
  std::thread thread;
  REQUIRE(start_thread(thread, [&] {
            own = own_descriptors({kept.get()});
            keeps = is_open(kept.get());
            has_other = is_open(other.get());
            if (own) ::close(kept.get());
          }).has_value());
  thread.join();
  CHECK(keeps);
  CHECK(own != has_other);  // where the kernel or ThreadSanitizer doesn't allow it, the table is everybody's
  CHECK(is_open(kept.get()));
  CHECK(is_open(other.get()));
}

TEST_CASE("spawner: its threads have the nice value that it was made with") {
  const auto spawner = std::move(Spawner::create().value());
  const int before = ::getpriority(PRIO_PROCESS, 0);
  int there = -100;
  std::thread behind([&] {
    run_behind(5);
    std::thread thread;
    (void)spawner->start(thread, [&] { there = ::getpriority(PRIO_PROCESS, 0); });
    thread.join();
  });
  behind.join();
  CHECK(there == before);
}

TEST_CASE("keeper: a job is waited for, but not for ever") {
  Keeper keeper;
  REQUIRE(keeper.start().has_value());
  bool done = false;
  CHECK(keeper.within(std::chrono::seconds{10}, [&] { done = true; }));
  CHECK(done);
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
  CHECK_FALSE(keeper.within(std::chrono::milliseconds{1}, [opened] { opened.wait(); }));
  open.set_value();
  CHECK(keeper.within(std::chrono::seconds{10}, [] {}));
}

TEST_CASE("keeper: a job that was forgotten isn't run") {
  bool done = false;
  {
    Keeper keeper;
    REQUIRE(keeper.start().has_value());
    keeper.later("a", std::chrono::hours{1}, std::chrono::hours{1}, [&] { done = true; });
    keeper.forget("a");
  }
  CHECK_FALSE(done);
}

}  // namespace
}  // namespace rg::test
