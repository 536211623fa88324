#include "worker/environments/take_files.h"

#include <filesystem>

#include "common/base/object_folder.h"
#include "common/base/status.h"

namespace dynbench::worker {

namespace fs = std::filesystem;

std::string PrefixOf(const Environment& environment) {
  return fs::path(environment.facts.python).parent_path().parent_path().string();
}

absl::StatusOr<int64_t> TakeFiles(const Manifest& manifest, const Environment& from,
                                  const ObjectStore& store, const std::atomic<bool>& stopping) {
  const fs::path prefix = PrefixOf(from);
  int64_t taken = 0;
  for (const ManifestFile& file : manifest.files) {
    if (stopping) return absl::CancelledError("the worker is stopping");
    if (file.size_bytes == 0 || store.HasWhole(file)) continue;
    std::error_code error;
    const fs::path path = prefix / file.path;
    if (!fs::is_regular_file(path, error) ||
        static_cast<int64_t>(fs::file_size(path, error)) != file.size_bytes) {
      continue;
    }
    const auto digest = Sha256OfFile(path.string());
    if (!digest.ok() || *digest != file.sha256) continue;
    const absl::Status adopted = store.Adopt(path.string(), file, /*ours=*/!from.id.empty());
    // On a full disk no other file fits either; one that cannot be read is sent.
    if (absl::IsResourceExhausted(adopted)) return adopted;
    taken += adopted.ok() ? 1 : 0;
  }
  return taken;
}

}  // namespace dynbench::worker
