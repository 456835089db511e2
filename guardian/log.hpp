// Lines on stderr: text for people, or one JSON object each.
#pragma once

#include <string>
#include <string_view>

#include "guardian/options.hpp"

namespace rg {

class Log {
 public:
  Log(LogFormat format, LogLevel level) : format_(format), level_(level) {}
  void debug(std::string_view text) const { line(LogLevel::debug, text); }
  void info(std::string_view text) const { line(LogLevel::info, text); }
  void warning(std::string_view text) const { line(LogLevel::warning, text); }
  void error(std::string_view text) const { line(LogLevel::error, text); }
  void line(LogLevel level, std::string_view text) const;

 private:
  LogFormat format_;
  LogLevel level_;
};

}  // namespace rg
