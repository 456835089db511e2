// What must change at a path, by what stands there: links, kinds, modes, labels. The content is judged elsewhere.
#include "lib/policy/decide.hpp"

#include <cerrno>

#include "test/policy/judging.hpp"
#include "test/support/catch.hpp"

namespace rg::test {
namespace {

using Kind = Decision::Kind;
constexpr std::string_view kGood = "nameserver 127.0.0.1\nnameserver 192.0.2.1\n";
constexpr std::string_view kBad = "nameserver 192.0.2.1\n";

struct Case {
  Case() {
    policy.nameservers.first = servers({"127.0.0.1"});
    policy.comment = false;
    node.kind = Node::Kind::file;
    node.path = "/etc/resolv.conf";
    node.bytes = kGood;
    node.mode = 0644;
  }
  Case& linked_to(std::string_view text, std::string_view path) {
    node.linked = true;
    node.link_text = text;
    node.path = path;
    return *this;
  }
  Case& of_kind(Node::Kind kind) {
    node.kind = kind;
    node.bytes = {};
    return *this;
  }
  [[nodiscard]] Decision decided() const {
    const std::function<bool(const std::string&)> exists = [](const std::string&) { return true; };
    const auto document = node.kind == Node::Kind::file ? std::optional(node.bytes) : std::nullopt;
    return decide(policy, node, {document, target, upstream, memory, selinux, exists});
  }

  Policy policy;
  Node node;
  Memory memory;
  std::vector<Upstream> upstream;
  std::optional<std::string_view> target;
  bool selinux = false;
};

bool begins(const std::string& text, const std::string& word) { return text.substr(0, word.size()) == word; }

TEST_CASE("decide: a regular file") {
  Case c;
  SECTION("holds") { CHECK(c.decided().kind == Kind::keep); }
  SECTION("drifts") {
    c.node.bytes = kBad;
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.bytes == kGood);
    CHECK_FALSE(decision.at_name);
    CHECK_FALSE(decision.make_link);
    CHECK_FALSE(decision.kind_alone);
    CHECK_FALSE(decision.only_attributes);
    CHECK(decision.violations == Violations{Violation::required});
  }
  SECTION("is missing") {
    const Decision decision = c.of_kind(Node::Kind::absent).decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.bytes == "nameserver 127.0.0.1\n");
    CHECK(decision.violations == Violations{Violation::absent});
  }
  SECTION("is missing and nothing would stand in it") {
    c.policy.nameservers.first.clear();
    CHECK(c.of_kind(Node::Kind::absent).decided().kind == Kind::keep);
  }
}

TEST_CASE("decide: what is refused says its word and what to do, with and without link_to and link = file") {
  Case c;
  const auto [kind, word] = GENERATE(table<Node::Kind, std::string>({{Node::Kind::directory, "directory: "},
                                                                     {Node::Kind::other, "device: "},
                                                                     {Node::Kind::unreadable, "permission: "},
                                                                     {Node::Kind::no_directory, "missing: "},
                                                                     {Node::Kind::loop, "missing: "}}));
  const int variant = GENERATE(0, 1, 2);
  if (variant == 1) c.policy.link = LinkMode::file;
  if (variant == 2) {
    c.policy.link_to = "/run/r.conf";
    c.target = kBad;
  }
  c.of_kind(kind);
  if (kind == Node::Kind::no_directory || kind == Node::Kind::loop) c.node.path = {};  // the walk ended before
  const Decision decision = c.decided();
  CHECK(decision.kind == Kind::refuse);
  CHECK(begins(decision.refusal, word));
  CHECK(decision.refusal.size() > word.size() + 10);
}

TEST_CASE("decide: an I/O error or a limit is a failure, with the error's own words") {
  Case c;
  c.of_kind(Node::Kind::unreadable);
  for (const int error : {EIO, EMFILE, ENOMEM}) {
    c.node.error = error;
    CHECK(c.decided().kind == Kind::refuse);
    CHECK(c.decided().failed);
    CHECK_FALSE(begins(c.decided().refusal, "permission: "));
  }
  c.node.error = EIO;
  CHECK(c.decided().refusal.find("Input/output error") != std::string::npos);
  for (const int error : {EACCES, EPERM}) {
    c.node.error = error;
    CHECK_FALSE(c.decided().failed);
    CHECK(begins(c.decided().refusal, "permission: "));
  }
}

TEST_CASE("decide: a file whose name is gone is blocked while its content is right") {
  Case c;
  c.node.links = 0;
  SECTION("alone") {}
  SECTION("and a link is wanted") {
    c.policy.link_to = "/run/r.conf";
    c.target = kBad;
  }
  const Decision decision = c.decided();
  CHECK(decision.kind == Kind::refuse);
  CHECK(begins(decision.refusal, "unlinked: "));
}

TEST_CASE("decide: link = follow") {
  Case c;
  c.linked_to("../run/r/resolv.conf", "/run/r/resolv.conf");
  SECTION("the target holds") { CHECK(c.decided().kind == Kind::keep); }
  SECTION("the target drifts: it is written, the link stays") {
    c.node.bytes = kBad;
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK_FALSE(decision.at_name);
    CHECK(decision.violations == Violations{Violation::required});
  }
  SECTION("dangling: the target is made") {
    const Decision decision = c.of_kind(Node::Kind::absent).decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK_FALSE(decision.at_name);
  }
  SECTION("dangling into a missing directory: refused, and both ways out are said") {
    c.of_kind(Node::Kind::no_directory);
    c.node.path = {};
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::refuse);
    CHECK(begins(decision.refusal, "missing: "));
    CHECK(decision.refusal.find("link = \"file\"") != std::string::npos);
    CHECK(decision.refusal.find("doesn't exist") != std::string::npos);
    c.node.error = ENOTDIR;  // a slash behind a file
    CHECK(c.decided().refusal.find("is no directory") != std::string::npos);
  }
  SECTION("to a directory, a device, a secret") {
    CHECK(begins(c.of_kind(Node::Kind::directory).decided().refusal, "directory: "));
    CHECK(begins(c.of_kind(Node::Kind::other).decided().refusal, "device: "));
    CHECK(begins(c.of_kind(Node::Kind::unreadable).decided().refusal, "permission: "));
  }
  SECTION("in a circle: replaced by a file") {
    c.of_kind(Node::Kind::loop);
    c.node.path = {};
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.at_name);
    CHECK_FALSE(decision.make_link);
  }
}

TEST_CASE("decide: write_within") {
  Case c;
  c.linked_to("../somewhere", "/opt/resolv.conf");
  SECTION("elsewhere, and it holds: the link is its owner's decision") { CHECK(c.decided().kind == Kind::keep); }
  SECTION("elsewhere, and it drifts: the link is replaced, the target never written") {
    c.node.bytes = kBad;
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.at_name);
    CHECK(decision.bytes == kGood);
  }
  SECTION("whole components count") {
    c.node.bytes = kBad;
    for (const auto& [path, within] : {std::pair("/run/x", true), std::pair("/running/x", false),
                                       std::pair("/run", false), std::pair("/etc/a/b", true), std::pair("/etcx", false),
                                       std::pair("/var/run/x", true), std::pair("/var/x", false)}) {
      c.node.path = path;
      CHECK(c.decided().at_name == !within);
    }
  }
  SECTION("as it is configured") {
    c.node.bytes = kBad;
    c.policy.write_within = {"/opt//"};
    CHECK_FALSE(c.decided().at_name);
    c.policy.write_within = {"/"};
    CHECK_FALSE(c.decided().at_name);
    c.policy.write_within = {};
    CHECK(c.decided().at_name);
  }
  SECTION("a plain file is written wherever it is") {
    c.node.linked = false;
    c.node.bytes = kBad;
    CHECK_FALSE(c.decided().at_name);
  }
}

TEST_CASE("decide: link = file") {
  Case c;
  c.policy.link = LinkMode::file;
  SECTION("a plain file is judged as ever") { CHECK(c.decided().kind == Kind::keep); }
  c.linked_to("../run/r/resolv.conf", "/run/r/resolv.conf");
  SECTION("a link whose content holds: the kind alone") {
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.at_name);
    CHECK(decision.kind_alone);
    CHECK(decision.bytes == kGood);
    CHECK(decision.violations == Violations{Violation::link});
  }
  SECTION("a link whose content drifts waits for nothing") {
    c.node.bytes = kBad;
    const Decision decision = c.decided();
    CHECK_FALSE(decision.kind_alone);
    CHECK(decision.bytes == kGood);
    CHECK(decision.violations == Violations{Violation::required, Violation::link});
  }
  SECTION("dangling, circle, secret, directory: a file is made of what is known") {
    for (const auto kind : {Node::Kind::absent, Node::Kind::loop, Node::Kind::unreadable, Node::Kind::directory,
                            Node::Kind::no_directory}) {
      const Decision decision = c.of_kind(kind).decided();
      CHECK(decision.kind == Kind::rewrite);
      CHECK(decision.at_name);
      CHECK(decision.bytes == "nameserver 127.0.0.1\n");
    }
  }
  SECTION("dangling and nothing is known: nothing is made") {
    c.policy.nameservers.first.clear();
    CHECK(c.of_kind(Node::Kind::absent).decided().kind == Kind::keep);
  }
}

TEST_CASE("decide: link_to") {
  Case c;
  c.policy.link_to = "../run/r.conf";
  SECTION("no foreign server in the target yet: a file by the lists") {
    for (const auto target : {std::optional<std::string_view>(), std::optional<std::string_view>(""),
                              std::optional<std::string_view>("nameserver 127.0.0.1\n"),
                              std::optional<std::string_view>("# nothing\nsearch a.example\n")}) {
      c.target = target;
      CHECK(c.decided().kind == Kind::keep);
      c.node.bytes = kBad;
      CHECK_FALSE(c.decided().make_link);
      c.node.bytes = kGood;
    }
  }
  SECTION("a server that is denied is no reason for a link") {
    c.policy.nameservers.deny = denies({"192.0.2.0/24"});
    c.target = kBad;
    CHECK_FALSE(c.decided().make_link);
  }
  SECTION("the target is good: the link is made") {
    c.target = kBad;
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.make_link);
    CHECK(decision.at_name);
    CHECK(decision.bytes == "../run/r.conf");
    CHECK(decision.violations == Violations{Violation::link});
    CHECK_FALSE(decision.kind_alone);  // a resolver would read something else
  }
  SECTION("the same lists behind the link: the kind alone") {
    c.target = kGood;
    CHECK(c.decided().kind_alone);
  }
  SECTION("missing: the link is made") {
    c.target = kBad;
    const Decision decision = c.of_kind(Node::Kind::absent).decided();
    CHECK(decision.make_link);
    CHECK_FALSE(decision.kind_alone);
  }
  SECTION("it is exactly the link: it holds, whatever the target shows") {
    c.target = kBad;
    c.linked_to("../run/r.conf", "/run/r.conf");
    c.node.bytes = kBad;
    CHECK(c.decided().kind == Kind::keep);
    CHECK(c.decided().violations.empty());
  }
  SECTION("another text of the same link isn't it") {
    c.target = kBad;
    c.linked_to("/run/r.conf", "/run/r.conf");
    CHECK(c.decided().make_link);
  }
  SECTION("the target loses its servers: a file by the lists again") {
    c.target = "";
    c.linked_to("../run/r.conf", "/run/r.conf");
    c.node.bytes = "";
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.at_name);
    CHECK_FALSE(decision.make_link);
    CHECK(decision.bytes == "nameserver 127.0.0.1\n");
  }
}

TEST_CASE("decide: the mode") {
  Case c;
  c.node.mode = 0600;
  SECTION("alone: only attributes") {
    const Decision decision = c.decided();
    CHECK(decision.kind == Kind::rewrite);
    CHECK(decision.only_attributes);
    CHECK(decision.violations == Violations{Violation::mode});
    CHECK(decision.bytes == kGood);
  }
  SECTION("with the content: one change") {
    c.node.bytes = kBad;
    const Decision decision = c.decided();
    CHECK_FALSE(decision.only_attributes);
    CHECK(decision.violations == Violations{Violation::required, Violation::mode});
    CHECK(decision.bytes == kGood);
  }
  SECTION("as it is configured, set-id bits too") {
    c.policy.mode = 0600;
    CHECK(c.decided().kind == Kind::keep);
    c.node.mode = 04600;
    CHECK(c.decided().only_attributes);
  }
  SECTION("of what a link leads to") {
    c.linked_to("../run/r", "/run/r");
    CHECK(c.decided().only_attributes);
    CHECK_FALSE(c.decided().at_name);
  }
}

TEST_CASE("decide: the label") {
  Case c;
  c.selinux = true;
  c.node.label = "system_u:object_r:net_conf_t:s0";
  SECTION("without SELinux: nothing") {
    c.selinux = false;
    c.policy.selinux_label = "a:b:c:s0";
    CHECK(c.decided().kind == Kind::keep);
    c.node.bytes = kBad;
    CHECK(c.decided().label.empty());
  }
  SECTION("auto: the file's own, until another one held") {
    c.node.label = "u:r:etc_t:s0";
    CHECK(c.decided().kind == Kind::keep);
    c.memory.held_label = "system_u:object_r:net_conf_t:s0";
    const Decision decision = c.decided();
    CHECK(decision.only_attributes);
    CHECK(decision.violations == Violations{Violation::label});
    CHECK(decision.label == c.memory.held_label);
  }
  SECTION("auto: the default for a new file and in place of a link") {
    CHECK(c.of_kind(Node::Kind::absent).decided().label == "system_u:object_r:net_conf_t:s0");
    c.policy.link = LinkMode::file;
    c.linked_to("../run/r", "/run/r");
    c.node.kind = Node::Kind::file;
    c.node.label = "u:r:var_run_t:s0";
    c.node.bytes = kBad;
    CHECK(c.decided().label == "system_u:object_r:net_conf_t:s0");
  }
  SECTION("a full context") {
    c.policy.selinux_label = "a:b:c:s0";
    CHECK(c.decided().violations == Violations{Violation::label});
    CHECK(c.decided().label == "a:b:c:s0");
  }
}

TEST_CASE("shows_foreign_server") {
  Policy policy;
  policy.nameservers.first = servers({"127.0.0.1"});
  policy.nameservers.last = servers({"198.51.100.9"});
  policy.nameservers.deny = denies({"203.0.113.0/24"});
  CHECK(shows_foreign_server(policy, "nameserver 192.0.2.1\n"));
  CHECK_FALSE(shows_foreign_server(policy, ""));
  CHECK_FALSE(shows_foreign_server(policy, "nameserver 127.0.0.1\nnameserver 198.51.100.9\nnameserver 203.0.113.1\n"));
  CHECK_FALSE(shows_foreign_server(policy, "nameserver 127.1\n#nameserver 192.0.2.1\n"));
}

}  // namespace
}  // namespace rg::test
