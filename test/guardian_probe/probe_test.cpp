#include "guardian/probe.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "test/guardian_probe/dns_server.hpp"
#include "test/support/catch.hpp"
#include "test/support/cpu_time.hpp"

namespace rg::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Texts = std::vector<std::string>;

constexpr std::chrono::milliseconds kLong = 1min;    // never waited for
constexpr std::chrono::milliseconds kShort = 200ms;  // waited for
constexpr const char* kRefused = "127.0.0.1 can't be reached: Connection refused";

Requirement requirement(const std::string& server, std::chrono::milliseconds timeout) {
  return {*Nameserver::parse(server), "api.example", timeout};
}

struct Probed {
  std::string reason;
  Clock::duration took;
};

Probed probe_for(const DnsServer& server, std::chrono::milliseconds timeout, int stop = -1,
                 const std::string& address = "127.0.0.1") {
  const auto begin = Clock::now();
  std::string reason = probe(requirement(address, timeout), stop, server.port());
  return {std::move(reason), Clock::now() - begin};
}

// At once: long before kLong, or even half of it, was over.
void check_at_once(const Probed& probed, const std::string& reason) {
  CHECK(probed.reason == reason);
  CHECK(probed.took < kLong / 4);
}

void check_timed_out(const Probed& probed) {
  CHECK(probed.reason == "127.0.0.1 didn't answer api.example within 200ms");
  CHECK(probed.took >= kShort);
  CHECK(probed.took < kShort + 10s);
}

Texts answers(const std::string& query, DnsServer&) { return {dns_answer(query)}; }
Texts answers_tcp(const std::string& query, DnsServer&) { return {with_length(dns_answer(query))}; }
Texts says_nothing(const std::string&, DnsServer&) { return {}; }
DnsServer::Replies says(unsigned code) {
  return [code](const std::string& query, DnsServer&) { return Texts{dns_answer(query, code)}; };
}

std::string other_id(std::string message) {
  message[0] = static_cast<char>(~message[0]);
  return message;
}
std::string other_question(std::string message) {
  message[13] = 'x';
  return message;
}

// The number that the next descriptor gets.
int next_descriptor() { return FileDescriptor(::dup(0)).get(); }

}  // namespace

TEST_CASE("probe: answered over UDP") {
  for (const unsigned code : {0U, 1U, 3U, 4U}) {
    INFO(code);
    const DnsServer server("127.0.0.1", says(code), nullptr);
    check_at_once(probe_for(server, kLong), "");
  }
}

TEST_CASE("probe: answered over IPv6, with and without a zone") {
  if (!has_address("::1")) {
    WARN("SKIP: no ::1 here");
    return;
  }
  const DnsServer udp("::1", answers, nullptr);
  for (const char* address : {"::1", "::1%lo", "::1%1"}) {
    INFO(address);
    check_at_once(probe_for(udp, kLong, -1, address), "");
  }
  const DnsServer tcp("::1", nullptr, answers_tcp);
  check_at_once(probe_for(tcp, kLong, -1, "::1"), "");
}

TEST_CASE("probe: silent over UDP, answered over TCP after half of the timeout") {
  const DnsServer server("127.0.0.1", says_nothing, answers_tcp);
  const Probed probed = probe_for(server, 1s);
  CHECK(probed.reason.empty());
  CHECK(probed.took >= 500ms);
}

TEST_CASE("probe: no UDP, answered over TCP at once, in pieces too") {
  const DnsServer whole("127.0.0.1", nullptr, answers_tcp);
  check_at_once(probe_for(whole, kLong), "");
  const DnsServer pieces("127.0.0.1", nullptr, [](const std::string& query, DnsServer&) {
    Texts bytes;
    for (const char c : with_length(dns_answer(query) + std::string(1000, 'x'))) bytes.emplace_back(1, c);
    return bytes;
  });
  check_at_once(probe_for(pieces, kLong), "");
}

TEST_CASE("probe: UDP is listened to while TCP is tried") {
  const DnsServer server("127.0.0.1", says_nothing, [](const std::string& query, DnsServer& self) {
    self.send_datagram(dns_answer(query));
    return Texts{};
  });
  CHECK(probe_for(server, 1s).reason.empty());
}

TEST_CASE("probe: nothing listens, and nothing is left open") {
  const DnsServer server("127.0.0.1", nullptr, nullptr);
  const int before = next_descriptor();
  check_at_once(probe_for(server, kLong), kRefused);
  CHECK(next_descriptor() == before);
}

TEST_CASE("probe: silent for ever") {
  check_timed_out(probe_for(DnsServer("127.0.0.1", says_nothing, nullptr), kShort));
  check_timed_out(probe_for(DnsServer("127.0.0.1", says_nothing, says_nothing), kShort));
  check_timed_out(probe_for(DnsServer("127.0.0.1", nullptr, says_nothing), kShort));
}

TEST_CASE("probe: SERVFAIL and REFUSED end it, whatever TCP would say") {
  check_at_once(probe_for(DnsServer("127.0.0.1", says(2), answers_tcp), kLong),
                "127.0.0.1 refuses api.example (SERVFAIL)");
  check_at_once(probe_for(DnsServer("127.0.0.1", says(5), answers_tcp), kLong),
                "127.0.0.1 refuses api.example (REFUSED)");
  const auto tcp = [](const std::string& query, DnsServer&) { return Texts{with_length(dns_answer(query, 2))}; };
  check_at_once(probe_for(DnsServer("127.0.0.1", nullptr, tcp), kLong), "127.0.0.1 refuses api.example (SERVFAIL)");
}

TEST_CASE("probe: what isn't ours is passed over") {
  const DnsServer late(
      "127.0.0.1",
      [](const std::string& query, DnsServer&) {
        const std::string answer = dns_answer(query);
        return Texts{"", "x", query, other_id(dns_answer(query, 2)), other_question(answer), answer};
      },
      nullptr);
  check_at_once(probe_for(late, kLong), "");
  const auto only = [](auto change) {
    return [change](const std::string& query, DnsServer&) { return Texts{change(dns_answer(query))}; };
  };
  check_timed_out(probe_for(DnsServer("127.0.0.1", only(other_id), nullptr), kShort));
  check_timed_out(probe_for(DnsServer("127.0.0.1", only(other_question), nullptr), kShort));
  check_timed_out(probe_for(DnsServer(
                                "127.0.0.1",
                                [](const std::string& query, DnsServer& self) {
                                  self.send_from_elsewhere(dns_answer(query));
                                  return Texts{};
                                },
                                nullptr),
                            kShort));
}

TEST_CASE("probe: half an answer over TCP, none, and another one") {
  const auto replies = [](auto make) {
    return [make](const std::string& query, DnsServer&) { return make(with_length(dns_answer(query))); };
  };
  const std::string closed = "127.0.0.1 closed the connection before it had answered";
  const auto half = replies([](const std::string& bytes) { return Texts{bytes.substr(0, bytes.size() / 2)}; });
  check_timed_out(probe_for(DnsServer("127.0.0.1", nullptr, half), kShort));
  const auto cut = replies([](const std::string& bytes) { return Texts{bytes.substr(0, bytes.size() - 1), ""}; });
  check_at_once(probe_for(DnsServer("127.0.0.1", nullptr, cut), kLong), closed);
  const auto none = replies([](const std::string&) { return Texts{""}; });
  check_at_once(probe_for(DnsServer("127.0.0.1", nullptr, none), kLong), closed);
  const auto empty = replies([](const std::string&) { return Texts{with_length("")}; });
  const auto other = [](const std::string& query, DnsServer&) {
    return Texts{with_length(other_id(dns_answer(query)))};
  };
  for (const DnsServer::Replies& wrong : {DnsServer::Replies(empty), DnsServer::Replies(other)}) {
    check_at_once(probe_for(DnsServer("127.0.0.1", nullptr, wrong), kLong), "127.0.0.1 answers what it wasn't asked");
    check_timed_out(probe_for(DnsServer("127.0.0.1", says_nothing, wrong), kShort));
  }
}

TEST_CASE("probe: a transport that failed is waited for no more") {
  const DnsServer server("127.0.0.1", says_nothing, [](const std::string&, DnsServer&) { return Texts{""}; });
  const CpuTime busy;
  CHECK(probe_for(server, 1s).reason == "127.0.0.1 didn't answer api.example within 1s");
  CHECK(busy.seconds() < 0.03);
}

TEST_CASE("probe: stopped in the middle, and before it began") {
  const FileDescriptor stop(::eventfd(0, EFD_CLOEXEC));
  const DnsServer server(
      "127.0.0.1",
      [&](const std::string&, DnsServer&) {
        ::eventfd_write(stop.get(), 1);
        return Texts{};
      },
      nullptr);
  check_at_once(probe_for(server, kLong, stop.get()), "stopped");
  check_at_once(probe_for(server, kLong, stop.get()), "stopped");
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const FileDescriptor read_end(ends[0]);
  ::close(ends[1]);
  check_at_once(probe_for(DnsServer("127.0.0.1", says_nothing, nullptr), kLong, read_end.get()), "stopped");
}

TEST_CASE("probe: a signal doesn't end it") {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
  const pthread_t here = ::pthread_self();
  const DnsServer server(
      "127.0.0.1",
      [here](const std::string&, DnsServer&) {
        for (int i = 0; i < 100; ++i) ::pthread_kill(here, SIGUSR1);
        return Texts{};
      },
      nullptr);
  check_timed_out(probe_for(server, kShort));
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("probe: what can't be asked at all") {
  CHECK(probe(requirement("fe80::1%rg-none", kLong), -1) ==
        "fe80::1%rg-none can't be reached: there is no interface rg-none");
  CHECK(probe(requirement("fe80::1%0", kLong), -1) == "fe80::1%0 can't be reached: there is no interface 0");
  CHECK(probe(requirement("fe80::1%999999999", kLong), -1).rfind("fe80::1%999999999 can't be reached: ", 0) == 0);
  // udp(7) and tcp(7) differ: EACCES and ENETUNREACH.
  CHECK(probe(requirement("255.255.255.255", kLong), -1) == "255.255.255.255 can't be reached: Network is unreachable");
  CHECK(probe({*Nameserver::parse("127.0.0.1"), "a..b", kLong}, -1) == "a..b is no domain name");
}

}  // namespace rg::test
