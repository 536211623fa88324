#include "tools/dynbenchctl/request_files.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace dynbench::cli {
namespace {

std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> Split(std::string_view text, char separator) {
  return absl::StrSplit(std::string(text), separator);
}

}  // namespace

absl::StatusOr<std::map<std::string, int>> ParseBatchSizes(std::string_view text,
                                                           const std::string& file_name) {
  std::map<std::string, int> sizes;
  int number = 0;
  for (const std::string& raw : Split(text, '\n')) {
    ++number;
    const std::string line = Trim(raw);
    if (line.empty() || line[0] == '#') continue;
    const std::string where = file_name + ":" + std::to_string(number) + ": ";
    const size_t comma = line.rfind(',');
    if (comma == std::string::npos) {
      return absl::InvalidArgumentError(where + "'" + line + "' is not of the form name,size");
    }
    const std::string name = Trim(line.substr(0, comma));
    const std::string word = Trim(line.substr(comma + 1));
    int size = 0;
    if (name.empty() || !absl::SimpleAtoi(word, &size) || size < 1) {
      return absl::InvalidArgumentError(where + "'" + line +
                                        "': wants a model's name and a size of at least 1");
    }
    if (!sizes.emplace(name, size).second) {
      return absl::InvalidArgumentError(where + "'" + name + "' has a size already; keep one");
    }
  }
  if (sizes.empty()) {
    return absl::InvalidArgumentError(file_name + ": holds no line of the form name,size");
  }
  return sizes;
}

absl::StatusOr<std::map<std::string, std::string>> ParsePairs(
    const std::string& flag, const std::vector<std::string>& entries) {
  std::map<std::string, std::string> pairs;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return absl::InvalidArgumentError(flag + " '" + entry + "': wants KEY=VALUE");
    }
    if (!pairs.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second) {
      return absl::InvalidArgumentError(flag + " '" + entry + "': the key is given twice");
    }
  }
  return pairs;
}

bool IsPathModel(std::string_view only) { return only.substr(0, 5) == "path:"; }

absl::StatusOr<PathModel> ParsePathModel(std::string_view text) {
  const std::string wanted =
      "--only '" + std::string(text) + "': wants path:/absolute/model.py,class:Name; ";
  PathModel model;
  for (const std::string& pair : Split(text, ',')) {
    const size_t colon = pair.find(':');
    const std::string key = pair.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : pair.substr(colon + 1);
    std::string* target = key == "path"    ? &model.path
                          : key == "class" ? &model.class_name
                                           : nullptr;
    if (target == nullptr) {
      return absl::InvalidArgumentError(wanted + "'" + key + "' is neither path nor class");
    }
    if (!target->empty()) return absl::InvalidArgumentError(wanted + key + " is given twice");
    *target = value;
  }
  if (model.path.empty() || model.path[0] != '/') {
    return absl::InvalidArgumentError(wanted + "the path is not absolute");
  }
  if (model.class_name.empty()) return absl::InvalidArgumentError(wanted + "the class is missing");
  for (const char c : model.class_name) {
    // ASCII names of Python, and letters of other scripts, which Python judges itself.
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0) continue;
    return absl::InvalidArgumentError(wanted + "'" + model.class_name + "' is no name of a class");
  }
  return model;
}

}  // namespace dynbench::cli
