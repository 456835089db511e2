#include "lib/store/state_file.hpp"

#include <rapidcheck.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "lib/store/sha256.hpp"
#include "test/store/file_bytes.hpp"
#include "test/store/temp_directory.hpp"
#include "test/support/catch.hpp"

namespace fs = std::filesystem;
using namespace rg;

namespace {

const std::string kPath = "/etc/resolv.conf";

std::string memory_name(const std::string& guard_path = kPath) {
  return "guard-" + sha256_hex(guard_path).substr(0, 16) + ".json";
}
std::string intent_name() { return "guard-" + sha256_hex(kPath).substr(0, 16) + ".intent"; }

Memory some_memory() {
  Memory memory;
  memory.document =
      Document{Document::Kind::link, "../run/x", "nameserver 192.0.2.1\n", 0640, 7, 8, "a:b:c:s0", false, true};
  memory.written = sha256_hex("a");
  memory.nameservers = {{*Nameserver::parse("192.0.2.1"), *Nameserver::parse("fe80::1%eth0")},
                        "dhcpcd",
                        WallTime{} + std::chrono::nanoseconds(1'234'567'890'123'456'789)};
  memory.search = {{"example.org"}, "", {}};
  memory.options = {{"edns0"}, "NetworkManager", {}};
  memory.source_addresses = {*Nameserver::parse("10.0.0.7"), *Nameserver::parse("fe80::2%eth0")};
  memory.machine_id = "0123";
  memory.held_label = "system_u:object_r:net_conf_t:s0";
  return memory;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

// What stood under `name` is now beside it, the warning speaks of it, and the next load finds nothing.
void check_set_aside(const TempDirectory& directory, const std::string& name, const std::string& bytes,
                     const std::string& warning, const std::string& reason) {
  CHECK(contains(warning, directory / name));
  CHECK(contains(warning, reason));
  CHECK(!fs::exists(directory / name));
  CHECK(read_bytes(directory / (name + ".damaged")) == bytes);
}

// Saves some_memory() with one text of its file replaced by another, and expects it to be refused.
void check_damaged(const std::string& from, const std::string& to, const std::string& reason) {
  INFO(from << " -> " << to);
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  std::string bytes = read_bytes(directory / memory_name());
  REQUIRE(contains(bytes, from));
  bytes.replace(bytes.find(from), from.size(), to);
  write_bytes(directory / memory_name(), bytes);
  const Loaded<Memory> loaded = state.load_memory(kPath);
  CHECK(loaded.value == Memory{});
  check_set_aside(directory, memory_name(), bytes, loaded.warning, reason);
  CHECK(state.load_memory(kPath).warning.empty());
}

}  // namespace

namespace {

std::string temporary(const std::string& name) {
  return name + '.' + std::to_string(::gettid()) + ".resolv-guardian-tmp";
}

std::size_t count_temporary(const TempDirectory& directory) {
  const auto is_temporary = [](const auto& entry) { return entry.path().extension() == ".resolv-guardian-tmp"; };
  const fs::directory_iterator all(directory.path);
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), is_temporary));
}

}  // namespace

TEST_CASE("state: what was never saved is empty and no reason to warn") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  CHECK(state.load_memory(kPath).value == Memory{});
  CHECK(state.load_memory(kPath).warning.empty());
  CHECK(state.load_generation().value == 0);
  CHECK(state.load_generation().warning.empty());
  CHECK(!state.load_verified_config().value);
  CHECK(state.load_verified_config().warning.empty());
  CHECK(fs::is_empty(directory.path));
}

TEST_CASE("state: a memory comes back as it was, for its path alone") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  CHECK(state.load_memory(kPath).value == some_memory());
  CHECK(state.load_memory(kPath).warning.empty());
  CHECK(state.load_memory("/etc/other").value == Memory{});
  CHECK(mode_of(directory / memory_name()) == 0600);
  CHECK(count_temporary(directory) == 0);
  REQUIRE(state.save_memory(kPath, Memory{}).has_value());
  CHECK(state.load_memory(kPath).value == Memory{});
}

TEST_CASE("state: any bytes of a document come back exactly") {
  CHECK(rc::check("state: any bytes", [] {
    const TempDirectory directory;
    const StateDirectory state(directory.path);
    const std::string path = *rc::gen::string<std::string>();
    Memory memory = some_memory();
    memory.document->bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    memory.search.values = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
    memory.document->label = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    RC_ASSERT(state.save_memory(path, memory).has_value());
    RC_ASSERT(state.load_memory(path).value == memory);
  }));
}

TEST_CASE("state: the largest document that is read fits, whatever its bytes") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  for (const char byte : {'\0', '\x1f', '\xff', '\\', '\n', '"'}) {
    Memory memory;
    memory.document = Document{};
    memory.document->bytes = std::string(1U << 20U, byte);
    REQUIRE(state.save_memory(kPath, memory).has_value());
    CHECK((state.load_memory(kPath).value == memory));
  }
}

TEST_CASE("state: what would not be read again is not written") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  Memory memory;
  memory.document = Document{};
  memory.document->bytes = std::string(5U << 20U, 'x');
  const auto saved = state.save_memory(kPath, memory);
  REQUIRE(!saved.has_value());
  CHECK(saved.error().code == EFBIG);
  CHECK(state.load_memory(kPath).value == some_memory());
}

TEST_CASE("state: read-only, what is damaged stays where it is") {
  const TempDirectory directory;
  REQUIRE(StateDirectory(directory.path).save_memory(kPath, some_memory()).has_value());
  REQUIRE(truncate((directory / memory_name()).c_str(), 5) == 0);
  const StateDirectory state(directory.path, StateDirectory::Access::read_only);
  const auto loaded = state.load_memory(kPath);
  CHECK(loaded.value == Memory{});
  CHECK(contains(loaded.warning, "is ignored"));
  CHECK(fs::exists(directory / memory_name()));
  CHECK_FALSE(fs::exists(directory / (memory_name() + ".damaged")));
}

TEST_CASE("state: damaged memories are set aside") {
  check_damaged("\"version\":1", "\"version\":2", "version 2 is unknown");
  check_damaged("\"version\":1", "\"version\":\"1\"", "no version");
  check_damaged("\"version\":1,", "", "no version");
  check_damaged("/etc/resolv.conf", "/etc/resolv.cone", "another path");
  check_damaged("192.0.2.1\",", "192.0.2.256\",", "wrong kind");
  check_damaged("\"kind\":\"link\"", "\"kind\":\"fifo\"", "wrong kind");
  check_damaged("\"mode\":416", "\"mode\":-1", "wrong kind");
  check_damaged("\"mode\":416", "\"mode\":40000", "wrong kind");
  check_damaged("\"bytes\":\"", "\"bytes\":null,\"x\":\"", "wrong kind");
  check_damaged("\"label\":\"a", "\"label\":\"\\u2026", "wrong kind");
  check_damaged("\"label\":\"a", "\"label\":\"\xff", "no JSON");
  check_damaged("\"machine_id\"", "\"machine\"", "missing");
  check_damaged("\"search\":{", "\"search\":[],\"x\":{", "wrong kind");
  check_damaged("\"at_ns\":1234567890123456789", "\"at_ns\":-9223372036854775808", "wrong kind");
  check_damaged("\"written\":\"", "\"written\":\"z", "wrong kind");
  check_damaged("}\n", "", "no JSON");
}

TEST_CASE("state: files that are none of ours at all are set aside") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  SECTION("nothing in it, as after a power loss") {
    write_bytes(directory / memory_name(), "");
    check_set_aside(directory, memory_name(), "", state.load_memory(kPath).warning, "no JSON");
  }
  SECTION("binary garbage, in place of an older damaged one") {
    write_bytes(directory / (memory_name() + ".damaged"), "older");
    write_bytes(directory / memory_name(), std::string_view("\0\xff{", 3));
    check_set_aside(directory, memory_name(), std::string("\0\xff{", 3), state.load_memory(kPath).warning, "no JSON");
  }
  SECTION("too large") {
    const std::string bytes((4U << 20U) + 1, ' ');
    write_bytes(directory / memory_name(), bytes);
    check_set_aside(directory, memory_name(), bytes, state.load_memory(kPath).warning, "too large");
  }
  SECTION("a link is not followed") {
    write_bytes(directory / "elsewhere", "{}");
    fs::create_symlink("elsewhere", directory / memory_name());
    check_set_aside(directory, memory_name(), "{}", state.load_memory(kPath).warning, "symbolic links");
  }
  SECTION("a FIFO does not hang") {
    REQUIRE(mkfifo((directory / memory_name()).c_str(), 0600) == 0);
    CHECK(contains(state.load_memory(kPath).warning, "regular file"));
    CHECK(fs::is_fifo(directory / (memory_name() + ".damaged")));
  }
  SECTION("what cannot be set aside is said, and said again") {
    fs::create_directory(directory / (memory_name() + ".damaged"));
    write_bytes(directory / memory_name(), "{}");
    CHECK(contains(state.load_memory(kPath).warning, "is ignored"));
    CHECK(contains(state.load_memory(kPath).warning, "no version"));
  }
}

TEST_CASE("state: an intent is there until the next memory") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  const std::string digest = sha256_hex("about to be written");
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  const std::string before = read_bytes(directory / memory_name());
  REQUIRE(state.save_intent(kPath, digest).has_value());
  CHECK(read_bytes(directory / memory_name()) == before);
  CHECK(mode_of(directory / intent_name()) == 0600);
  Memory expected = some_memory();
  expected.intended = digest;
  CHECK(state.load_memory(kPath).value == expected);
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  CHECK(!fs::exists(directory / intent_name()));
  CHECK(state.load_memory(kPath).value == some_memory());
}

TEST_CASE("state: an intent without a memory counts, a damaged one is set aside without the memory") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  REQUIRE(state.save_intent(kPath, sha256_hex("x")).has_value());
  CHECK(state.load_memory(kPath).value.intended == sha256_hex("x"));
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  write_bytes(directory / intent_name(), "");
  const Loaded<Memory> loaded = state.load_memory(kPath);
  CHECK(loaded.value == some_memory());
  check_set_aside(directory, intent_name(), "", loaded.warning, "no JSON");
}

TEST_CASE("state: generation and verified configuration") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  constexpr std::uint64_t kLast = (std::uint64_t{1} << 63U) - 1;
  REQUIRE(state.save_generation(kLast).has_value());
  CHECK(state.load_generation().value == kLast);
  const std::string toml = "[[guard]]\npath = \"/etc/r\xc3\xa9solv.conf\"\n";
  REQUIRE(state.save_verified_config(toml).has_value());
  CHECK(state.load_verified_config().value == toml);
  CHECK(mode_of(directory / "verified.toml") == 0600);
  REQUIRE(state.save_verified_config("").has_value());
  CHECK(state.load_verified_config().value == std::string());

  write_bytes(directory / "generation.json", "{\"version\":1,\"generation\":-1}");
  const auto generation = state.load_generation();
  CHECK(generation.value == 0);
  check_set_aside(directory, "generation.json", "{\"version\":1,\"generation\":-1}", generation.warning, "wrong kind");
  REQUIRE(state.save_generation(~std::uint64_t{0}).has_value());
  CHECK(state.load_generation().value == 0);
  write_bytes(directory / "verified.toml", toml);
  const auto verified = state.load_verified_config();
  CHECK(!verified.value);
  check_set_aside(directory, "verified.toml", toml, verified.warning, "version");
}

TEST_CASE("state: a left-over temporary file is overwritten or removed, a link in its place is not followed") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  const std::string name = directory / temporary("generation.json");
  write_bytes(name, std::string(1000, 'x'));
  fs::permissions(name, fs::perms::all);
  REQUIRE(state.save_generation(7).has_value());
  CHECK(state.load_generation().value == 7);
  CHECK(mode_of(directory / "generation.json") == 0600);

  write_bytes(directory / "victim", "precious");
  fs::create_symlink("victim", name);
  CHECK(!state.save_generation(8).has_value());
  CHECK(read_bytes(directory / "victim") == "precious");
  CHECK(state.load_generation().value == 7);

  fs::create_symlink("victim", directory / "guard-0.json.1.resolv-guardian-tmp");
  write_bytes(directory / "somebody.else.tmp", "");
  state.remove_left_over();
  CHECK(count_temporary(directory) == 0);
  CHECK(fs::exists(directory / "somebody.else.tmp"));
  CHECK(read_bytes(directory / "victim") == "precious");
  CHECK(state.load_generation().value == 7);
}

TEST_CASE("state: threads that save the same thing at the same time leave one whole") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  const auto save = [&] {
    for (std::uint64_t turn = 1; turn <= 2000; ++turn) (void)state.save_generation(turn * 1'000'000'007);
  };
  std::vector<std::thread> threads;
  for (int count = 0; count < 3; ++count) threads.emplace_back(save);
  std::string warnings;
  while (warnings.empty() && state.load_generation().value != 2000ULL * 1'000'000'007) {
    warnings = state.load_generation().warning;
  }
  for (auto& thread : threads) thread.join();
  CHECK(warnings.empty());
  CHECK(count_temporary(directory) == 0);
}

TEST_CASE("state: where nothing can be written there is an error and no crash") {
  const TempDirectory directory;
  write_bytes(directory / "file", "");
  for (const std::string& path : {directory / "missing", directory / "file", std::string("/proc")}) {
    const StateDirectory state(path);
    CHECK(!state.save_memory(kPath, some_memory()).has_value());
    CHECK(!state.save_intent(kPath, sha256_hex("")).has_value());
    CHECK(!state.save_generation(1).has_value());
    CHECK(!state.save_verified_config("").has_value());
  }
  CHECK(contains(StateDirectory(directory / "file").load_generation().warning, "Not a directory"));
}

TEST_CASE("state: a full disk leaves the old file and no temporary one") {
  const TempDirectory directory;
  const StateDirectory state(directory.path);
  REQUIRE(state.save_memory(kPath, some_memory()).has_value());
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto saved = state.save_memory(kPath, Memory{});
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  CHECK(!saved.has_value());
  CHECK(state.load_memory(kPath).value == some_memory());
  CHECK(count_temporary(directory) == 0);
}

TEST_CASE("make_directories: parents too, 0755 whatever the umask, and again") {
  const TempDirectory directory;
  const mode_t mask = umask(0077);
  const auto made = make_directories(directory / "a/b//c/");
  umask(mask);
  REQUIRE(made.has_value());
  CHECK(mode_of(directory / "a") == 0755);
  CHECK(mode_of(directory / "a/b/c") == 0755);
  fs::permissions(directory / "a", fs::perms::owner_all);
  CHECK(make_directories(directory / "a/b/c").has_value());
  CHECK(mode_of(directory / "a") == 0700);  // what is there is somebody's decision
  CHECK(make_directories("/").has_value());
  CHECK(make_directories("/proc/self").has_value());
  CHECK(!make_directories("").has_value());
  write_bytes(directory / "file", "");
  CHECK(!make_directories(directory / "file").has_value());
  CHECK(!make_directories(directory / "file/x").has_value());
  CHECK(!make_directories("/proc/self/x").has_value());
}
