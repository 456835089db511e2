// reader ROOT PATH: a busy resolver. Opens and reads PATH inside ROOT again and again and prints each change of what it
// would be told, "MICROSECONDS STATE", until SIGTERM: absent, empty, none (text without a server), or the servers.
// Microseconds are of CLOCK_MONOTONIC. Writes its last line, "MICROSECONDS end", when it is told to stop.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

namespace {

volatile std::sig_atomic_t stopped = 0;

std::string servers_of(std::string_view text) {
  constexpr std::string_view kKeyword = "nameserver ";
  std::string servers;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    if (!line.starts_with(kKeyword)) continue;
    if (!servers.empty()) servers += ',';
    servers += line.substr(kKeyword.size());
  }
  return servers.empty() ? "none" : servers;
}

std::string look(const char* path) {
  static std::array<char, 65536> text;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "absent";
  const ssize_t length = ::read(fd, text.data(), text.size());
  ::close(fd);
  return length <= 0 ? "empty" : servers_of({text.data(), static_cast<std::size_t>(length)});
}

void print(const std::string& state) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  std::printf("%lld %s\n", static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000, state.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || ::chroot(argv[1]) != 0 || ::chdir("/") != 0) {
    std::perror("reader ROOT PATH NAP");
    return 2;
  }
  const auto nap = static_cast<useconds_t>(std::strtoul(argv[3], nullptr, 10));
  std::signal(SIGTERM, [](int) { stopped = 1; });
  for (std::string before; stopped == 0;) {
    std::string now = look(argv[2]);
    if (now != before) print(before = std::move(now));
    if (nap > 0) ::usleep(nap);
  }
  print("end");
}
