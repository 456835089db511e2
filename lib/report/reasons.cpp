#include "lib/report/reasons.hpp"

namespace rg {

std::string paused_reason() { return "it drifts and is left so until `resume`"; }

std::string observing_reason() { return "enforce = false: it drifts and is left so"; }

std::string same_file_reason(const std::string& guard) {
  return "same-file: it is the file that the guard of " + guard + " keeps; remove one of them";
}

std::string late_reason() { return "deadline passed"; }

std::string stopping_reason() { return "the guardian stops"; }

std::string vanished_reason() { return "it is gone; a file that a glob stands for is guarded again when it is back"; }

std::string single_file_reason() {
  return "a single file is mounted here and written in place; once its source is renamed over nobody reads it any "
         "more: mount its directory, not the single file";
}

std::string unanswered_reason() {
  return late_reason() + ": its file system doesn't answer, or that of the state directory";
}

std::string waits_reason(const std::string& guard) { return "waits for " + guard; }

std::string requires_reason(const std::string& why_not) { return "requires an answer: " + why_not; }

std::string asking_reason() { return requires_reason("it is being asked"); }

std::string unresolved_reason() { return "no source address towards "; }

std::string misplaced_reason() { return "the source address towards "; }

std::string unresolved_reason(const Unresolved& unresolved) {
  const std::string destination = unresolved.source.destination.text();
  if (!unresolved.address) return unresolved_reason() + destination + ": " + unresolved.why;
  const std::string names = ", which `" + unresolved.why + "` names";
  const char* clash = unresolved.denied ? ", and it is denied" : unresolved.why == "deny" ? "" : " too";
  return misplaced_reason() + destination + " is " + unresolved.address->text() + names + clash;
}

std::string no_interface_reason(const std::string& zone) { return "there is no interface " + zone; }

std::string no_address_reason() { return "no interface has an address for it"; }

std::string upstream_lost_reason() { return "its upstream has no server: for `settle` that may change"; }

std::string no_upstream_reason(const std::vector<std::string>& upstream, bool (*has_glob)(const std::string& path)) {
  std::string reason;
  for (const std::string& path : upstream) {
    reason += reason.empty() ? "upstream: " : ", ";
    reason += has_glob(path) ? "nothing that can be read matches " + path : path + " isn't there or can't be read";
  }
  return reason;
}

std::string not_listed_reason(const std::string& error) { return "which files match can't be told: " + error; }

std::string no_match_reason() { return "no file matches"; }

std::string cancelled_reason(std::uint64_t next, std::size_t done, std::size_t of) {
  return "the update was at " + std::to_string(done) + " of " + std::to_string(of) + " when generation " +
         std::to_string(next) + " came";
}

std::string not_looked_at_reason(const std::string& guard) {
  return "not looked at: the file system of " + guard + " doesn't answer";
}

std::string looked_at_often_reason(const std::string& why) { return "looked at every second, for " + why; }

}  // namespace rg
