// Small texts that `submit` reads: lists of batch sizes, K=V pairs and path models. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::cli {

// Lines "name,size"; blank lines and lines that begin with # are skipped. An error names file and
// line: no comma, a size that is not a positive number, a name given twice.
absl::StatusOr<std::map<std::string, int>> ParseBatchSizes(std::string_view text,
                                                           const std::string& file_name);

// {"K=V", …} for `flag`; an entry without "=", with an empty key or a key given twice is an error.
absl::StatusOr<std::map<std::string, std::string>> ParsePairs(
    const std::string& flag, const std::vector<std::string>& entries);

struct PathModel {
  std::string path;        // as given; must be absolute
  std::string class_name;  // of the torch.nn.Module in it
};
// "path:/abs/model.py,class:Name" (upstream's spelling: comma between pairs, colon after the key).
absl::StatusOr<PathModel> ParsePathModel(std::string_view text);
bool IsPathModel(std::string_view only);

}  // namespace dynbench::cli
