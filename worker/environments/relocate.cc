#include "worker/environments/relocate.h"

#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dynbench::worker {
namespace {

constexpr size_t kLongestShebang = 127;  // of a Linux before 5.1

// A longer name that begins alike is another place.
bool EndsHere(std::string_view text, size_t end) {
  if (end >= text.size()) return true;
  const auto c = static_cast<unsigned char>(text[end]);
  return !(isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c >= 0x80);
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  while (true) {
    const size_t at = text.find(from);
    if (at == std::string_view::npos) break;
    result.append(text.substr(0, at));
    result.append(EndsHere(text, at + from.size()) ? to : from);
    text.remove_prefix(at + from.size());
  }
  result.append(text);
  return result;
}

}  // namespace

bool MayNameItsPlace(std::string_view path) {
  const auto ends = [&](std::string_view end) {
    return path.size() >= end.size() && path.substr(path.size() - end.size()) == end;
  };
  return path.substr(0, 4) == "bin/" || path == "pyvenv.cfg" || ends(".pth") || ends(".egg-link") ||
         ends("/direct_url.json");
}

std::string Relocate(std::string_view text, std::string_view from, std::string_view to) {
  const std::string shebang = absl::StrCat("#!", std::string(from), "/");
  if (text.substr(0, shebang.size()) != shebang) return ReplaceAll(text, from, to);
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string program = absl::StrCat(
      std::string(to), std::string(text.substr(2 + from.size(), end - 2 - from.size())));
  const std::string rest = ReplaceAll(text.substr(end), from, to);
  if (program.find(' ') == std::string::npos && program.size() + 2 <= kLongestShebang) {
    return absl::StrCat("#!", program, rest);
  }
  return absl::StrCat("#!/bin/sh\n'''exec' \"", program, "\" \"$0\" \"$@\"\n' '''", rest);
}

}  // namespace dynbench::worker
