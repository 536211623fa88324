#include "worker/agent/file_fetcher.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kFirstDelayMs = 250;
constexpr int64_t kLastDelayMs = 8'000;

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool MaySucceedLater(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsDeadlineExceeded(status);
}

}  // namespace

int64_t FetchDelayMs(int failures, double random) {
  const int64_t whole = std::min(kLastDelayMs, kFirstDelayMs << std::min(failures, 10));
  return whole / 2 + static_cast<int64_t>(random * static_cast<double>(whole) / 2);
}

absl::StatusOr<std::string> FileFetcher::Get(const std::string& sha256) {
  if (!IsSha256(sha256)) {
    return absl::InvalidArgumentError(absl::StrCat("no content address: ", sha256));
  }
  const MutexLock lock(mu_);
  const std::string path = absl::StrCat(folder_, "/", sha256, ".py");
  const auto present = ReadWholeFile(path);
  if (present.ok() && Sha256Hex(*present) == sha256) return path;
  absl::StatusOr<std::string> bytes = services_.fetch(sha256);
  for (int failures = 0; !bytes.ok() && MaySucceedLater(bytes.status()) && failures + 1 < kTries;
       ++failures) {
    services_.wait(FetchDelayMs(failures, services_.random()));
    bytes = services_.fetch(sha256);
  }
  if (!bytes.ok()) return bytes.status();
  if (Sha256Hex(*bytes) != sha256) {
    return absl::DataLossError(absl::StrCat("file ", sha256, " came with other content"));
  }
  RETURN_IF_ERROR(MakePrivateFolder(folder_));
  RETURN_IF_ERROR(WriteFileDurably(path, *bytes));
  return path;
}

}  // namespace dynbench::worker
