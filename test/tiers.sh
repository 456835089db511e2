# The tiers of test/run: one function each. Sourced by test/run, from the repository's root.
# shellcheck shell=bash
logs=$PWD/build/test-logs
jobs=$(nproc 2>/dev/null || echo 2)
facts=${facts:-/dev/null} # set for each tier by test/run

skip() { echo "skip $*" >>"$facts"; exit 0; }
note() { echo "note $*" >>"$facts"; }
count() { echo "count $*" >>"$facts"; }

# build PRESET FOLDER [CMAKE ARGUMENT...]: everything of that preset in build/FOLDER
build() {
  cmake --preset "$1" -B "build/$2" "${@:3}"
  cmake --build "build/$2" -j "$jobs"
}

# ThreadSanitizer of gcc 12 can't map its shadow where the kernel randomises addresses by 32 bits.
steady() { if setarch "$(uname -m)" -R true 2>/dev/null; then setarch "$(uname -m)" -R "$@"; else "$@"; fi; }

# unit PRESET: every test program of that build, through ctest. The properties are tried on the same values each time, so that
# a red run is the change's own; RC_PARAMS='max_success=100000' (a random seed) goes looking.
unit() {
  local log rc=0
  export RC_PARAMS=${RC_PARAMS:-seed=1}
  log=$(steady ctest --test-dir "build/$1" -j "$jobs" --output-on-failure --timeout 300 2>&1) || rc=$?
  printf '%s\n' "$log"
  count_ctest "$log"
  return $rc
}
count_ctest() {
  local failed total
  read -r failed total < <(sed -nE 's/.* ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' <<<"$1")
  [ -n "${total:-}" ] || { echo "ctest counted no test"; return 1; }
  count $((total - failed)) "$failed" 0
}

# cases RUNNER [ARGUMENT...]: a runner of Python cases (test/support/harness.py); its failures last, where test/run shows them
cases() {
  local log rc=0 p f s
  log=$("$@" 2>&1) || rc=$?
  printf '%s\n' "$log"
  read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' <<<"$log")
  [ -n "${s:-}" ] || { echo "no result was said"; return 1; }
  count "$p" "$f" "$s"
  while read -r line; do note "$line"; done < <(grep -E '^(skip|FAIL) ' <<<"$log")
  awk '/^FAIL /{print "---"; failed=1} /^(ok|skip) /{failed=0} failed' <<<"$log"
  return $rc
}

# program BINARY [ARGUMENT...]: test/program against it
program() { cases steady test/program/run --bin "$1" --tools build/dev/test "${@:2}"; }

tier_needs() { packaging/install-needs test; }

tier_format() {
  command -v clang-format >/dev/null || skip "clang-format is not installed"
  local unformatted
  unformatted=$(git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run 2>&1 | sed -n 's/:[0-9].*code should be clang-formatted.*//p' | sort -u)
  [ -z "$unformatted" ] || { echo "clang-format -i these:"; echo "$unformatted"; return 1; }
}

# What may include what (docs/design.md): an arrow goes one way, Asio stays in guardian/, iostream and regex nowhere.
tier_layers() {
  local stage allowed bad=0
  while read -r stage allowed; do
    grep -rnE '#include "(lib|guardian|test)/' "lib/$stage" | grep -vE "#include \"lib/(${stage}|${allowed// /|})/" |
      grep -vF '#include "lib/result.hpp"' && bad=1
  done <<'STAGES'
resolv none
policy resolv
config policy resolv
dns none
json none
report policy resolv reconcile
store report policy resolv reconcile
tree none
watch tree reconcile
reconcile policy resolv tree store report
STAGES
  git grep -nE '#include <(boost/asio|iostream|fstream|regex)' -- lib && bad=1
  git grep -nE '#include <(iostream|fstream|regex)' -- guardian && bad=1
  return $bad
}

tier_dev() { build dev dev; }
tier_unit() { unit dev; }

tier_release() { build release release; }

# lib/resolv, lib/policy, lib/dns and lib/report make no system call: nothing that wraps one is among their undefined symbols.
tier_pure() {
  local stage symbols bad=0
  local calls='open(at|dir)?(64)?|f?open(64)?|creat|p?read(64|v)?|p?write(64|v)?|close|(f|l|fstat)?stat(at|x)?(64)?|__xstat|access|faccessat'
  calls+='|unlink(at)?|rename(at2?)?|link(at)?|symlink(at)?|readlink(at)?|mkdir(at)?|fread|fgets|getline|socket|connect|bind|send(to|msg)?|recv(from|msg)?'
  calls+='|time|clock_gettime|gettimeofday|localtime(_r)?|mktime|tzset|(secure_)?getenv|gethostname|getpid|if_(nametoindex|indextoname)|getaddrinfo|getpw(nam|uid)'
  calls+='|syscall|ioctl|fcntl|poll|epoll_[a-z]+|select|nanosleep|usleep|sleep|fork|exec[a-z]*|pthread_create|inotify_[a-z0-9_]+|getrandom|rand|random'
  calls+='|std::chrono::_V2::(system|steady)_clock::now\(\)|std::(filesystem|random_device|basic_[io]?fstream|thread)\b.*'
  for stage in resolv policy dns report; do
    symbols=$(nm --demangle --undefined-only "build/dev/librg_$stage.a" | sed -nE 's/^ +U //p' | sed 's/@.*//' | sort -u)
    [ -n "$symbols" ]
    echo "lib/$stage:"
    grep -xE "$calls" <<<"$symbols" && bad=1
  done
  return $bad
}

# One file that asks nothing of the machine it runs on, and stays small. The release is linked with -s: the same link again,
# without it, shows the linker's warnings and the symbols.
tier_static() {
  local binary=build/release/resolv-guardian symbols=$logs/with-symbols size link
  if readelf --program-headers $binary | grep -E 'INTERP|DYNAMIC'; then return 1; fi
  link=$(ninja -C build/release -t commands resolv-guardian | tail -n 1)
  link=$(sed -e 's/ -s / /' -e "s| -o resolv-guardian | -o $symbols |" <<<"$link")
  (cd build/release && eval "$link") 2>&1 | tee "$logs/link"
  if grep 'statically linked applications requires' "$logs/link"; then return 1; fi
  nm "$symbols" | grep -q ' T main$'
  if nm "$symbols" | grep -E ' [TtWwi] (getaddrinfo|getpwnam|getgrnam|gethostbyname)(_r)?$'; then return 1; fi
  # One use of a stream or a locale, in whatever header, links every facet: 550 KB.
  if nm --demangle "$symbols" | grep -E ' [TtWw] std::(locale::classic|ios_base::Init::Init)\(\)$'; then return 1; fi
  size=$(stat -c %s $binary)
  note "$size bytes stripped"
  [ "$size" -le 2500000 ]
}

tier_program() { program build/release/resolv-guardian; }

# The real DEB is purged in one of them.
tier_hosts() {
  if command -v dpkg >/dev/null; then packaging/deb/build; fi
  cases test/hosts/run --bin build/release/resolv-guardian --reader build/dev/test/reader
}

# What is delivered, installed and run. The tools for it are many, so that no other tier brings them.
tier_delivery() {
  packaging/install-needs delivery
  build release release
  local arch arches=()
  for arch in x86_64 aarch64 ppc64le s390x; do
    if [ "$arch" = "$(uname -m)" ] || command -v "${arch/#ppc64le/powerpc64le}-linux-gnu-g++"; then arches+=("$arch"); fi
  done
  packaging/static/build "${arches[@]}" >"$logs/static-builds"
  while read -r line; do note "$line"; done <"$logs/static-builds"
  cases test/delivery/run --bin build/release/resolv-guardian --all
}

tier_sanitize() {
  build sanitize sanitize
  local bad=0
  unit sanitize || bad=1
  program build/sanitize/resolv-guardian --sanitized --tag sanitize || bad=1
  return $bad
}

tier_thread() {
  build thread thread
  local bad=0
  unit thread || bad=1
  program build/thread/resolv-guardian --sanitized --tag sanitize || bad=1
  return $bad
}

clang() { command -v clang++-19 clang++-16 clang++-15 clang++-14 clang++ | head -n 1; }

tier_clang() {
  [ -n "$(clang)" ] || skip "clang++ is not installed"
  build dev clang -DCMAKE_CXX_COMPILER="$(clang)" -DRG_TESTS=OFF
}

tier_tidy() {
  command -v clang-tidy >/dev/null || skip "clang-tidy is not installed"
  # A folder of its own: clang can't read gcc's precompiled headers.
  cmake --preset dev -B build/tidy -DRG_TESTS=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  git ls-files 'lib/*.cpp' 'guardian/*.cpp' | xargs -P "$jobs" -n 4 clang-tidy --quiet -p build/tidy
}

tier_fuzz() {
  local fuzzer seconds=${FUZZ_SECONDS:-20} corpus pids=()
  [ -n "$(clang)" ] || skip "clang++ is not installed"
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$logs/probe.cpp"
  "$(clang)" -fsanitize=fuzzer,address "$logs/probe.cpp" -o "$logs/probe" || skip "clang has no libFuzzer (libclang-rt)"
  cmake --preset fuzz -DCMAKE_CXX_COMPILER="$(clang)"
  cmake --build build/fuzz -j "$jobs" --target fuzz_content fuzz_config fuzz_text
  for fuzzer in content config text; do
    corpus=build/fuzz/corpus/$fuzzer
    mkdir -p "$corpus"
    build/fuzz/test/fuzz_$fuzzer -max_total_time="$seconds" -max_len=4096 -dict=test/fuzz/$fuzzer.dict -timeout=10 \
      -artifact_prefix="$logs/$fuzzer-" "$corpus" test/fuzz/seeds/$fuzzer >"$logs/fuzz_$fuzzer.log" 2>&1 &
    pids+=($!)
  done
  for fuzzer in content config text; do
    if wait "${pids[0]}"; then count 1 0 0; else count 0 1 0; cat "$logs/fuzz_$fuzzer.log"; fi
    pids=("${pids[@]:1}")
    note "fuzz_$fuzzer: $(grep -oE 'Done [0-9]+ runs in [0-9]+ second' "$logs/fuzz_$fuzzer.log")"
  done
}
