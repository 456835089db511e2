// Finds entries in lists that somebody else may have made very long: a file of 1 MiB holds 60,000 servers, domains or
// options, and to compare each with each takes minutes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/resolv/nameserver.hpp"
#include "lib/resolv/resolv_conf.hpp"

namespace rg {

/// Up to so many entries a list is scanned, which is faster than any index.
inline constexpr std::size_t kFew = 32;

// Which entries are the same, and an order in which those are equal.
struct SameServer {
  using Listed = Nameserver;
  using Entry = const Nameserver&;
  static bool same(Entry a, Entry b) { return a == b; }
  static bool less(Entry a, Entry b) { return a < b; }
};
struct SameDomain {
  using Listed = std::string;
  using Entry = std::string_view;
  static bool same(Entry a, Entry b) { return same_domain(a, b); }
  static bool less(Entry a, Entry b) { return domain_less(a, b); }
};
struct SameOption {  // one value an option
  using Listed = std::string;
  using Entry = std::string_view;
  static bool same(Entry a, Entry b) { return option_name(a) == option_name(b); }
  static bool less(Entry a, Entry b) { return option_name(a) < option_name(b); }
};

/// Of a list that stays where it is, and that may grow at its end. Ordered, not hashed: whoever writes the entries
/// could choose them so that their hashes are equal.
template <class Same>
class Finder {
 public:
  using List = std::vector<typename Same::Listed>;
  using Entry = typename Same::Entry;

  explicit Finder(const List& list) : list_(list) {}
  Finder(const Finder&) = delete;
  Finder& operator=(const Finder&) = delete;

  /// The place of the first entry that is the same; the list's size if there is none.
  [[nodiscard]] std::size_t find(Entry entry) {
    if (list_.size() <= kFew) {
      const auto found = std::find_if(list_.begin(), list_.end(), [&](Entry one) { return Same::same(one, entry); });
      return static_cast<std::size_t>(found - list_.begin());
    }
    return find_in_index(entry);
  }
  [[nodiscard]] bool contains(Entry entry) { return find(entry) != list_.size(); }

 private:
  struct Less {
    using is_transparent = void;
    const List* list;
    bool operator()(std::size_t a, std::size_t b) const { return Same::less((*list)[a], (*list)[b]); }
    bool operator()(std::size_t a, Entry b) const { return Same::less((*list)[a], b); }
    bool operator()(Entry a, std::size_t b) const { return Same::less(a, (*list)[b]); }
  };
  struct Index {
    std::set<std::size_t, Less> places;  // the first of those that are the same
    std::size_t indexed = 0;
  };

  [[gnu::noinline]] std::size_t find_in_index(Entry entry) {
    if (!index_) index_ = std::make_unique<Index>(Index{std::set<std::size_t, Less>(Less{&list_}), 0});
    for (; index_->indexed < list_.size(); ++index_->indexed) index_->places.insert(index_->indexed);
    const auto found = index_->places.find(entry);
    return found == index_->places.end() ? list_.size() : *found;
  }

  const List& list_;
  std::unique_ptr<Index> index_;  // the usual short list has none
};

}  // namespace rg
