#include "lib/config/nearest.hpp"

#include <algorithm>
#include <cstddef>

namespace rg {
namespace {

// No word of ours is longer; the table below grows with the square of it.
constexpr std::size_t kLongest = 40;

std::string folded(std::string_view text) {
  std::string fold(text);
  for (char& c : fold) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return fold;
}

// Optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours (`frist`) as one mistake.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view text, const std::vector<std::string_view>& words) {
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  const std::string meant = folded(text);
  std::optional<std::string> best;
  std::size_t best_distance = 3;
  for (const std::string_view word : words) {
    const std::size_t apart = distance(meant, folded(word));
    const std::size_t allowed = std::min(meant.size(), word.size()) <= 4 ? 1 : 2;
    if (apart > allowed || apart >= best_distance) continue;
    best = word;
    best_distance = apart;
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& words) {
  const std::optional<std::string> word = nearest(text, words);
  return word ? " (did you mean `" + *word + "`?)" : std::string();
}

std::string one_of(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text.append("`").append(words[i]).append("`");
  }
  return text;
}

}  // namespace rg
