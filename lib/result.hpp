// Errors are values: Result<T> holds a T or an Error. Exceptions are for bugs only.
#pragma once

#include <boost/system/result.hpp>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace rg {

/// What failed: an errno value (0 where the kernel was not asked), what was being done, and to which path.
struct Error {
  int code = 0;
  std::string doing;
  std::string path;

  Error() = default;
  Error(int code_, std::string doing_, std::string path_ = {})
      : code(code_), doing(std::move(doing_)), path(std::move(path_)) {}
  /// One line for a person: "rename /etc/resolv.conf: Operation not permitted".
  [[nodiscard]] std::string text() const {
    std::string line = doing;
    if (!path.empty()) line += (line.empty() ? "" : " ") + path;
    if (code != 0) line += ": " + std::generic_category().message(code);
    return line;
  }
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = boost::system::result<T, Error>;

/// The Error for the current errno.
inline Error errno_error(std::string doing, std::string path = {}) {
  return Error{errno, std::move(doing), std::move(path)};
}

/// boost::system::result calls this when value() is asked of an Error: that is a bug in the caller.
[[noreturn]] inline void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw std::logic_error(error.text());
}

}  // namespace rg
