#include "worker/host/environment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/recipe.h"
#include "nlohmann/json.hpp"
#include "worker/host/durable_file.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

constexpr char kSchema[] = "dynbench.environment/1";

// Relative to torch's folder. The compiler is Python, so version.py (which holds the commit)
// counts.
constexpr const char* kTorchFiles[] = {
    "lib/libtorch_cpu.so",  "lib/libtorch_python.so", "lib/libc10.so", "lib/libtorch.so",
    "lib/libtorch_cuda.so", "lib/libc10_cuda.so",     "version.py"};
constexpr const char* kNeededFiles[] = {"lib/libtorch_cpu.so", "lib/libtorch_python.so",
                                        "lib/libc10.so", "version.py"};

absl::StatusOr<HashedFile> Identify(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  }
  HashedFile file;
  file.size_bytes = info.st_size;
  file.modified_ns = info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
  return file;
}

absl::StatusOr<std::string> HashFile(const std::string& path, int64_t size_bytes) {
  if (size_bytes == 0) return Sha256Hex("");
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  const size_t size = static_cast<size_t>(size_bytes);
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (bytes == MAP_FAILED) return absl::UnavailableError(absl::StrCat(path, ": cannot be mapped"));
  const std::string hex = Sha256Hex({static_cast<const char*>(bytes), size});
  munmap(bytes, size);
  return hex;
}

std::string RecordPath(const std::string& environments_dir, const std::string& name) {
  return absl::StrCat(environments_dir, "/", name, ".json");
}

nlohmann::json FilesToJson(const std::map<std::string, HashedFile>& files) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [path, file] : files) {
    json[path] = {{"size_bytes", file.size_bytes},
                  {"modified_ns", file.modified_ns},
                  {"sha256", file.sha256}};
  }
  return json;
}

std::map<std::string, HashedFile> FilesFromJson(const nlohmann::json& json) {
  std::map<std::string, HashedFile> files;
  for (const auto& [path, file] : json.items()) {
    files[path] = {file.at("size_bytes"), file.at("modified_ns"), file.at("sha256")};
  }
  return files;
}

absl::Status CheckSame(const Environment& e, const std::string& folder,
                       const std::map<std::string, HashedFile>& files) {
  for (const auto& [name, known] : files) {
    const auto now = Identify(absl::StrCat(folder, "/", name));
    if (now.ok() && now->size_bytes == known.size_bytes && now->modified_ns == known.modified_ns) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "environment ", e.name, " changed since it was added (", name, "); ",
        e.id.empty()
            ? absl::StrCat("run: dynbench-worker env add ", e.name, " --python ", e.facts.python)
            : std::string("remove it and build it again")));
  }
  return absl::OkStatus();
}

EnvironmentFacts FactsFromJson(const nlohmann::json& json) {
  EnvironmentFacts f;
  f.python = json.at("python");
  f.python_version = json.at("python_version");
  f.python_include_dir = json.at("python_include_dir");
  f.python_library_dir = json.at("python_library_dir");
  f.python_library = json.at("python_library");
  f.torch_version = json.at("torch_version");
  f.torch_git = json.at("torch_git");
  f.torch_dir = json.at("torch_dir");
  f.torch_cxx11_abi = json.at("torch_cxx11_abi");
  f.packages = json.at("packages").get<std::map<std::string, std::string>>();
  f.devices = json.at("devices").get<std::vector<std::string>>();
  f.suites = json.at("suites").get<std::vector<std::string>>();
  f.capabilities = json.value("capabilities", std::vector<std::string>());
  return f;
}

}  // namespace

nlohmann::json ToJson(const Environment& e) {
  const EnvironmentFacts& f = e.facts;
  nlohmann::json json = {{"schema", kSchema},
                         {"name", e.name},
                         {"python", f.python},
                         {"python_version", f.python_version},
                         {"python_include_dir", f.python_include_dir},
                         {"python_library_dir", f.python_library_dir},
                         {"python_library", f.python_library},
                         {"torch_version", f.torch_version},
                         {"torch_git", f.torch_git},
                         {"torch_dir", f.torch_dir},
                         {"torch_cxx11_abi", f.torch_cxx11_abi},
                         {"packages", f.packages},
                         {"devices", f.devices},
                         {"suites", f.suites},
                         {"capabilities", f.capabilities},
                         {"files", FilesToJson(e.files)},
                         {"hash", e.hash},
                         {"runner_dir", e.runner_dir}};
  if (e.id.empty()) return json;
  json["id"] = e.id;
  json["origin"] = e.origin_json;
  json["prefix"] = e.prefix;
  json["of_fleet"] = e.of_fleet;
  json["changed_files"] = FilesToJson(e.changed_files);
  return json;
}

absl::StatusOr<Environment> EnvironmentFromJson(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("schema") != kSchema) {
      return absl::InvalidArgumentError("not a record of this version; run env add again");
    }
    Environment e;
    e.name = json.at("name");
    e.facts = FactsFromJson(json);
    e.files = FilesFromJson(json.at("files"));
    if (json.contains("id")) {
      e.id = json.at("id");
      e.origin_json = json.at("origin");
      e.prefix = json.at("prefix");
      e.of_fleet = json.at("of_fleet");
      e.changed_files = FilesFromJson(json.at("changed_files"));
    }
    e.hash = json.at("hash");
    e.runner_dir = json.at("runner_dir");
    RETURN_IF_ERROR(CheckEnvironmentName(e.name));
    return e;
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not an environment record: ", error.what()));
  }
}

absl::Status CheckEnvironmentName(const std::string& name) {
  return plan::CheckEnvironmentName(name);
}

absl::StatusOr<std::map<std::string, HashedFile>> HashTorchFiles(
    const std::string& torch_dir, const std::map<std::string, HashedFile>& known) {
  std::map<std::string, HashedFile> files;
  for (const char* name : kTorchFiles) {
    const std::string path = absl::StrCat(torch_dir, "/", name);
    auto file = Identify(path);
    if (!file.ok()) continue;
    const auto it = known.find(name);
    if (it != known.end() && it->second.size_bytes == file->size_bytes &&
        it->second.modified_ns == file->modified_ns) {
      file->sha256 = it->second.sha256;
    } else {
      ASSIGN_OR_RETURN(file->sha256, HashFile(path, file->size_bytes));
    }
    files[name] = *file;
  }
  for (const char* name : kNeededFiles) {
    if (files.count(name) == 0) {
      return absl::NotFoundError(
          absl::StrCat(torch_dir, " lacks ", name, ": not a torch with LibTorch"));
    }
  }
  return files;
}

std::string EnvironmentHash(const std::map<std::string, HashedFile>& files) {
  std::string text;
  for (const auto& [path, file] : files) absl::StrAppend(&text, path, " ", file.sha256, "\n");
  return Sha256Hex(text);
}

std::string EnvironmentHash(const std::map<std::string, HashedFile>& files,
                            const std::map<std::string, HashedFile>& changed_files) {
  std::string hash = EnvironmentHash(files);
  if (changed_files.empty()) return hash;
  return Sha256Hex(absl::StrCat(hash, "\n", EnvironmentHash(changed_files)));
}

absl::StatusOr<std::map<std::string, HashedFile>> HashFiles(const std::string& folder,
                                                            const std::vector<std::string>& paths) {
  std::map<std::string, HashedFile> files;
  for (const std::string& path : paths) {
    const std::string full = absl::StrCat(folder, "/", path);
    ASSIGN_OR_RETURN(HashedFile file, Identify(full));
    ASSIGN_OR_RETURN(file.sha256, HashFile(full, file.size_bytes));
    files[path] = std::move(file);
  }
  return files;
}

absl::Status CheckFilesUnchanged(const Environment& e) {
  RETURN_IF_ERROR(CheckSame(e, e.facts.torch_dir, e.files));
  return CheckSame(e, e.prefix, e.changed_files);
}

absl::Status CheckUnchanged(const Environment& e) {
  RETURN_IF_ERROR(CheckFilesUnchanged(e));
  if (access(e.RunnerPath().c_str(), X_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("the runner of environment ", e.name,
                                                      " is gone; run: dynbench-worker env add ",
                                                      e.name, " --python ", e.facts.python));
  }
  return absl::OkStatus();
}

std::map<std::string, Environment> LoadEnvironments(const std::string& environments_dir,
                                                    std::vector<std::string>* problems) {
  std::map<std::string, Environment> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(environments_dir, error)) {
    if (entry.path().extension() != ".json") continue;
    auto environment = LoadEnvironment(environments_dir, entry.path().stem());
    if (environment.ok()) {
      const std::string name = environment->name;
      found[name] = *std::move(environment);
    } else if (problems != nullptr) {
      problems->push_back(std::string(environment.status().message()));
    }
  }
  return found;
}

absl::StatusOr<Environment> LoadEnvironment(const std::string& environments_dir,
                                            const std::string& name) {
  const std::string path = RecordPath(environments_dir, name);
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  auto environment = EnvironmentFromJson(text);
  if (!environment.ok()) return Annotate(environment.status(), path);
  if (environment->name != name) {
    return absl::InvalidArgumentError(absl::StrCat(path, " names ", environment->name));
  }
  return environment;
}

absl::Status SaveEnvironment(const std::string& environments_dir, const Environment& environment) {
  RETURN_IF_ERROR(CheckEnvironmentName(environment.name));
  RETURN_IF_ERROR(MakePrivateFolder(environments_dir));
  return WriteFileDurably(RecordPath(environments_dir, environment.name),
                          ToJson(environment).dump(2) + "\n");
}

absl::Status RemoveEnvironment(const std::string& environments_dir, const std::string& name) {
  RETURN_IF_ERROR(CheckEnvironmentName(name));
  const std::string path = RecordPath(environments_dir, name);
  if (access(path.c_str(), F_OK) == 0) return RemoveFileDurably(path);
  std::vector<std::string> names;
  for (const auto& [other, unused] : LoadEnvironments(environments_dir, nullptr)) {
    names.push_back(other);
  }
  return absl::NotFoundError(absl::StrCat(
      "no environment ", name, " in ", environments_dir,
      "; there are: ", names.empty() ? std::string("none") : absl::StrJoin(names, ", ")));
}

}  // namespace dynbench::worker
