#include "guardian/targets.hpp"

#include "test/support/catch.hpp"

namespace rg::test {
namespace {

Chain chain_to(ino_t directory, const std::string& name) {
  Chain chain;
  Step step;
  step.inode = directory;
  step.place.name = name;
  chain.steps.push_back(step);
  chain.complete = true;
  return chain;
}

TEST_CASE("targets: the earlier guard of the configuration has the file") {
  Targets targets;
  targets.set("/a", 0, chain_to(1, "resolv.conf"));
  targets.set("/b", 1, chain_to(1, "resolv.conf"));
  CHECK(targets.earlier("/b", 1, chain_to(1, "resolv.conf")) == "/a");
  CHECK(targets.earlier("/a", 0, chain_to(1, "resolv.conf")).empty());
  CHECK(targets.earlier("/c", 2, chain_to(1, "other.conf")).empty());
  CHECK(targets.earlier("/c", 2, chain_to(2, "resolv.conf")).empty());
}

TEST_CASE("targets: a guard is never in its own way, whatever its place was before") {
  Targets targets;
  targets.set("/a", 0, chain_to(1, "x"));
  CHECK(targets.earlier("/a", 5, chain_to(1, "x")).empty());
}

TEST_CASE("targets: what moved or went is nobody's") {
  Targets targets;
  targets.set("/a", 0, chain_to(1, "x"));
  targets.set("/a", 0, chain_to(1, "y"));
  CHECK(targets.earlier("/b", 1, chain_to(1, "x")).empty());
  CHECK(targets.earlier("/b", 1, chain_to(1, "y")) == "/a");
  targets.forget("/a");
  CHECK(targets.earlier("/b", 1, chain_to(1, "y")).empty());
}

TEST_CASE("targets: matches of one glob by their names") {
  Targets targets;
  targets.set("/n/2", 0, chain_to(1, "x"));
  CHECK(targets.earlier("/n/3", 0, chain_to(1, "x")) == "/n/2");
  CHECK(targets.earlier("/n/1", 0, chain_to(1, "x")).empty());
}

}  // namespace
}  // namespace rg::test
