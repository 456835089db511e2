// A directory of the test's own, removed with everything in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "lib/result.hpp"

struct TempDirectory {
  TempDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "rg-store-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::logic_error("mkdtemp failed");
    path = name;
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};
