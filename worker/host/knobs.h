// The settings of a host that tuning may change: where they are, what they are, and changing them.
//
// A place is one value of one knob: "governor/policy0", "turbo", "numa-balancing", "huge-pages",
// "gpu-clocks/GPU-…". Names, not paths: a journal that names them can make nobody write elsewhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/host/gpu_clocks.h"

namespace dynbench::worker {

// Errors name what was touched and what to do: FailedPrecondition (this host has no such setting,
// or not that value), PermissionDenied (this user may not).
class Knobs {
 public:
  virtual ~Knobs() = default;
  // One at least.
  virtual absl::StatusOr<std::vector<std::string>> Places(const std::string& knob) = 0;
  // Nothing where the host does not tell (a GPU's lock).
  virtual absl::StatusOr<std::optional<std::string>> Read(const std::string& place) = 0;
  virtual absl::Status Write(const std::string& place, const std::string& value) = 0;
};

// What a place that cannot be read is put back to.
inline constexpr char kUnlocked[] = "unlocked";

// Of this host. Thread-compatible.
class HostKnobs : public Knobs {
 public:
  // `root` is "" on a real host; tests give a folder that holds proc/ and sys/. `cpus`: whose
  // governors are meant. `gpus`: UUIDs; `clocks` outlives this.
  HostKnobs(std::string root, std::vector<int> cpus, std::vector<std::string> gpus,
            GpuClocks* clocks);

  absl::StatusOr<std::vector<std::string>> Places(const std::string& knob) override;
  absl::StatusOr<std::optional<std::string>> Read(const std::string& place) override;
  absl::Status Write(const std::string& place, const std::string& value) override;

 private:
  // Where the kernel keeps one value, and how it spells the words of ours; without words: as it is.
  struct File {
    std::string path;
    std::map<std::string, std::string> words = {};
  };
  absl::StatusOr<File> FileOf(const std::string& place) const;
  absl::StatusOr<std::vector<std::string>> GovernorPlaces() const;
  absl::Status WriteClocks(const std::string& uuid, const std::string& value);

  const std::string root_;
  const std::vector<int> cpus_;
  const std::vector<std::string> gpus_;
  GpuClocks* const clocks_;
};

}  // namespace dynbench::worker
