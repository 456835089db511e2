// Lines on stderr: text for people, or one JSON object each.
#pragma once

#include <functional>
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
  /// Where lines go instead of stderr at once.
  void send_to(std::function<void(std::string)> sink) { sink_ = std::move(sink); }

 private:
  LogFormat format_;
  LogLevel level_;
  std::function<void(std::string)> sink_;
};

}  // namespace rg
