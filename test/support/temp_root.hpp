// A root directory of the test's own, with a canary beside it that nothing may reach. Removed with everything in it.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/tree/disk_files.hpp"

namespace rg::test {

inline constexpr const char* kCanary = "nameserver 203.0.113.66\n";

class TempRoot {
 public:
  /// `parent`: on another file system than /tmp, say.
  explicit TempRoot(const std::string& parent = std::filesystem::temp_directory_path().string()) {
    std::string name = parent + "/rg-tree-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::logic_error("mkdtemp");
    outside_ = name;
    path_ = outside_ + "/root";
    std::filesystem::create_directories(path_);
    std::filesystem::create_directories(outside_ + "/canary");
    put(outside_ + "/canary/secret", kCanary, 0644);
  }
  TempRoot(const TempRoot&) = delete;
  TempRoot& operator=(const TempRoot&) = delete;
  ~TempRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(outside_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& outside() const { return outside_; }
  /// `/etc/x` -> the path that the kernel knows it by.
  std::string operator/(const std::string& name) const { return path_ + (name.front() == '/' ? "" : "/") + name; }
  [[nodiscard]] SharedDescriptor open() const { return open_root(path_).value(); }
  [[nodiscard]] std::unique_ptr<DiskFiles> files() const { return std::make_unique<DiskFiles>(open(), false); }

  void directory(const std::string& name) const { std::filesystem::create_directories(*this / name); }
  /// In place if it is there; with its missing directories. The mode is exact.
  void write(const std::string& name, const std::string& bytes, mode_t mode = 0644) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    put(*this / name, bytes, mode);
  }
  /// Renamed in.
  void rename_in(const std::string& name, const std::string& bytes, mode_t mode = 0644) const {
    put(*this / (name + ".new"), bytes, mode);
    if (::rename((*this / (name + ".new")).c_str(), (*this / name).c_str()) != 0) throw std::logic_error("rename");
  }
  void link(const std::string& text, const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    if (::symlink(text.c_str(), (*this / name).c_str()) != 0) throw std::logic_error("symlink " + name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    const FileDescriptor fd(::open((*this / name).c_str(), O_RDONLY | O_CLOEXEC));
    return fd ? read_whole(fd.get()).value() : "(not there)";
  }
  [[nodiscard]] std::string link_text(const std::string& name) const {
    std::error_code error;
    return std::filesystem::read_symlink(*this / name, error).string();
  }
  [[nodiscard]] struct stat info(const std::string& name) const {
    struct stat info {};
    if (::lstat((*this / name).c_str(), &info) != 0) info.st_mode = 0;
    return info;
  }
  /// The names in a directory, sorted.
  [[nodiscard]] std::vector<std::string> names(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(*this / name))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static void put(const std::string& path, const std::string& bytes, mode_t mode) {
    const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const auto size = static_cast<ssize_t>(bytes.size());
    if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != size || ::fchmod(fd.get(), mode) != 0) {
      throw std::logic_error("write " + path);
    }
  }
  std::string outside_, path_;
};

}  // namespace rg::test
