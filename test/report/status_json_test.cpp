#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>

#include "lib/report/status.hpp"
#include "test/report/examples.hpp"
#include "test/support/catch.hpp"

using namespace rg;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

constexpr const char* kEmptyGuard =
    R"({"path":"","state":"waiting","since":"1970-01-01T00:00:00.000000Z","reason":"","nameservers":[],"search":[],)"
    R"("options":[],"servers":[],"dropped":[],"source":"policy","learned":{"nameservers":[],"writer":null,"at":null},)"
    R"("rewrites":0,"restores":0,"failures":0,"attempt":0,"last_restore_us":null,"paused_until":null})";

}  // namespace

TEST_CASE("status_json: the keys, their order and the words of the contract") {
  CHECK(
      status_json(example_status()) ==
      R"({"version":"0.1.0","pid":42,"started":"2026-11-30T19:25:06.000001Z","generation":3,"phase":"reconciling",)"
      R"("config":{"path":"/etc/resolv-guardian/config.toml","sha256":"abcd","error":"config.toml:3:1: no"},"guards":[)"
      R"({"path":"/etc/resolv.conf","state":"paused","since":"2026-11-30T19:25:07.000001Z","reason":"by hand",)"
      R"("nameservers":["127.0.0.1","fe80::1%eth0"],"search":["a.example"],"options":["edns0"],)"
      R"("servers":[{"address":"127.0.0.1","origin":"first"},{"address":"fe80::1%eth0","origin":"last-good"}],)"
      R"("dropped":[{"address":"192.0.2.9","why":"over-max"}],"source":"last-good",)"
      R"("learned":{"nameservers":["fe80::1%eth0"],"writer":"NetworkManager","at":"2026-11-30T19:25:06.500000Z"},)"
      R"("rewrites":4,"restores":3,"failures":2,"attempt":1,"last_restore_us":84,)"
      R"("paused_until":"9999-12-31T23:59:59Z"}]})");
}

TEST_CASE("status_json: what there is none of is null") {
  Status status;
  status.guards.emplace_back();
  CHECK(status_json(status) ==
        R"({"version":"","pid":0,"started":"1970-01-01T00:00:00.000000Z","generation":0,"phase":"updating",)"
        R"("config":{"path":null,"sha256":null,"error":null},"guards":[)" +
            std::string(kEmptyGuard) + "]}");
}

TEST_CASE("parse_status: what was written comes back") {
  const auto again = [](const Status& status) {
    const std::optional<Status> read = parse_status(status_json(status));
    return read ? status_json(*read) : "unreadable";
  };
  CHECK(again(example_status()) == status_json(example_status()));
  CHECK(parse_status(status_json(example_status()))->guards[0].paused_until == WallTime::max());
  Status status;
  status.guards.resize(3);
  status.generation = ~std::uint64_t{0};
  CHECK(again(status) == status_json(status));
  CHECK(parse_status(status_json(status))->generation == ~std::uint64_t{0});
  CHECK(!parse_status(status_json(status))->guards[2].paused_until);
}

TEST_CASE("parse_status: a newer guardian's additional keys do no harm") {
  CHECK(parse_status(replaced(status_json(example_status()), "{\"version\"", "{\"more\":[1],\"version\"")).has_value());
}

TEST_CASE("parse_status: what is none") {
  for (const char* text : {"", "{}", "[]", "null", "1", "{\"version\":\"0.1.0\"}", "not json", "{\"guards\":[{}]}"}) {
    INFO(text);
    CHECK(!parse_status(text).has_value());
  }
  const std::string good = status_json(example_status());
  REQUIRE(parse_status(good).has_value());
  CHECK(!parse_status(good.substr(0, good.size() - 1)).has_value());
  CHECK(!parse_status(good + "x").has_value());
  CHECK(!parse_status(replaced(good, "\"pid\":42", "\"pid\":\"42\"")).has_value());
  CHECK(!parse_status(replaced(good, "\"pid\":42", "\"pid\":99999999999")).has_value());
  CHECK(!parse_status(replaced(good, "reconciling", "relaxing")).has_value());
  CHECK(!parse_status(replaced(good, "\"paused\"", "\"happy\"")).has_value());
  CHECK(!parse_status(replaced(good, "\"127.0.0.1\"", "\"127.1\"")).has_value());
  CHECK(!parse_status(replaced(good, "\"rewrites\":4", "\"rewrites\":-4")).has_value());
  CHECK(!parse_status(replaced(good, "\"last_restore_us\":84,", "")).has_value());
  CHECK(!parse_status(replaced(good, "2026-11-30T19:25:06.5", "yesterday")).has_value());
  CHECK(!parse_status(replaced(good, "[\"a.example\"]", "[null]")).has_value());
}

TEST_CASE("event_json: the keys, their order and the words of the contract") {
  CHECK(event_json(example_event()) ==
        R"({"at":"2026-11-30T19:25:06.000001Z","event":"would-restore","path":"/etc/resolv.conf","generation":3,)"
        R"("how":"renamed","writer":{"apparent":"NetworkManager","pid":7,"comm":"nm","exe":"/usr/sbin/nm",)"
        R"("unit":"NetworkManager.service"},"violations":["required","over-max"],"before":"nameserver 192.0.2.1\n",)"
        R"("after":"nameserver 127.0.0.1\n","outcome":"restored","reason":"why","took_us":84})");
  CHECK(event_json(Event{}) ==
        R"({"at":"1970-01-01T00:00:00.000000Z","event":"rewrite","path":null,"generation":0,"how":"unknown",)"
        R"("writer":{"apparent":null,"pid":null,"comm":null,"exe":null,"unit":null},"violations":[],"before":null,)"
        R"("after":null,"outcome":"","reason":"","took_us":0})");
}

TEST_CASE("event_json: bytes that are no text, and far too many of them") {
  Event event;
  event.before = std::string("a\xff\0\x1b\n", 5);
  event.after = "";
  event.path = "/etc/\xff";
  CHECK(event_json(event).find("\"path\":\"/etc/\xef\xbf\xbd\"") != std::string::npos);
  const std::optional<Event> read = parse_event(event_json(event));
  REQUIRE(read.has_value());
  CHECK(*read->before == std::string("a\xef\xbf\xbd\0\x1b\n", 7));
  CHECK(read->after == std::string());
  for (const char byte : {'\0', '\xff', 'x', '\n'}) {
    event.before = std::string(1U << 20U, byte);
    const std::optional<Event> cut = parse_event(event_json(event));
    REQUIRE(cut.has_value());
    CHECK(cut->before->size() <= 16384U);
    CHECK(cut->before->size() > 16000U);
    CHECK(cut->before->ends_with(" more bytes]\n"));
    CHECK(event_json(*cut) == event_json(event));
  }
}

TEST_CASE("parse_event: what was written comes back, and is one line") {
  CHECK(rc::check("event_json: any contents", [] {
    Event event = example_event();
    event.kind = static_cast<Event::Kind>(*rc::gen::inRange(0, 6));
    event.how = static_cast<How>(*rc::gen::inRange(0, 8));
    event.reason = *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
    if (*rc::gen::arbitrary<bool>()) event.before = std::nullopt;
    const std::string json = event_json(event);
    RC_ASSERT(json.find('\n') == std::string::npos);
    const std::optional<Event> read = parse_event(json);
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->reason == event.reason);
    RC_ASSERT(read->before == event.before);
    RC_ASSERT(event_json(*read) == json);
  }));
}

TEST_CASE("parse_event: any bytes are read without harm") {
  CHECK(rc::check("parse_event: any bytes", [] {
    const std::string good = event_json(example_event());
    std::string bytes = good;
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    const std::optional<Event> read = parse_event(bytes);
    if (read) RC_ASSERT(parse_event(event_json(*read)).has_value());
    RC_ASSERT(!parse_event(good.substr(0, at)).has_value());
  }));
}

TEST_CASE("parse_event: what is none") {
  const std::string good = event_json(example_event());
  REQUIRE(parse_event(good).has_value());
  CHECK(parse_event(replaced(good, R"("pid":7,"comm":"nm",)", R"("pid":null,"comm":null,)")).has_value());
  CHECK(!parse_event(replaced(good, "would-restore", "party")).has_value());
  CHECK(!parse_event(replaced(good, "over-max", "over")).has_value());
  CHECK(!parse_event(replaced(good, "renamed", "")).has_value());
  CHECK(!parse_event(replaced(good, "\"at\"", "\"it\"")).has_value());
  CHECK(!parse_event(replaced(good, "\"took_us\":84", "\"took_us\":8.5")).has_value());
  CHECK(!parse_event(replaced(good, "\"before\":\"", "\"before\":1,\"x\":\"")).has_value());
}
