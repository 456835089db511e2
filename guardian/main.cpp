// A table of contents: the command line, then one command.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <variant>

#include "guardian/commands.hpp"
#include "guardian/options.hpp"

namespace {

// A guard holds its directory and its lock: the soft limit of 1024 is for programs that use select(2).
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// A standard stream that is closed: what is opened next would get its number, and log lines would go into it. Opened
// the wrong way round, so that writing still fails.
void fill_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int null = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (null < 0) (void)::open("/", O_PATH);
  }
}

int run(const rg::Options& options) {
  switch (options.command) {
    case rg::Command::run:
      return rg::run_command(options);
    case rg::Command::apply:
      return rg::apply_command(options);
    case rg::Command::check:
      return rg::check_command(options);
    case rg::Command::pause:
      return rg::pause_command(options);
    case rg::Command::resume:
      return rg::resume_command(options);
    case rg::Command::release:
      return rg::release_command(options);
    case rg::Command::status:
      return rg::status_command(options);
    case rg::Command::history:
      return rg::history_command(options);
    case rg::Command::config:
      return rg::config_command(options);
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  ::umask(0);  // a guarded file's mode is the policy's, ours are given explicitly
  raise_descriptor_limit();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGIO, SIG_IGN);  // a lease that is broken while we look
  const auto parsed = rg::parse_command_line(argc, argv);
  if (const auto* stop = std::get_if<rg::Stop>(&parsed)) {
    fmt::print(stdout, "{}", stop->out);
    fmt::print(stderr, "{}", stop->err);
    return stop->status;
  }
  try {
    return run(std::get<rg::Options>(parsed));
  } catch (const std::exception& error) {  // no descriptors, no memory: the libraries know no other way to say so
    fmt::print(stderr, "resolv-guardian: {}\n", error.what());
    return 3;
  }
}
