#include "common/plan/plan_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dynbench::plan {
namespace {

// The end of the value that begins at `at`: the first comma or closing brace at its own depth.
// npos: there is none.
size_t EndOfValue(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) {
          if (text[at] == '\\') ++at;
        }
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case ']':
        --depth;
        break;
      case '}':
        if (depth-- == 0) return at;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default:
        break;
    }
  }
  return std::string_view::npos;
}

// How many bytes both begin with.
size_t CommonLength(std::string_view a, std::string_view b) {
  constexpr size_t kBlock = 64;
  const size_t size = std::min(a.size(), b.size());
  size_t at = 0;
  while (at + kBlock <= size && std::memcmp(a.data() + at, b.data() + at, kBlock) == 0) {
    at += kBlock;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

std::optional<std::vector<PlanMember>> CutMembers(std::string_view text) {
  if (text.size() < 2 || text.front() != '{') return std::nullopt;
  std::vector<PlanMember> members;
  size_t at = 1;
  while (true) {
    if (at >= text.size() || text[at] != '"') return std::nullopt;
    const size_t quote = text.find_first_of("\"\\", at + 1);
    if (quote == std::string_view::npos || text[quote] != '"') return std::nullopt;
    if (quote + 1 >= text.size() || text[quote + 1] != ':') return std::nullopt;
    const size_t end = EndOfValue(text, quote + 2);
    if (end == std::string_view::npos) return std::nullopt;
    const PlanMember member{at, quote - at - 1, end};
    if (!members.empty() && members.back().key(text) >= member.key(text)) return std::nullopt;
    members.push_back(member);
    at = end;
    if (text[at] == '}') {
      if (at + 1 != text.size()) return std::nullopt;
      return members;
    }
    ++at;
  }
}

bool PlanText::Next(std::string_view text) {
  changed_.clear();
  const bool follows = !members_.empty() && Follow(text);
  if (!follows) members_ = CutMembers(text).value_or(std::vector<PlanMember>());
  text_.assign(text);
  return follows;
}

// Leaves members_ as those of `text`; when it returns false, as they come.
bool PlanText::Follow(std::string_view text) {
  const std::string_view before = text_;
  if (text.substr(0, 1) != "{") return false;
  size_t done = 0;     // of `before`
  size_t shifted = 0;  // members
  size_t at = 0;       // done in `text`
  const auto shift_to = [&](size_t index) {
    for (; shifted < index; ++shifted) {
      members_[shifted].begin += at - done;  // wraps around where the text became shorter
      members_[shifted].end += at - done;
    }
  };
  while (true) {
    const size_t common = CommonLength(before.substr(done), text.substr(at));
    if (done + common == before.size()) {
      shift_to(members_.size());
      return at + common == text.size();
    }
    // The member in which, or at whose end, they part.
    size_t index = shifted;
    while (index < members_.size() && members_[index].end < done + common) ++index;
    if (index == members_.size()) return false;
    shift_to(index);
    PlanMember& member = members_[index];
    const size_t end_before = member.end;
    const size_t begin = member.begin + (at - done);
    const std::string_view start = before.substr(member.begin, member.key_size + 3);
    if (begin > text.size() || text.substr(begin, start.size()) != start) return false;
    const size_t end = EndOfValue(text, begin + start.size());
    if (end == std::string_view::npos || text[end] != before[end_before]) return false;
    member = {begin, member.key_size, end};
    changed_.push_back(index);
    shifted = index + 1;
    done = end_before;
    at = end;
  }
}

std::optional<std::string> PlanChanges::Next(std::string_view text) {
  if (!plan_.Next(text)) return std::nullopt;
  std::string changes = "{";
  for (const size_t index : plan_.changed()) {
    const PlanMember& member = plan_.member(index);
    if (member.key(text) == "source") continue;
    absl::StrAppend(&changes, changes.size() > 1 ? "," : "", std::string(member.whole(text)));
  }
  return changes + "}";
}

}  // namespace dynbench::plan
