#include "guardian/config_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "lib/store/sha256.hpp"
#include "test/support/catch.hpp"

namespace {

// A folder with a configuration, removed at the end.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/rg-config-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    FILE* file = std::fopen(path(name).c_str(), "w");
    REQUIRE(file != nullptr);
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }
  void link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, path(name));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }
  [[nodiscard]] rg::Result<rg::ConfigBytes> read() const { return rg::read_config(path("config.toml")); }

 private:
  std::string path_;
};

std::vector<std::string> contents(const rg::Result<rg::ConfigBytes>& config) {
  REQUIRE(config.has_value());
  std::vector<std::string> bytes;
  for (const auto& file : config->files) bytes.push_back(file.bytes);
  return bytes;
}

}  // namespace

TEST_CASE("config.toml, then config.d in the order of the names") {
  const Folder folder;
  folder.write("config.toml", "0");
  folder.write("config.d/b.toml", "3");
  folder.write("config.d/Z.toml", "1");
  folder.write("config.d/a.toml", "2");
  folder.write("config.d/a.toml~", "x");
  folder.write("config.d/a.txt", "x");
  folder.write("config.d/.hidden.toml", "x");
  folder.write("config.d/.toml", "x");
  folder.write("config.d/folder.toml/a.toml", "x");
  const auto config = folder.read();
  CHECK(contents(config) == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(config->files[0].path == folder.path("config.toml"));
  CHECK(config->files[1].path == folder.path("config.d/Z.toml"));
}

TEST_CASE("a ConfigMap: links through ..data, one of them left over") {
  const Folder folder;
  folder.write("config.d/..2026/a.toml", "1");
  folder.link("..2026", "config.d/..data");
  folder.link("..data/a.toml", "config.d/a.toml");
  folder.link("..data/gone.toml", "config.d/gone.toml");
  CHECK(contents(folder.read()) == std::vector<std::string>{"1"});
}

TEST_CASE("what is missing") {
  const Folder folder;
  REQUIRE_FALSE(folder.read().has_value());
  CHECK(folder.read().error().code == ENOENT);
  CHECK(folder.read().error().path == folder.path("config.toml"));
  std::filesystem::create_directory(folder.path("config.d"));
  CHECK(folder.read().error().code == ENOENT);
  folder.write("config.d/a.toml", "1");
  CHECK(contents(folder.read()) == std::vector<std::string>{"1"});
}

TEST_CASE("a FIFO neither hangs nor counts") {
  const Folder folder;
  REQUIRE(::mkfifo(folder.path("config.toml").c_str(), 0600) == 0);
  CHECK(folder.read().error().code == ENOENT);
}

TEST_CASE("a file of 1 MiB is read whole, a larger one is an error with its name") {
  const Folder folder;
  folder.write("config.toml", std::string(1U << 20U, ' '));
  CHECK(contents(folder.read())[0].size() == 1U << 20U);
  folder.write("config.d/a.toml", std::string((1U << 20U) + 1, ' '));
  REQUIRE_FALSE(folder.read().has_value());
  CHECK(folder.read().error().code == EFBIG);
  CHECK(folder.read().error().path == folder.path("config.d/a.toml"));
}

TEST_CASE("a file that says size 0 is read to its end") {
  CHECK(contents(rg::read_config("/proc/self/status"))[0].size() > 200);
}

TEST_CASE("at most 1000 files") {
  const Folder folder;
  for (int i = 0; i < 1000; ++i) folder.write("config.d/" + std::to_string(i) + ".toml", "");
  CHECK(contents(folder.read()).size() == 1000);
  folder.write("config.toml", "");
  CHECK(folder.read().error().code == E2BIG);
}

TEST_CASE("the digest is of the names and the bytes") {
  const Folder folder;
  folder.write("config.toml", "1");
  const std::string one = folder.read()->sha256;
  CHECK(one.size() == 64);
  CHECK(folder.read()->sha256 == one);
  folder.write("config.toml", "2");
  const std::string other = folder.read()->sha256;
  CHECK(other != one);
  folder.write("config.d/a.toml", "");
  const std::string more = folder.read()->sha256;
  CHECK(more != other);
  std::filesystem::rename(folder.path("config.d/a.toml"), folder.path("config.d/b.toml"));
  CHECK(folder.read()->sha256 != more);
}

TEST_CASE("the process's environment") {
  ::setenv("RG_TEST_VALUE", "x", 1);
  CHECK(rg::process_environment()("RG_TEST_VALUE") == std::optional<std::string>("x"));
  ::unsetenv("RG_TEST_VALUE");
  CHECK_FALSE(rg::process_environment()("RG_TEST_VALUE"));
}
