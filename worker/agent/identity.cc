#include "worker/agent/identity.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "nlohmann/json.hpp"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

constexpr char kSchema[] = "dynbench.identity/1";

std::string NewId() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) {
    random = static_cast<uint64_t>(MonotonicNow().ns) ^ (static_cast<uint64_t>(getpid()) << 40);
  }
  char host[256] = "worker";
  gethostname(host, sizeof host - 1);
  return absl::StrFormat("%s-%012x", host, random & 0xffffffffffff);
}

absl::StatusOr<WorkerId> ReadOrMakeId(const std::string& path) {
  const auto text = ReadWholeFile(path);
  if (text.ok()) {
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_object() && json.value("schema", "") == kSchema &&
        !json.value("worker_id", "").empty()) {
      return WorkerId(json.value("worker_id", ""));
    }
    return absl::DataLossError(
        absl::StrCat(path, " is damaged; remove it to give this worker a new identity"));
  }
  if (!absl::IsNotFound(text.status())) return text.status();
  const WorkerId id(NewId());
  const nlohmann::json json = {
      {"schema", kSchema}, {"worker_id", id.value}, {"created_unix_ms", UnixNow().ms}};
  RETURN_IF_ERROR(WriteFileDurably(path, json.dump(2) + "\n"));
  return id;
}

}  // namespace

std::string NetworkFileSystem(const std::string& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0) return "";
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x6969:
      return "NFS";
    case 0xFF534D42:
    case 0xFE534D42:
      return "SMB";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0x00C36400:
      return "Ceph";
    case 0x5346414F:
      return "AFS";
    default:
      return "";
  }
}

absl::StatusOr<Identity> Identity::Open(const std::string& state_dir) {
  RETURN_IF_ERROR(MakePrivateFolder(state_dir));
  const std::string network = NetworkFileSystem(state_dir);
  if (!network.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the state folder ", state_dir, " is on ", network,
        ", where locks and fsync cannot be relied on; give --state-dir on a local disk"));
  }
  const std::string lock_path = state_dir + "/lock";
  Identity identity;
  identity.lock_.reset(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!identity.lock_) {
    return absl::PermissionDeniedError(absl::StrCat(lock_path, ": ", strerror(errno)));
  }
  if (flock(identity.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    const auto holder = ReadWholeFile(lock_path);
    return absl::AlreadyExistsError(
        absl::StrCat("the state folder ", state_dir, " is in use by process ",
                     holder.ok() && !holder->empty() ? *holder : std::string("(unknown)"),
                     "; stop that worker, or give this one its own --state-dir"));
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(identity.lock_.get(), 0) != 0 ||
      pwrite(identity.lock_.get(), pid.data(), pid.size(), 0) < 0) {
    return absl::UnavailableError(absl::StrCat(lock_path, ": ", strerror(errno)));
  }
  ASSIGN_OR_RETURN(identity.id_, ReadOrMakeId(state_dir + "/identity.json"));
  return identity;
}

}  // namespace dynbench::worker
