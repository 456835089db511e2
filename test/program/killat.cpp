// kill -9 at the N-th system call of a command, counted over all its threads together, before the call is carried out.
//   killat N COMMAND...      exit 137 killed (the call is named on stderr), else the command's own status
// strace's inject=all:when=N counts every system call and every thread for itself, so it cannot name "the 57th call of
// the process"; hence these lines of ptrace(2).
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
// glibc's sys/ptrace.h has PTRACE_GET_SYSCALL_INFO (Linux 5.3) since 2.30, its struct as __ptrace_syscall_info.

namespace {

/// The number of the system call that `thread` is about to make; -1 where it stopped for something else.
long entered(pid_t thread) {
  __ptrace_syscall_info info{};
  const long size = ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
  return size > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY ? static_cast<long>(info.entry.nr) : -1;
}

[[noreturn]] void become(char** command) {
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::raise(SIGSTOP);
  ::execvp(command[0], command);
  ::_exit(127);
}

int follow(pid_t leader, long target) {
  long count = 0;
  for (;;) {
    int status = 0;
    const pid_t thread = ::waitpid(-1, &status, __WALL);
    if (thread < 0) return 2;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread == leader) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      const long call = entered(thread);
      if (call >= 0 && ++count == target) {
        std::fprintf(stderr, "killed at system call %ld (number %ld)\n", count, call);
        ::kill(leader, SIGKILL);
        continue;  // the exit of the leader is the end
      }
      signal = 0;
    } else if (signal == SIGTRAP || signal == SIGSTOP) {
      signal = 0;  // ptrace's own: exec, a new thread, its first stop
    }
    ::ptrace(PTRACE_SYSCALL, thread, nullptr, signal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const pid_t child = ::fork();
  if (child == 0) become(argv + 2);
  int status = 0;
  ::waitpid(child, &status, 0);
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, options) != 0) return 2;
  ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  return follow(child, std::strtol(argv[1], nullptr, 10));
}
