// How much work something was: the process's CPU time, which doesn't depend on what else the machine does.
#pragma once

#include <ctime>

namespace rg::test {

class CpuTime {
 public:
  [[nodiscard]] double seconds() const {
    return static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC);
  }

 private:
  std::clock_t start_ = std::clock();
};

}  // namespace rg::test
