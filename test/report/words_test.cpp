#include "lib/report/words.hpp"

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "test/support/catch.hpp"

using namespace rg;
using Words = std::vector<std::string>;

namespace {

// The words of T in the order of its values, each checked to lead back to its value.
template <class T>
Words words_of(T last) {
  Words words;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    words.emplace_back(word(static_cast<T>(i)));
    CHECK(from_word<T>(words.back()) == static_cast<T>(i));
  }
  for (const char* none : {"", "none", "Holds", "last_good", "holds "}) CHECK(!from_word<T>(none).has_value());
  return words;
}

}  // namespace

TEST_CASE("words: those of the contract, and back") {
  CHECK(words_of(State::failed) ==
        Words{"holds", "settling", "restoring", "waiting", "contested", "paused", "observing", "blocked", "failed"});
  CHECK(words_of(Phase::reconciling) == Words{"updating", "reconciling"});
  CHECK(words_of(How::unknown) ==
        Words{"start", "renamed", "written", "removed", "relinked", "attributes", "mounted", "unknown"});
  CHECK(words_of(Event::Kind::reload) == Words{"rewrite", "restore", "would-restore", "failure", "state", "reload"});
  CHECK(words_of(Violation::unreadable) == Words{"absent", "empty", "required", "order", "foreign", "denied",
                                                 "duplicate", "over-max", "search", "options", "misread", "link",
                                                 "mode", "label", "unreadable"});
  CHECK(words_of(Origin::fallback) == Words{"first", "last", "only", "writer", "upstream", "last-good", "fallback"});
  CHECK(words_of(Why::invalid) == Words{"denied", "duplicate", "over-max", "invalid"});
  CHECK(words_of(Source::policy) == Words{"writer", "upstream", "last-good", "fallback", "policy"});
}

TEST_CASE("rfc3339: written and read") {
  using namespace std::chrono;
  const auto at = [](std::int64_t us) { return WallTime{} + microseconds(us); };
  CHECK(rfc3339(at(0)) == "1970-01-01T00:00:00.000000Z");
  CHECK(rfc3339(at(1'796'066'706'000'001)) == "2026-11-30T19:25:06.000001Z");
  CHECK(rfc3339(at(951'782'399'999'999)) == "2000-02-28T23:59:59.999999Z");
  CHECK(rfc3339(at(951'782'400'000'000)) == "2000-02-29T00:00:00.000000Z");
  CHECK(rfc3339(at(-1)) == "1969-12-31T23:59:59.999999Z");
  CHECK(rfc3339(at(0) + nanoseconds(999)) == "1970-01-01T00:00:00.000000Z");
  CHECK(rfc3339(WallTime::max()) == "9999-12-31T23:59:59Z");

  CHECK(parse_rfc3339("2026-11-30T19:25:06.000001Z") == at(1'796'066'706'000'001));
  CHECK(parse_rfc3339("2026-11-30T19:25:06Z") == at(1'796'066'706'000'000));
  CHECK(parse_rfc3339("2026-11-30T19:25:06.5Z") == at(1'796'066'706'500'000));
  CHECK(parse_rfc3339("2026-11-30T19:25:06.000001999Z") == at(1'796'066'706'000'001));
  CHECK(parse_rfc3339("9999-12-31T23:59:59Z") == WallTime::max());
}

TEST_CASE("rfc3339: what is none") {
  for (const char* text : {"",
                           "Z",
                           "2026-11-30",
                           "2026-11-30T19:25:06",
                           "2026-11-30T19:25:06.Z",
                           "2026-11-30 19:25:06Z",
                           "2026-11-30T19:25:06Zx",
                           "2026-11-30T19:25:06+00:00",
                           "2026-13-30T19:25:06Z",
                           "2026-00-30T19:25:06Z",
                           "2026-02-29T19:25:06Z",
                           "2026-11-00T19:25:06Z",
                           "2026-11-30T24:00:00Z",
                           "2026-11-30T19:60:06Z",
                           "2026-11-30T19:25:60Z",
                           "2026-1-30T19:25:06Z",
                           "-026-11-30T19:25:06Z",
                           "2300-01-01T00:00:00Z",
                           "1600-01-01T00:00:00Z",
                           "9999-12-31T23:59:58Z"}) {
    INFO(text);
    CHECK(!parse_rfc3339(text).has_value());
  }
}

TEST_CASE("rfc3339: any time comes back, to the microsecond") {
  CHECK(rc::check("rfc3339: any time", [] {
    const WallTime time{WallTime::duration(*rc::gen::arbitrary<std::int64_t>())};
    const auto whole = std::chrono::floor<std::chrono::microseconds>(time);
    RC_PRE(time != WallTime::max() && whole > WallTime::min());
    RC_ASSERT(parse_rfc3339(rfc3339(time)) == std::optional<WallTime>(whole));
  }));
}
