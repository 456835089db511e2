// The quick way along a link must find what a whole walk finds, or nothing.
#include <filesystem>

#include "lib/tree/disk_files.hpp"
#include "test/support/catch.hpp"
#include "test/support/temp_root.hpp"

namespace rg::test {
namespace {

constexpr const char* kName = "/etc/resolv.conf";

void fill(const TempRoot& root) {
  root.write("etc/resolv.conf", "nameserver 192.0.2.1\n");
  root.write("etc/other", "nameserver 192.0.2.2\n");
  root.write("run/some/far", "nameserver 192.0.2.3\n");
  root.link("some", "run/same");
}

void relink(const TempRoot& root, const std::string& text) {
  std::filesystem::remove(root / "etc/resolv.conf");
  root.link(text, "etc/resolv.conf");
}

bool has_openat2(const SharedDescriptor& top) { return walk_link(top, walk(top, kName), "/run/some/far").has_value(); }

}  // namespace

TEST_CASE("walk_link: where only directories lie on the way, a whole walk's end and path") {
  const TempRoot root;
  fill(root);
  const SharedDescriptor top = root.open();
  const Chain before = walk(top, kName);
  REQUIRE(before.complete);
  for (const char* text : {"other", "missing", "/run/some/far", "/run/some/missing", "/etc/other", "../run/some/far",
                           "../../run/some/far", "../etc/other", "/top"}) {
    CAPTURE(text);
    relink(root, text);
    const Chain whole = walk(top, kName);
    const auto quick = walk_link(top, before, text);
    const bool needs_kernel = std::string(text).find('/') != std::string::npos && std::string(text) != "/top";
    if (needs_kernel && !has_openat2(top)) continue;  // before Linux 5.6
    REQUIRE(quick.has_value());
    CHECK(quick->complete);
    CHECK(quick->linked());
    CHECK(quick->named == whole.named);
    CHECK(quick->path == whole.path);
    CHECK(same_name(quick->steps.back(), whole.steps.back()));
    CHECK(same_name(quick->name_step(), whole.name_step()));
    CHECK(quick->name_step().link_text == text);
    CHECK_FALSE(quick->whole);
  }
}

TEST_CASE("walk_link: anything else is left to a whole walk") {
  const TempRoot root;
  fill(root);
  const SharedDescriptor top = root.open();
  const Chain before = walk(top, kName);
  for (const char* text : {"", "/", ".", "..", "../", "./other", "/run//some/far", "/run/./some/far", "/run/same/far",
                           "/run/../etc/other", "../run/../etc/other", "other/", "/run/some/far/x", "/missing/far"}) {
    CAPTURE(text);
    CHECK_FALSE(walk_link(top, before, text).has_value());
  }
}

TEST_CASE("look_again: a link that has come to the name, whatever it looks like") {
  const TempRoot root;
  fill(root);
  DiskFiles files(root.open(), false);
  for (const char* text : {"other", "/run/some/far", "../run/some/far", "/run/same/far", "./other",
                           "../run/../etc/other", "missing", "/missing/far", "/run"}) {
    CAPTURE(text);
    std::filesystem::remove(root / "etc/resolv.conf");
    root.write("etc/resolv.conf", "nameserver 192.0.2.1\n");
    Seen before = files.observe(kName);
    relink(root, text);
    const Seen whole = files.observe(kName);
    const Seen seen = files.look_again(kName, std::move(before));
    CHECK(seen.kind == whole.kind);
    CHECK(seen.bytes == whole.bytes);
    CHECK(seen.error == whole.error);
    CHECK(seen.chain.path == whole.chain.path);
    CHECK(seen.linked());
  }
}

}  // namespace rg::test
