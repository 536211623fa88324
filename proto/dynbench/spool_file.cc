#include "proto/dynbench/spool_file.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/sha256.h"

namespace dynbench::proto {
namespace {

constexpr char kMagic[] = "dynbench.spool/1";

}  // namespace

std::string EncodeSpoolFile(const v1::AttemptFinished& finished) {
  const std::string body = finished.SerializeAsString();
  return absl::StrCat(kMagic, " ", body.size(), " ", Sha256Hex(body), "\n", body);
}

std::optional<v1::AttemptFinished> DecodeSpoolFile(const std::string& text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::vector<std::string> head = absl::StrSplit(text.substr(0, end), ' ');
  const std::string body = text.substr(end + 1);
  size_t size = 0;
  if (head.size() != 3 || head[0] != kMagic || !absl::SimpleAtoi(head[1], &size) ||
      size != body.size() || Sha256Hex(body) != head[2]) {
    return std::nullopt;
  }
  v1::AttemptFinished finished;
  if (!finished.ParseFromString(body) || finished.attempt().experiment() == 0) return std::nullopt;
  return finished;
}

}  // namespace dynbench::proto
