#include "lib/config/nearest.hpp"

#include "test/support/catch.hpp"

TEST_CASE("a misspelt word finds the one that was meant") {
  const std::vector<std::string_view> words{"first", "last", "only", "write_within", "max"};
  CHECK(rg::nearest("frist", words) == "first");
  CHECK(rg::nearest("firs", words) == "first");
  CHECK(rg::nearest("FIRST", words) == "first");
  CHECK(rg::nearest("lasst", words) == "last");
  CHECK(rg::nearest("write-within", words) == "write_within");
  CHECK(rg::nearest("wirte_witin", words) == "write_within");
}

TEST_CASE("a word that is near to none finds none") {
  const std::vector<std::string_view> words{"first", "last", "only", "max"};
  CHECK_FALSE(rg::nearest("fallback", words));
  CHECK_FALSE(rg::nearest("mix-up", words));
  CHECK_FALSE(rg::nearest("os", words));
  CHECK_FALSE(rg::nearest("", words));
  CHECK_FALSE(rg::nearest(std::string(100'000, 'x'), words));
}

TEST_CASE("words are listed as a person would say them") {
  CHECK(rg::one_of({"a"}) == "`a`");
  CHECK(rg::one_of({"a", "b"}) == "`a` or `b`");
  CHECK(rg::one_of({"a", "b", "c"}) == "`a`, `b` or `c`");
}
