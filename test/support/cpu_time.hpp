// How much work something was: the process's CPU time, which doesn't depend on what else the machine does.
#pragma once

#include <ctime>

namespace rg::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlowness = 20;  // of a build with a sanitizer in it
#else
inline constexpr double kSlowness = 1;
#endif

class CpuTime {
 public:
  /// Of a plain build: with a sanitizer it is a share of what was measured.
  [[nodiscard]] double seconds() const {
    return static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC) / kSlowness;
  }

 private:
  std::clock_t start_ = std::clock();
};

}  // namespace rg::test
