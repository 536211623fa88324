#include "worker/host/claims.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {
namespace {

// False when the name is too long for an address.
bool MakeAddress(const std::string& scope, const std::string& what, sockaddr_un* address,
                 socklen_t* size) {
  const std::string name = absl::StrCat("dynbench/", scope, "/", what);
  *address = {};
  address->sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address->sun_path) return false;
  memcpy(address->sun_path + 1, name.data(), name.size());
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return true;
}

// The process that has the socket with this inode open; nothing when it may not be looked at.
std::optional<pid_t> OwnerOfSocket(const std::string& inode) {
  const std::string wanted = absl::StrCat("socket:[", inode, "]");
  for (const ProcessStat& process : ListProcesses()) {
    std::error_code error;
    const auto folder = absl::StrCat("/proc/", process.pid, "/fd");
    for (const auto& fd : std::filesystem::directory_iterator(folder, error)) {
      if (std::filesystem::read_symlink(fd.path(), error) == wanted) return process.pid;
    }
  }
  return std::nullopt;
}

template <typename T>
std::vector<T> Part(const std::vector<T>& all, const Share& share) {
  const size_t begin = all.size() * (share.index - 1) / share.count;
  const size_t end = all.size() * share.index / share.count;
  return {all.begin() + begin, all.begin() + end};
}

}  // namespace

std::string Claims::ScopeFromEnvironment() {
  const char* scope = getenv("DYNBENCH_CLAIMS_SCOPE");
  return scope != nullptr && *scope != 0 ? scope : "host";
}

absl::Status Claims::Claim(const std::string& what) {
  if (held_.count(what) > 0) return absl::OkStatus();
  sockaddr_un address;
  socklen_t size = 0;
  if (!MakeAddress(scope_, what, &address, &size)) {
    return absl::InvalidArgumentError(absl::StrCat("the claims scope is too long: ", scope_));
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return absl::ResourceExhaustedError(absl::StrCat("socket: ", strerror(errno)));
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    if (errno != EADDRINUSE) {
      return absl::UnavailableError(absl::StrCat("claim of ", what, ": ", strerror(errno)));
    }
    const auto holder = Holder(what);
    return absl::AlreadyExistsError(
        absl::StrCat(what, " is held by ",
                     holder ? absl::StrCat("process ", *holder) : std::string("another process")));
  }
  held_[what] = std::move(socket);
  return absl::OkStatus();
}

std::optional<pid_t> Claims::Holder(const std::string& what) const {
  // Asked of /proc rather than by connecting: nobody would accept, and a backlog fills up.
  const std::string name = absl::StrCat(" @dynbench/", scope_, "/", what);
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    if (!absl::EndsWith(line, name)) continue;
    // "Num RefCount Protocol Flags Type St Inode Path"
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 7; ++i) fields >> field;
    return OwnerOfSocket(field);
  }
  return std::nullopt;
}

absl::StatusOr<Share> ParseShare(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  Share share;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &share.index) ||
      !absl::SimpleAtoi(parts[1], &share.count) || share.count < 1 || share.index < 1 ||
      share.index > share.count) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no share; write K/N with 1 <= K <= N, e.g. 1/2"));
  }
  return share;
}

std::vector<int> CpusOfShare(const std::vector<Core>& cores, const Share& share) {
  std::vector<int> cpus;
  if (static_cast<int>(cores.size()) >= share.count) {
    for (const Core& core : Part(cores, share)) {
      cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
    }
  } else {
    std::vector<int> all;
    for (const Core& core : cores) all.insert(all.end(), core.cpus.begin(), core.cpus.end());
    cpus = Part(all, share);
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::vector<Gpu> GpusOfShare(const std::vector<Gpu>& gpus, const Share& share) {
  return Part(gpus, share);
}

}  // namespace dynbench::worker
