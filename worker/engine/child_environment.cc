#include "worker/engine/child_environment.h"

#include <unistd.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "worker/process/owned_mark.h"

extern char** environ;

namespace dynbench::worker {
namespace {

// Who and where, the compilers that inductor calls, caches of model weights (large, shared on
// purpose, read by content), devices, certificates.
constexpr const char* kAllowed[] = {"PATH",
                                    "HOME",
                                    "USER",
                                    "LOGNAME",
                                    "LANG",
                                    "LANGUAGE",
                                    "TZ",
                                    "LD_LIBRARY_PATH",
                                    "CC",
                                    "CXX",
                                    "HF_HOME",
                                    "HF_HUB_CACHE",
                                    "HF_HUB_OFFLINE",
                                    "TORCH_HOME",
                                    "XDG_CACHE_HOME",
                                    "CUDA_VISIBLE_DEVICES",
                                    "CUDA_HOME",
                                    "CUDA_PATH",
                                    "SSL_CERT_FILE",
                                    "SSL_CERT_DIR",
                                    "REQUESTS_CA_BUNDLE",
                                    kOwnerVariable};
// Needed to fetch weights in some networks; one that holds a password is not passed.
constexpr const char* kProxies[] = {"http_proxy", "https_proxy", "no_proxy",
                                    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};

}  // namespace

Variables ChildEnvironment(const Variables& ours, const plan::LaunchProfile& profile,
                           const std::vector<std::string>& preload, const std::string& tmp_dir) {
  Variables child;
  for (const char* name : kAllowed) {
    const auto it = ours.find(name);
    if (it != ours.end()) child.insert(*it);
  }
  for (const char* name : kProxies) {
    const auto it = ours.find(name);
    if (it != ours.end() && !absl::StrContains(it->second, "@")) child.insert(*it);
  }
  for (const auto& [name, value] : ours) {
    if (absl::StartsWith(name, "LC_")) child[name] = value;
  }
  child.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  child.try_emplace("HOME", tmp_dir);
  child["TMPDIR"] = tmp_dir;
  // Output reaches the log when it is written, also of a process that is killed.
  child["PYTHONUNBUFFERED"] = "1";
  // Else CUDA is initialised by the question whether there is one, and no fork can use it.
  child["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1";
  for (const auto& [name, value] : profile.environment) child[name] = value;
  if (!profile.numa.empty()) child["DYNBENCH_NUMA"] = profile.numa;  // worker/runner/numa.h
  if (!preload.empty()) child["LD_PRELOAD"] = absl::StrJoin(preload, ":");
  return child;
}

Variables OwnEnvironment() {
  Variables ours;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) ours[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return ours;
}

absl::StatusOr<std::vector<std::string>> ResolvePreload(const plan::LaunchProfile& profile,
                                                        const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  for (const std::string& library : profile.preload) {
    std::string path;
    if (absl::StrContains(library, "/")) {
      if (access(library.c_str(), R_OK) == 0) path = library;
    } else {
      for (const std::string& folder : folders) {
        const std::string candidate = absl::StrCat(folder, "/", library);
        if (access(candidate.c_str(), R_OK) != 0) continue;
        path = candidate;
        break;
      }
    }
    if (path.empty()) {
      return absl::NotFoundError(
          absl::StrCat("launch profile ", profile.name, " preloads ", library,
                       ", which is in none of: ", absl::StrJoin(folders, ", "), "; install it"));
    }
    found.push_back(path);
  }
  return found;
}

std::vector<std::string> LibraryFolders(const std::string& torch_dir) {
  // site-packages/torch is four below the environment's prefix: lib/pythonX.Y/site-packages/torch.
  const std::filesystem::path prefix = std::filesystem::path(torch_dir) / "../../../..";
#if defined(__aarch64__)
  const char* multiarch = "aarch64-linux-gnu";
#else
  const char* multiarch = "x86_64-linux-gnu";
#endif
  return {(prefix / "lib").lexically_normal().string(),
          torch_dir + "/lib",
          absl::StrCat("/usr/lib/", multiarch),
          absl::StrCat("/lib/", multiarch),
          "/usr/local/lib",
          "/usr/lib64",
          "/usr/lib"};
}

}  // namespace dynbench::worker
