#include "lib/report/reasons.hpp"

namespace rg {

std::string paused_reason() { return "it drifts and is left so until `resume`"; }

std::string observing_reason() { return "enforce = false: it drifts and is left so"; }

std::string same_file_reason(const std::string& guard) {
  return "same-file: it is the file that the guard of " + guard + " keeps; remove one of them";
}

std::string unanswered_reason() { return "deadline passed: its file system doesn't answer"; }

std::string not_looked_at_reason(const std::string& guard) {
  return "not looked at: the file system of " + guard + " doesn't answer";
}

}  // namespace rg
