#include "worker/environments/patch_check.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"

namespace dynbench::worker {
namespace {

constexpr char kNothing[] = "/dev/null";

struct Header {
  std::string before, after;
};

// "--- a/torch/x.py\t2026-11-30 …" -> "a/torch/x.py"
std::string NameOf(std::string_view line) {
  std::string name(line.substr(4));
  name = name.substr(0, name.find('\t'));
  while (!name.empty() && (name.back() == ' ' || name.back() == '\r')) name.pop_back();
  return name;
}

bool IsInside(const std::string& path) {
  for (const auto part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return !path.empty();
}

absl::Status Refuse(const std::string& file, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("the patch: ", file, " ", why));
}

// The headers of a diff: the lines of hunks are counted, so that a removed line that looks like a
// header is none.
absl::StatusOr<std::vector<Header>> ReadHeaders(std::string_view patch) {
  std::vector<Header> headers;
  std::optional<std::string> before;
  int left_old = 0, left_new = 0;
  for (const auto& piece : absl::StrSplit(std::string(patch), '\n')) {
    const std::string line(piece);
    if (left_old > 0 || left_new > 0) {
      const char kind = line.empty() ? ' ' : line[0];
      if (kind == ' ' || kind == '-') --left_old;
      if (kind == ' ' || kind == '+') --left_new;
      continue;
    }
    if (absl::StartsWith(line, "GIT binary patch") || absl::StartsWith(line, "Binary files ")) {
      return absl::InvalidArgumentError(
          "the patch changes a binary file; only files of Python can be derived");
    }
    for (const char* word : {"rename from ", "copy from "}) {
      if (absl::StartsWith(line, word)) {
        return Refuse(line.substr(std::string_view(word).size()),
                      "is renamed or copied; write it as a new file (git diff --no-renames)");
      }
    }
    if (absl::StartsWith(line, "--- ")) {
      before = NameOf(line);
    } else if (absl::StartsWith(line, "+++ ") && before) {
      headers.push_back({*before, NameOf(line)});
      before.reset();
    } else if (absl::StartsWith(line, "@@ -")) {
      if (headers.empty()) {
        return absl::InvalidArgumentError("the patch: a hunk comes before any file name");
      }
      int old_count = 1, new_count = 1, a = 0, b = 0;
      const int both = sscanf(line.c_str(), "@@ -%d,%d +%d,%d", &a, &old_count, &b, &new_count);
      if (both < 4) {
        old_count = new_count = 1;
        if (sscanf(line.c_str(), "@@ -%d,%d +%d", &a, &old_count, &b) < 3) {
          old_count = 1;
          if (sscanf(line.c_str(), "@@ -%d +%d,%d", &a, &b, &new_count) < 3) new_count = 1;
        }
      }
      left_old = old_count;
      left_new = new_count;
    }
  }
  if (headers.empty()) {
    return absl::InvalidArgumentError(
        "the patch is no unified diff: it has no lines \"--- …\" and \"+++ …\" (git diff makes "
        "one)");
  }
  return headers;
}

}  // namespace

absl::StatusOr<PatchPlan> PlanPatch(std::string_view patch) {
  ASSIGN_OR_RETURN(const std::vector<Header> headers, ReadHeaders(patch));
  PatchPlan plan;
  const auto has_prefix = [](const std::string& name, const char* prefix) {
    return name == kNothing || absl::StartsWith(name, prefix);
  };
  plan.strip = std::all_of(headers.begin(), headers.end(),
                           [&](const Header& h) {
                             return has_prefix(h.before, "a/") && has_prefix(h.after, "b/");
                           })
                   ? 1
                   : 0;
  for (const Header& header : headers) {
    if (header.after == kNothing) {
      return Refuse(header.before, "is deleted; leave the file and empty it instead");
    }
    const std::string path = header.after.substr(plan.strip == 1 ? 2 : 0);
    if (!IsInside(path)) return Refuse(header.after, "leads out of site-packages");
    if (!absl::EndsWith(path, ".py")) {
      return Refuse(path,
                    "is no file of Python; what has to be compiled needs a recipe (env build)");
    }
    if (header.before != kNothing && header.before.substr(plan.strip == 1 ? 2 : 0) != path) {
      return Refuse(path, absl::StrCat("has another name before (", header.before, ")"));
    }
    const bool known = std::any_of(plan.files.begin(), plan.files.end(),
                                   [&](const PatchedFile& file) { return file.path == path; });
    if (known) return Refuse(path, "is there twice; join its hunks under one header");
    plan.files.push_back({path, header.before == kNothing});
  }
  return plan;
}

}  // namespace dynbench::worker
