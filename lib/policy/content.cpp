#include "lib/policy/content.hpp"

#include <algorithm>

#include "lib/policy/compose.hpp"
#include "lib/policy/drift.hpp"
#include "lib/policy/learn.hpp"
#include "lib/policy/want.hpp"

namespace rg {
namespace {

Lists read_lists(const ResolvConf& conf) { return {nameservers(conf), search(conf), options(conf)}; }

bool is_nothing(const Lists& lists) {
  return lists.nameservers.empty() && lists.search.empty() && lists.options.empty();
}

}  // namespace

Content judge_content(const ContentInput& input) {
  const ResolvConf disk = parse(input.on_disk.value_or(std::string_view{}));
  const bool one = input.on_disk == input.document;  // the usual case: nobody's bytes but the writer's
  const ResolvConf remembered = one ? ResolvConf{} : parse(input.document.value_or(std::string_view{}));
  const ResolvConf& document = one ? disk : remembered;

  Content content;
  Learned learned = learn(input, document);
  Wanted wanted = want(input, learned, document);
  content.read = read_lists(disk);
  if (input.on_disk) {
    content.violations = find_drift(input.policy, disk, content.read, wanted, learned);
  } else if (is_nothing(wanted.lists)) {
    content.nothing_to_write = true;
  } else {
    content.violations = {Violation::absent};
  }
  if (!content.violations.empty()) content.wanted = compose(input.policy, document, wanted.lists);

  content.want = std::move(wanted.lists);
  content.servers = std::move(wanted.servers);
  content.dropped = std::move(learned.dropped);
  content.dropped.insert(content.dropped.end(), wanted.over_max.begin(), wanted.over_max.end());
  if (content.dropped.size() > kMaxDropped) content.dropped.resize(kMaxDropped);
  content.source = wanted.source;
  content.filled = wanted.filled;
  content.learned = std::move(learned.lists);
  content.writer = std::move(learned.writer);
  return content;
}

}  // namespace rg
