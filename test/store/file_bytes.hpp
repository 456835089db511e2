// Whole files of a test: not by the code under test.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

inline std::string read_bytes(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw std::logic_error("no " + path);
  std::string bytes;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) bytes += static_cast<char>(c);
  std::fclose(file);
  return bytes;
}

inline void write_bytes(const std::string& path, std::string_view bytes, const char* mode = "wb") {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) throw std::logic_error("cannot write " + path);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
}
