#include "lib/policy/decide.hpp"

#include <algorithm>
#include <cerrno>

#include "lib/policy/verbs.hpp"
#include "lib/result.hpp"

namespace rg {
namespace {

constexpr std::string_view kDefaultLabel = "system_u:object_r:net_conf_t:s0";  // refpolicy's for /etc/resolv.conf

constexpr std::uint32_t kWorldReads = 0004;  // what lib/tree asks of a file that is reached through a link

bool is_within(std::string_view path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](std::string_view folder) {
    while (!folder.empty() && folder.back() == '/') folder.remove_suffix(1);
    return path.size() > folder.size() && path.substr(0, folder.size()) == folder && path[folder.size()] == '/';
  });
}

// Where a link leads that must not be followed for writing: elsewhere, in a circle, or nowhere that has a path.
bool leads_elsewhere(const Policy& policy, const Node& node) {
  if (!node.linked) return false;
  if (node.kind == Node::Kind::loop) return true;
  return !node.path.empty() && !is_within(node.path, policy.write_within);
}

// An I/O error or a limit; EACCES and EPERM are somebody's decision.
bool is_failed(const Node& node) {
  const bool decided = node.error == 0 || node.error == EACCES || node.error == EPERM;
  return node.kind == Node::Kind::unreadable && !decided;
}

std::string refuse_node(const Node& node) {
  const std::string path(node.path);
  switch (node.kind) {
    case Node::Kind::directory:
      return "directory: a directory stands in its place; it is never removed by us, rmdir it";
    case Node::Kind::other:
      return "device: " + path + " is a device, socket or FIFO; replace it by a file or link";
    case Node::Kind::unreadable:
      if (is_failed(node)) return "it can't be looked at: " + Error{node.error, "read", path}.text();
      return "permission: it can't be read, or is reached through a link and not readable by everyone (chmod 0644)";
    case Node::Kind::no_directory:
      if (node.error == ENOTDIR) {
        return "missing: something on the way to it is no directory; make it one" +
               std::string(node.linked ? ", or set link = \"file\"" : "");
      }
      return "missing: the directory it belongs in doesn't exist and is never made by us; make it" +
             std::string(node.linked ? ", or set link = \"file\"" : "");
    case Node::Kind::loop:
      return "missing: a link on the way to it leads in a circle; remove that link";
    case Node::Kind::file:
      if (node.links != 0) return {};
      return "unlinked: the file was renamed over where it comes from and nobody else reads this one; mount its "
             "directory, "
             "not the single file";
    default:
      return {};
  }
}

std::string wanted_label(const Policy& policy, const Node& node, const Circumstances& now) {
  if (!now.selinux) return {};
  if (policy.selinux_label != "auto") return policy.selinux_label;
  if (!now.memory.held_label.empty()) return now.memory.held_label;
  if (node.kind == Node::Kind::file && !node.linked && !node.label.empty()) return std::string(node.label);
  return std::string(kDefaultLabel);
}

Content judge(const Policy& policy, std::optional<std::string_view> on_disk, const Circumstances& now) {
  return judge_content({policy, on_disk, now.document, now.upstream, now.memory, now.interface_exists});
}

std::optional<std::string_view> readable(const Node& node) {
  return node.kind == Node::Kind::file ? std::optional(node.bytes) : std::nullopt;
}

Decision refuse(Decision decision, const Node& node, std::string refusal) {
  decision.kind = Decision::Kind::refuse;
  decision.failed = is_failed(node);
  decision.refusal = std::move(refusal);
  return decision;
}

// A regular file at the guarded name, where a link stands now.
Decision replace_link_by_file(const Policy& policy, const Node& node, const Circumstances& now) {
  Decision decision;
  decision.content = judge(policy, readable(node), now);
  if (decision.content.nothing_to_write) return decision;
  const bool content_holds = decision.content.violations.empty();
  decision.kind = Decision::Kind::rewrite;
  decision.violations = decision.content.violations;
  decision.violations.push_back(Violation::link);
  decision.at_name = true;
  decision.kind_alone = content_holds;
  decision.bytes = content_holds ? std::string(node.bytes) : decision.content.wanted;
  decision.label = wanted_label(policy, node, now);
  return decision;
}

// link_to: exactly that link. Its target is its writer's business and is never written.
Decision want_link(const Policy& policy, const Node& node, const Circumstances& now) {
  Decision decision;
  Circumstances target{now.link_target, now.link_target, now.upstream, now.memory, now.selinux, now.interface_exists};
  decision.content = judge(policy, now.link_target, target);
  if (node.linked && node.link_text == *policy.link_to) {
    // The lists aren't judged through the link: what stands there holds.
    decision.content.violations.clear();
    return decision;
  }
  if (std::string refusal = node.linked ? std::string{} : refuse_node(node); !refusal.empty()) {
    return refuse(std::move(decision), node, std::move(refusal));
  }
  const Content before = judge(policy, readable(node), now);
  decision.kind = Decision::Kind::rewrite;
  decision.violations = {Violation::link};
  decision.at_name = decision.make_link = true;
  decision.kind_alone = node.kind == Node::Kind::file && before.read == decision.content.read;
  decision.bytes = *policy.link_to;
  return decision;
}

// The content of the final target (of the guarded name itself, where that is no link).
Decision judge_file(const Policy& policy, const Node& node, const Circumstances& now) {
  Decision decision;
  decision.content = judge(policy, readable(node), now);
  if (std::string refusal = refuse_node(node); !refusal.empty()) {
    return refuse(std::move(decision), node, std::move(refusal));
  }
  decision.violations = decision.content.violations;
  decision.label = wanted_label(policy, node, now);
  const bool content_holds = decision.violations.empty();
  if (node.kind == Node::Kind::file && node.mode != policy.mode) decision.violations.push_back(Violation::mode);
  if (node.kind == Node::Kind::file && now.selinux && node.label != decision.label) {
    decision.violations.push_back(Violation::label);
  }
  if (decision.violations.empty()) return decision;
  if (node.linked && (policy.mode & kWorldReads) == 0) {
    return refuse(std::move(decision), node,
                  "permission: the mode that is set would make it unreadable through the link, for us too; set mode = "
                  "\"0644\" or link = \"file\"");
  }
  decision.kind = Decision::Kind::rewrite;
  decision.only_attributes = content_holds;
  decision.bytes = content_holds ? std::string(node.bytes) : decision.content.wanted;
  return decision;
}

Decision follow_link(const Policy& policy, const Node& node, const Circumstances& now) {
  if (!leads_elsewhere(policy, node)) return judge_file(policy, node, now);
  Decision decision = replace_link_by_file(policy, node, now);
  // The link itself is its owner's decision: it stays while what is read through it holds.
  if (decision.kind == Decision::Kind::rewrite && decision.kind_alone) {
    decision.kind = Decision::Kind::keep;
    decision.violations.clear();
  }
  return decision;
}

}  // namespace

bool is_limit(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

bool shows_foreign_server(const Policy& policy, std::string_view bytes) {
  const std::vector<Nameserver> servers = nameservers(parse(bytes));
  return std::any_of(servers.begin(), servers.end(), [&](const Nameserver& server) {
    return !is_ours(policy.nameservers, server) && !is_denied(policy.nameservers, server);
  });
}

Decision decide(const Policy& policy, const Node& node, const Circumstances& now) {
  if (node.kind == Node::Kind::unreadable && is_limit(node.error)) {
    Decision decision;
    decision.content = judge(policy, std::nullopt, now);
    return refuse(std::move(decision), node, refuse_node(node));
  }
  if (policy.link_to && now.link_target && shows_foreign_server(policy, *now.link_target)) {
    return want_link(policy, node, now);
  }
  const bool file_wanted = policy.link == LinkMode::file || policy.link_to.has_value();
  if (node.linked && file_wanted) {
    return replace_link_by_file(policy, node, now);
  }
  if (node.linked) return follow_link(policy, node, now);
  return judge_file(policy, node, now);
}

}  // namespace rg
