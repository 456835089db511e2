// Writers for the program tests: bursts of rewrites with growing serial numbers in their servers, faster than any real
// writer, and noise beside the guarded name.
//   writers race MODE PATH REQUIRED ROUNDS [HOLD_MS]   MODE: rename in-place unlink symlink relink exchange late
//     A round is a burst; then the last serial must come to stand behind REQUIRED (within 5 s) and still stand there
//     when the next burst begins. `late` keeps the file open for HOLD_MS and goes on writing. stdout: "rounds N
//     rewrites N lost N"; exit 0 nothing lost, 1 lost, 2 a system call failed.
//   writers noise DIRECTORY COUNT                      COUNT writes to other names in DIRECTORY
//   writers swap PATH TARGET_A TARGET_B COUNT          points the link PATH at A and B in turn, by rename
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/program/rewrite.hpp"

namespace {

constexpr unsigned kBurst = 40;       // rewrites in a round, at most
constexpr unsigned kGap = 60;         // microseconds between two of them, at most
constexpr unsigned kPause = 2000;     // microseconds between a good end and the next round, at most
constexpr double kDeadline = 5;       // seconds until the last serial must stand
constexpr unsigned kPollEvery = 200;  // microseconds
constexpr unsigned kSpinBelow = 100;  // microseconds

double now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

/// Spins below a scheduler's tick: nanosleep(2) adds 50 us of timer slack, and the races live in those.
void pause_us(unsigned us) {
  if (us < kSpinBelow) {
    for (const double end = now() + us / 1e6; now() < end;) continue;
    return;
  }
  const timespec t{static_cast<time_t>(us / 1000000U), static_cast<long>(us % 1000000U) * 1000L};
  ::nanosleep(&t, nullptr);
}

unsigned random_below(unsigned limit) {
  static unsigned state = 2463534242U;  // xorshift32
  state ^= state << 13U;
  state ^= state >> 17U;
  state ^= state << 5U;
  return state % limit;
}

struct Race {
  std::string mode, path, required;
  unsigned rounds = 0, hold_ms = 0;
  unsigned serial = 0, rewrites = 0, lost = 0;
  std::string expected;  // the servers that must stand once the writer is silent
};

std::string document(unsigned serial) {
  return "# serial " + std::to_string(serial) + "\nsearch example.test\nnameserver " + rewrite::serial_address(serial) +
         "\n";
}

bool rewrite_once(Race& race) {
  ++race.serial;
  ++race.rewrites;
  const std::string bytes = document(race.serial);
  race.expected = race.required + " " + rewrite::serial_address(race.serial);
  if (race.mode == "rename") return rewrite::by_rename(race.path, bytes);
  if (race.mode == "in-place") return rewrite::in_place(race.path, bytes);
  if (race.mode == "unlink") return rewrite::by_unlink(race.path, bytes);
  if (race.mode == "symlink") return rewrite::by_link(race.path, bytes, race.serial);
  if (race.mode == "exchange") return rewrite::by_exchange(race.path, bytes);
  if (race.mode == "relink") return rewrite::by_relink(race.path, bytes, race.serial);
  errno = EINVAL;
  return false;
}

/// Holds the file open for hold_ms, empty or with one server, then adds a second one and closes.
bool write_late(Race& race) {
  race.serial += 2;
  ++race.rewrites;
  const std::string first = rewrite::serial_address(race.serial - 1), second = rewrite::serial_address(race.serial);
  race.expected = race.required + " " + first + " " + second;
  const bool empty = race.serial % 4 == 0;
  const int fd = ::open(race.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const std::string head = "search example.test\nnameserver " + first + "\n";
  bool ok = empty || rewrite::write_all(fd, head);
  pause_us(race.hold_ms * 1000);
  ok = ok && (!empty || rewrite::write_all(fd, head)) && rewrite::write_all(fd, "nameserver " + second + "\n");
  return ::close(fd) == 0 && ok;
}

bool burst(Race& race) {
  if (race.mode == "late") return write_late(race);
  for (unsigned left = 1 + random_below(kBurst); left > 0; --left) {
    if (!rewrite_once(race)) return false;
    if (left > 1) pause_us(random_below(kGap));
  }
  return true;
}

std::string standing(const Race& race) { return rewrite::servers(rewrite::read_file(race.path)); }

void expect_last(Race& race, unsigned round) {
  const double end = now() + kDeadline;
  while (standing(race) != race.expected && now() < end) pause_us(kPollEvery);
  if (standing(race) == race.expected) pause_us(random_below(kPause));
  const std::string found = standing(race);
  if (found == race.expected) return;
  ++race.lost;
  std::fprintf(stderr, "round %u: %s stands, expected %s\n", round, found.c_str(), race.expected.c_str());
}

int run_race(Race race) {
  for (unsigned round = 0; round < race.rounds; ++round) {
    if (!burst(race)) {
      std::fprintf(stderr, "%s %s: %s\n", race.mode.c_str(), race.path.c_str(), std::strerror(errno));
      return 2;
    }
    expect_last(race, round);
    if (race.lost > 5) break;  // each one costs its whole deadline
  }
  std::printf("rounds %u rewrites %u lost %u\n", race.rounds, race.rewrites, race.lost);
  return race.lost == 0 ? 0 : 1;
}

/// Without O_TRUNC and never over another file: ext4 flushes after those, and the noise would be a slow one.
int make_noise(const std::string& directory, unsigned count) {
  const std::string names[] = {".#resolv.confXXXX", "resolv.conf.tmp", "resolv.conf~",
                               "resolv.con",        "hosts",           "mtab.tmp"};
  for (unsigned i = 0; i < count; ++i) {
    const std::string path = directory + "/" + names[i % std::size(names)], moved = path + ".new";
    if (!rewrite::put(path, document(i), 0)) return 2;
    if (i % 4 == 0 && (::rename(path.c_str(), moved.c_str()) != 0 || ::unlink(moved.c_str()) != 0)) return 2;
  }
  return 0;
}

int swap_links(const std::string& path, const std::string& a, const std::string& b, unsigned count) {
  const std::string temp = path + ".swap";
  for (unsigned i = 0; i < count; ++i) {
    (void)::unlink(temp.c_str());
    if (::symlink((i % 2 == 0 ? a : b).c_str(), temp.c_str()) != 0 || ::rename(temp.c_str(), path.c_str()) != 0)
      return 2;
  }
  return 0;
}

unsigned number(const char* text) { return static_cast<unsigned>(std::strtoul(text, nullptr, 10)); }

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "race" && argc >= 6) {
    Race race;
    race.mode = argv[2];
    race.path = argv[3];
    race.required = argv[4];
    race.rounds = number(argv[5]);
    race.hold_ms = argc > 6 ? number(argv[6]) : 0;
    return run_race(race);
  }
  if (verb == "noise" && argc == 4) return make_noise(argv[2], number(argv[3]));
  if (verb == "swap" && argc == 6) return swap_links(argv[2], argv[3], argv[4], number(argv[5]));
  std::fputs("usage: writers race|noise|swap ... (see writers.cpp)\n", stderr);
  return 2;
}
