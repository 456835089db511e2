#include <rapidcheck.h>

#include <string>
#include <vector>

#include "lib/watch/inotify_event.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

std::string event(int watch, std::uint32_t mask, const std::string& name, std::size_t padded) {
  inotify_event head{};
  head.wd = watch;
  head.mask = mask;
  head.len = static_cast<std::uint32_t>(padded);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  std::string text = name;
  text.resize(padded, '\0');
  return bytes + text;
}

struct Read {
  int watch;
  std::uint32_t mask;
  std::string name;
  friend bool operator==(const Read&, const Read&) = default;
};

// In a buffer of exactly this size on the heap: a sanitizer sees every byte read beyond it.
std::vector<Read> decode(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  const std::string_view view(exact.data(), exact.size());
  std::vector<Read> read;
  decode_inotify(view, [&](const InotifyEvent& e) {
    const bool inside =
        e.name.empty() || (e.name.data() >= view.data() && e.name.data() + e.name.size() <= view.data() + view.size());
    if (!inside) throw std::logic_error("a name outside the buffer");
    read.push_back({e.watch, e.mask, std::string(e.name)});
  });
  return read;
}

TEST_CASE("decode: events with and without a name") {
  const std::string bytes = event(1, IN_MOVED_TO, "resolv.conf", 16) + event(2, IN_IGNORED, "", 0) +
                            event(-1, IN_Q_OVERFLOW, "", 0) + event(3, IN_CREATE, "sixteen-letters!", 16);
  CHECK(decode(bytes) == std::vector<Read>{{1, IN_MOVED_TO, "resolv.conf"},
                                           {2, IN_IGNORED, ""},
                                           {-1, IN_Q_OVERFLOW, ""},
                                           {3, IN_CREATE, "sixteen-letters!"}});
}

TEST_CASE("decode: a cut event is left out, wherever it is cut") {
  const std::string first = event(1, IN_CREATE, "a", 16);
  const std::string both = first + event(2, IN_DELETE, "b", 16);
  for (std::size_t size = 0; size < both.size(); ++size) {
    CHECK(decode(both.substr(0, size)).size() == (size >= first.size() ? 1 : 0));
  }
  CHECK(decode(both).size() == 2);
  CHECK(decode(event(1, IN_CREATE, "a", 16).replace(12, 4, "\xff\xff\xff\xff")).empty());
}

TEST_CASE("decode: any bytes") {
  CHECK(rc::check("never reads beyond, and says no more than fits", [](const std::string& bytes) {
    RC_ASSERT(decode(bytes).size() <= bytes.size() / sizeof(inotify_event));
  }));
  CHECK(rc::check("whole events survive whatever is cut off behind them", [] {
    const auto names = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
    std::string bytes;
    std::vector<Read> expected;
    for (const std::string& any : names) {
      const std::string name = any.substr(0, any.find('\0'));
      bytes += event(static_cast<int>(expected.size()), IN_CLOSE_WRITE, name, (name.size() / 16 + 1) * 16);
      expected.push_back({static_cast<int>(expected.size()), IN_CLOSE_WRITE, name});
    }
    const std::string cut = event(7, IN_CREATE, "cut", 16);
    bytes += cut.substr(0, *rc::gen::inRange<std::size_t>(0, cut.size()));
    RC_ASSERT(decode(bytes) == expected);
  }));
}

}  // namespace
}  // namespace rg::test
