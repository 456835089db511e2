#include "lib/dns/message.hpp"

#include <rapidcheck.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

namespace rg::dns {
namespace {

using namespace std::string_literals;

const std::string kQuery =
    "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07"
    "Example\x00\x00\x01\x00\x01"s;

// The answer to a query with these flags (0x8180: a response, recursion desired and available).
std::string answer(std::string message, unsigned flags) {
  message[2] = static_cast<char>(flags >> 8U);
  message[3] = static_cast<char>(flags & 0xffU);
  return message;
}

std::string changed(std::string message, std::size_t at, char to) {
  message.at(at) = to;
  return message;
}

// judge() on bytes of their exact size on the heap: a sanitizer sees a read beyond them.
Verdict judge_alone(const std::string& message, const std::string& query) {
  const std::unique_ptr<char[]> copy(new char[message.size()]);
  std::memcpy(copy.get(), message.data(), message.size());
  return judge({copy.get(), message.size()}, query);
}

struct Case {
  std::string name, message;
  Verdict verdict;
};

const std::string kGood = answer(kQuery, 0x8180);
const std::string kNoQuestion = changed(kGood.substr(0, 12), 5, '\0');
const std::string kPointer = kGood.substr(0, 12) + "\xc0\x0c\x00\x01\x00\x01"s;

const std::vector<Case> kCases = {
    {"no error, no data", kGood, Verdict::answered},
    {"with an answer behind the question", kGood + "\xc0\x0c\x00\x01\x00\x01"s, Verdict::answered},
    {"NXDOMAIN", answer(kQuery, 0x8183), Verdict::answered},
    {"NOTIMP", answer(kQuery, 0x8184), Verdict::answered},
    {"FORMERR", answer(kQuery, 0x8181), Verdict::answered},
    {"YXDOMAIN", answer(kQuery, 0x8186), Verdict::answered},
    {"truncated", answer(kQuery, 0x8380), Verdict::answered},
    {"authoritative, no recursion", answer(kQuery, 0x8400), Verdict::answered},
    {"in another case", changed(kGood, 13, 'W'), Verdict::answered},
    {"FORMERR without the question", answer(kNoQuestion, 0x8181), Verdict::answered},
    {"NOTIMP without the question", answer(kNoQuestion, 0x8184), Verdict::answered},
    {"SERVFAIL", answer(kQuery, 0x8182), Verdict::refused},
    {"REFUSED", answer(kQuery, 0x8185), Verdict::refused},
    {"truncated SERVFAIL", answer(kQuery, 0x8382), Verdict::refused},
    {"no error without the question", kNoQuestion, Verdict::not_ours},
    {"REFUSED without the question", answer(kNoQuestion, 0x8185), Verdict::not_ours},
    {"FORMERR without the question, another id", changed(answer(kNoQuestion, 0x8181), 0, 'x'), Verdict::not_ours},
    {"another id", changed(kGood, 1, 'x'), Verdict::not_ours},
    {"our own query", kQuery, Verdict::not_ours},
    {"opcode NOTIFY", answer(kQuery, 0xa180), Verdict::not_ours},
    {"two questions", changed(kGood, 5, '\2'), Verdict::not_ours},
    {"257 questions", changed(kGood, 4, '\1'), Verdict::not_ours},
    {"another name", changed(kGood, 13, 'v'), Verdict::not_ours},
    {"a name that only differs in bit 5 of no letter", changed(kGood, 12, '#'), Verdict::not_ours},
    {"another type", changed(kGood, kGood.size() - 3, '\x1c'), Verdict::not_ours},
    {"another class", changed(kGood, kGood.size() - 1, '\3'), Verdict::not_ours},
    {"a compression pointer", kPointer, Verdict::not_ours},
    {"a compression pointer to itself", kPointer + std::string(40, '\xc0'), Verdict::not_ours},
    {"a question cut short", kGood.substr(0, kGood.size() - 1), Verdict::not_ours},
    {"a header alone", kGood.substr(0, 12), Verdict::not_ours},
    {"a header cut short", answer(kNoQuestion, 0x8181).substr(0, 11), Verdict::not_ours},
    {"nothing", "", Verdict::not_ours},
};

std::string any_name() {
  std::string name;
  const int labels = *rc::gen::inRange(1, 5);
  for (int i = 0; i < labels; ++i) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 63);
    name += std::string(size, *rc::gen::element('a', 'Z', '0', '-', '_')) + '.';
  }
  if (name.size() > 253 || *rc::gen::arbitrary<bool>()) name.pop_back();
  return name;
}

}  // namespace

TEST_CASE("the bytes of a query") {
  CHECK(query(0x1234, "www.Example") == kQuery);
  CHECK(query(0x1234, "www.Example.") == kQuery);
  CHECK(query(0xff01, ".") == "\xff\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01"s);
}

TEST_CASE("what is no domain name has no query") {
  std::string name;
  while (name.size() < 252) name += "a.";
  CHECK(query(1, name + "a").size() == 12 + 255 + 4);
  CHECK(query(1, name + "a.").size() == 12 + 255 + 4);
  CHECK(query(1, std::string(63, 'a')).size() == 12 + 65 + 4);
  for (const std::string& none : {name + "ab", std::string(64, 'a'), ""s, ".."s, ".a"s, "a..b"s, "a.."s}) {
    INFO(none);
    CHECK(query(1, none).empty());
  }
}

TEST_CASE("each kind of message") {
  for (const Case& one : kCases) {
    INFO(one.name);
    CHECK(judge_alone(one.message, kQuery) == one.verdict);
  }
}

TEST_CASE("the words of a refusal") {
  CHECK(refusal(answer(kQuery, 0x8182)) == "SERVFAIL");
  CHECK(refusal(answer(kQuery, 0x8185)) == "REFUSED");
  CHECK(refusal(kGood).empty());
  CHECK(refusal("").empty());
}

TEST_CASE("an answer to our query is one, with another id it is not") {
  CHECK(rc::check("judge(answer(query)) == answered", [] {
    const auto id = *rc::gen::arbitrary<std::uint16_t>();
    const std::string ours = query(id, any_name());
    RC_ASSERT(!ours.empty());
    std::string message = answer(ours, 0x8180) + *rc::gen::arbitrary<std::string>();
    RC_ASSERT(judge_alone(message, ours) == Verdict::answered);
    const auto bit = *rc::gen::inRange(0U, 16U);
    message[bit / 8] = static_cast<char>(message[bit / 8] ^ (1 << bit % 8));
    RC_ASSERT(judge_alone(message, ours) == Verdict::not_ours);
  }));
}

TEST_CASE("any bytes are judged, none beyond them are read") {
  CHECK(rc::check("any bytes", [] {
    const auto message = *rc::gen::arbitrary<std::string>();
    judge_alone(message, kQuery);
    // The first bytes as they should be, so that the question is reached.
    const auto kept = *rc::gen::inRange<std::size_t>(0, kGood.size() + 1);
    const Verdict verdict = judge_alone(kGood.substr(0, kept) + message, kQuery);
    RC_ASSERT(verdict == Verdict::not_ours || kept + message.size() >= 12);
    RC_ASSERT(judge_alone(message, "") == Verdict::not_ours);
  }));
}

}  // namespace rg::dns
