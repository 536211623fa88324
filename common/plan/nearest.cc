#include "common/plan/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace dynbench::plan {
namespace {

constexpr size_t kSuggestions = 3;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> Nearest(std::string_view name,
                                 const std::vector<std::string>& candidates) {
  const std::string wanted = Lower(name);
  if (wanted.empty()) return {};
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const std::string known = Lower(candidate);
    const size_t distance = EditDistance(wanted, known);
    const bool begins = wanted.size() >= 3 && (known.starts_with(wanted) ||
                                               (known.size() >= 3 && wanted.starts_with(known)));
    if (distance <= std::max<size_t>(1, std::max(wanted.size(), known.size()) / 3) || begins) {
      near.emplace_back(distance, candidate);
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near) {
    // What is more than twice as far as the best is noise beside it.
    if (names.size() == kSuggestions || distance > 2 * near.front().first) break;
    if (names.empty() || names.back() != candidate) names.push_back(std::move(candidate));
  }
  return names;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> names = Nearest(name, candidates);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? " (did you mean " : i + 1 == names.size() ? " or " : ", ";
    text += "\"" + names[i] + "\"";
  }
  return text.empty() ? text : text + "?)";
}

}  // namespace dynbench::plan
