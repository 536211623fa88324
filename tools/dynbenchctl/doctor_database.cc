#include "tools/dynbenchctl/doctor_database.h"

#include <sys/statvfs.h>

#include <filesystem>

#include "absl/strings/str_format.h"
#include "common/store/backup.h"
#include "common/store/file_system.h"
#include "common/store/store.h"
#include "common/store/wal_readers.h"

namespace dynbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCheckLimitMs = 10'000;
// The coordinator empties its log from 32 MiB on; several times that is somebody's doing.
constexpr int64_t kWalWarnBytes = int64_t{256} << 20;
constexpr int64_t kDiskLowBytes = int64_t{2} << 30;  // as a worker's --disk-low-mib

std::string Mib(int64_t bytes) { return absl::StrFormat("%d MiB", bytes >> 20); }

Check Integrity(const std::string& path) {
  const auto db = store::Database::Open(path, store::Access::kReadOnly);
  if (!db.ok()) return {"database", false, std::string(db.status().message())};
  const absl::Status status = store::QuickCheck(**db, kCheckLimitMs);
  if (absl::IsDeadlineExceeded(status)) {
    return {"database", true, path + ", too large to be checked in 10 s: back it up, which checks"};
  }
  if (!status.ok()) return {"database", false, std::string(status.message())};
  return {"database", true, path + ", checked"};
}

Check Log(const std::string& path) {
  const int64_t bytes = store::WalBytes(path);
  const auto readers = store::WalReaders(path);
  std::string finding = Mib(bytes);
  if (!readers.empty()) finding += ", read by " + store::Describe(readers);
  if (bytes <= kWalWarnBytes) return {"log", true, finding};
  return {"log", false,
          finding + "; it cannot be emptied while an old state is read: end that reader"};
}

Check Disk(const std::string& folder) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) return {"disk", false, folder + ": cannot be read"};
  const auto free = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  const std::string finding = Mib(free) + " free in " + folder;
  if (free >= kDiskLowBytes) return {"disk", true, finding};
  return {"disk", false, finding + "; make room: results cannot be stored on a full disk"};
}

}  // namespace

std::vector<Check> CheckDatabase(const std::string& path) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) {
    return {{"database", !path.empty(), path + ", on the coordinator's host: not looked at"}};
  }
  const std::string folder = fs::path(path).parent_path().string();
  const absl::Status local = store::CheckFileSystem(folder.empty() ? "." : folder);
  std::vector<Check> checks = {Integrity(path), Log(path), Disk(folder.empty() ? "." : folder)};
  if (!local.ok()) checks.push_back({"file system", false, std::string(local.message())});
  return checks;
}

}  // namespace dynbench::cli
