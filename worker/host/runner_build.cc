#include "worker/host/runner_build.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/mutex.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "worker/host/durable_file.h"
#include "worker/host/split.h"
#include "worker/process/spawn.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCompileLimitMs = 900'000;
constexpr char kSourcesList[] = "worker/runner/sources.txt";

constexpr char kShimsFolder[] = "worker/runner/shims";
constexpr char kTorchLink[] = "torch_lib";  // beside the binary

void AddFiles(const std::string& root, const std::string& folder, const std::string& extension,
              std::set<std::string>* files) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/" + folder, error)) {
    if (entry.path().extension() == extension) {
      files->insert(folder + "/" + entry.path().filename().string());
    }
  }
}

std::string Getenv(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string FindProgram(const std::string& name) {
  if (absl::StrContains(name, "/")) return access(name.c_str(), X_OK) == 0 ? name : "";
  for (const std::string& folder : Split(Getenv("PATH"), ':')) {
    std::string path = absl::StrCat(folder, "/", name);
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

absl::StatusOr<std::string> FindCompiler(const std::string& wanted) {
  for (const std::string& name :
       {wanted, Getenv("CXX"), std::string("c++"), std::string("g++"), std::string("clang++")}) {
    if (name.empty()) continue;
    const std::string path = FindProgram(name);
    if (!path.empty()) return path;
  }
  return absl::FailedPreconditionError(
      "no C++ compiler found; install g++ (or set CXX): the runner is compiled on this host");
}

// The variables that a compiler needs; ccache finds its folder through HOME or CCACHE_DIR.
std::map<std::string, std::string> CompilerEnvironment(const std::string& root) {
  std::map<std::string, std::string> environment = {
      {"LANG", "C.UTF-8"}, {"CCACHE_NOHASHDIR", "1"}, {"CCACHE_BASEDIR", root}};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "CCACHE_DIR"}) {
    if (!Getenv(name).empty()) environment[name] = Getenv(name);
  }
  return environment;
}

// `torch_dir` and `include_dir` are the environment's, or what stands for them in a key.
std::vector<std::string> CompileFlags(const Environment& e, const std::string& root,
                                      const std::string& torch_dir,
                                      const std::string& include_dir) {
  const EnvironmentFacts& f = e.facts;
  return {"-O2",
          "-std=c++20",
          "-fPIC",
          "-fvisibility=hidden",
          "-Wall",
          "-Wextra",
          absl::StrCat("-D_GLIBCXX_USE_CXX11_ABI=", f.torch_cxx11_abi ? 1 : 0),
          "-DTORCH_API_INCLUDE_EXTENSION_H",
          "-I" + root,
          "-isystem",
          root + "/third_party",  // the bundle's nlohmann/json, where the host has none
          "-isystem",
          torch_dir + "/include",
          "-isystem",
          torch_dir + "/include/torch/csrc/api/include",
          "-isystem",
          include_dir};
}

// The binary finds torch through the link beside it, so that environments with the same libraries
// share it wherever each is.
std::vector<std::string> LinkFlags(const Environment& e, const std::string& torch_dir) {
  const EnvironmentFacts& f = e.facts;
  std::vector<std::string> flags = {"-L" + torch_dir + "/lib", "-L" + f.python_library_dir,
                                    absl::StrCat("-Wl,-rpath,$ORIGIN/", kTorchLink),
                                    "-Wl,-rpath," + f.python_library_dir,
                                    // Static initialisers of these register operators; nothing
                                    // refers to them by name.
                                    "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu"};
  if (e.files.count("lib/libtorch_cuda.so") > 0) flags.push_back("-ltorch_cuda");
  for (const std::string& flag :
       {std::string("-lc10"), std::string("-ltorch_python"), "-l" + f.python_library,
        std::string("-lpthread"), std::string("-ldl")}) {
    flags.push_back(flag);
  }
  return flags;
}

// Everything that decides what the binary would be.
absl::StatusOr<std::string> BuildKey(const Environment& e, const RunnerSources& sources,
                                     const std::string& compiler_version) {
  // The root is taken out of the flags: a moved source tree is the same source; and the place of
  // torch, whose libraries are named by their content.
  std::string text =
      absl::StrCat(EnvironmentHash(e.files), "\n", e.facts.python_version, "\n", compiler_version,
                   "\n", absl::StrJoin(CompileFlags(e, ".", "TORCH", "PYTHON"), " "), "\n",
                   absl::StrJoin(LinkFlags(e, "TORCH"), " "), "\n");
  for (const std::string& file : sources.files) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(absl::StrCat(sources.root, "/", file)));
    absl::StrAppend(&text, file, " ", Sha256Hex(bytes), "\n");
  }
  return Sha256Hex(text).substr(0, 32);
}

// Runs the steps of one build and keeps their output.
class Build {
 public:
  Build(const Environment& environment, const RunnerSources& sources, std::string compiler,
        const std::string& folder, const RunnerBuildOptions& options)
      : environment_(environment),
        sources_(sources),
        compiler_(std::move(compiler)),
        folder_(folder),
        options_(options),
        ccache_(FindProgram("ccache")) {}

  absl::Status Run() {
    RETURN_IF_ERROR(MakePrivateFolder(folder_ + "/shims"));
    RETURN_IF_ERROR(CopyShims());
    RETURN_IF_ERROR(CompileAll());
    std::vector<std::string> link = {compiler_, "-o", folder_ + "/dynbench-runner"};
    link.insert(link.end(), objects_.begin(), objects_.end());
    const auto flags = LinkFlags(environment_, environment_.facts.torch_dir);
    link.insert(link.end(), flags.begin(), flags.end());
    RETURN_IF_ERROR(RunStep("linking dynbench-runner", link));
    for (const std::string& object : objects_) fs::remove(object);
    return absl::OkStatus();
  }

 private:
  absl::Status CopyShims() {
    std::error_code error;
    for (const std::string& file : sources_.files) {
      if (!absl::EndsWith(file, ".py")) continue;
      fs::copy_file(sources_.root + "/" + file,
                    absl::StrCat(folder_, "/shims/", fs::path(file).filename().string()), error);
      if (error) return absl::UnavailableError(absl::StrCat(file, ": ", error.message()));
    }
    return absl::OkStatus();
  }

  absl::Status CompileAll() {
    std::vector<std::string> units;
    for (const std::string& file : sources_.files) {
      if (!absl::EndsWith(file, ".cc")) continue;
      units.push_back(file);
      objects_.push_back(absl::StrCat(folder_, "/", units.size(), ".o"));
    }
    std::atomic<size_t> next{0};
    std::vector<absl::Status> results(units.size());
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.jobs; ++i) {
      threads.emplace_back([&] {
        for (size_t unit; (unit = next.fetch_add(1)) < units.size();) {
          results[unit] = CompileOne(units[unit], objects_[unit]);
          if (!results[unit].ok()) next = units.size();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& result : results) RETURN_IF_ERROR(result);
    return absl::OkStatus();
  }

  absl::Status CompileOne(const std::string& unit, const std::string& object) {
    std::vector<std::string> command;
    if (!ccache_.empty()) command.push_back(ccache_);
    command.push_back(compiler_);
    const auto flags = CompileFlags(environment_, sources_.root, environment_.facts.torch_dir,
                                    environment_.facts.python_include_dir);
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-c", sources_.root + "/" + unit, "-o", object});
    return RunStep("compiling " + unit, command);
  }

  absl::Status RunStep(const std::string& what, const std::vector<std::string>& command) {
    if (options_.progress) options_.progress(what);
    SpawnOptions spawn;
    spawn.argv = command;
    spawn.environment = CompilerEnvironment(sources_.root);
    spawn.die_with_caller = false;  // called from threads that end; RunCommand waits for it
    const auto result = RunCommand(spawn, kCompileLimitMs);
    MutexLock lock(mu_);
    std::ofstream log(folder_ + "/compile.log", std::ios::app);
    log << absl::StrJoin(command, " ") << "\n";
    if (!result.ok()) {
      log << result.status().message() << "\n";
      return Annotate(result.status(), what);
    }
    log << result->output << "\n";
    if (result->exit.success()) return absl::OkStatus();
    const std::string& text = result->output;
    return absl::InternalError(absl::StrCat(
        what, " failed: ", text.size() > 3'000 ? "…" + text.substr(text.size() - 3'000) : text));
  }

  const Environment& environment_;
  const RunnerSources& sources_;
  const std::string compiler_;
  const std::string folder_;
  const RunnerBuildOptions& options_;
  const std::string ccache_;
  std::vector<std::string> objects_;
  Mutex mu_;  // the log file
};

// Builds in a folder beside the final one and moves it into place.
absl::Status BuildInto(const std::string& final_dir, const Environment& environment,
                       const RunnerSources& sources, const std::string& compiler,
                       const RunnerBuildOptions& options) {
  const std::string folder = absl::StrCat(final_dir, ".building");
  std::error_code error;
  fs::remove_all(folder, error);  // of a builder that was killed; the lock is ours
  absl::Status built = Build(environment, sources, compiler, folder, options).Run();
  if (!built.ok()) {
    const std::string kept = absl::StrCat(final_dir, ".failed.log");
    fs::rename(folder + "/compile.log", kept, error);
    fs::remove_all(folder, error);
    return absl::Status(built.code(),
                        absl::StrCat(std::string(built.message()), "\nthe whole log: ", kept));
  }
  fs::rename(folder, final_dir, error);
  if (error) return absl::UnavailableError(absl::StrCat(final_dir, ": ", error.message()));
  return absl::OkStatus();
}

// The folder of one environment: the binary that was built for its libraries (a link, where there
// can be one), the shims, and where its torch is.
absl::Status Place(const std::string& built, const std::string& torch_dir,
                   const std::string& final_dir) {
  const std::string folder = absl::StrCat(final_dir, ".placing");
  std::error_code error;
  fs::remove_all(folder, error);
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  const std::string name = "/dynbench-runner";
  fs::create_hard_link(built + name, folder + name, error);
  if (error) fs::copy_file(built + name, folder + name, error);
  if (!error) fs::copy(built + "/shims", folder + "/shims", error);
  if (!error) fs::create_symlink(torch_dir + "/lib", folder + "/" + kTorchLink, error);
  if (!error) fs::rename(folder, final_dir, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(final_dir, ": ", error.message()));
}

}  // namespace

absl::StatusOr<RunnerSources> LoadRunnerSources(const std::string& root) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(absl::StrCat(root, "/", kSourcesList)));
  RunnerSources sources{fs::absolute(root).lexically_normal(), {}};
  std::set<std::string> files;
  std::set<std::string> folders = {"common/base"};  // of headers that listed files may include
  for (const std::string& raw : Split(text, '\n')) {
    const std::string line(absl::StripAsciiWhitespace(raw));
    if (line.empty() || line[0] == '#') continue;
    files.insert(line);
    folders.insert(fs::path(line).parent_path());
  }
  for (const std::string& folder : folders) AddFiles(sources.root, folder, ".h", &files);
  AddFiles(sources.root, kShimsFolder, ".py", &files);
  sources.files.assign(files.begin(), files.end());
  return sources;
}

absl::StatusOr<RunnerSources> FindRunnerSources() {
  std::vector<std::string> places;
  if (!Getenv("DYNBENCH_RUNNER_SOURCES").empty()) {
    places.push_back(Getenv("DYNBENCH_RUNNER_SOURCES"));
  } else {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    places.push_back(self.parent_path().parent_path() / "share/dynbench/runner");
    places.push_back(DYNBENCH_SOURCE_DIR);
  }
  for (const std::string& place : places) {
    auto sources = LoadRunnerSources(place);
    if (sources.ok()) return sources;
  }
  return absl::NotFoundError(
      absl::StrCat("the runner's sources are in none of: ", absl::StrJoin(places, ", "),
                   "; set DYNBENCH_RUNNER_SOURCES"));
}

absl::StatusOr<std::string> BuildRunner(const Environment& environment,
                                        const RunnerSources& sources,
                                        const RunnerBuildOptions& options) {
  ASSIGN_OR_RETURN(const std::string compiler, FindCompiler(options.compiler));
  SpawnOptions version;
  version.argv = {compiler, "--version"};
  version.environment = CompilerEnvironment(sources.root);
  version.die_with_caller = false;
  ASSIGN_OR_RETURN(const CommandResult said, RunCommand(version, 60'000));
  ASSIGN_OR_RETURN(const std::string key, BuildKey(environment, sources, said.output));
  const std::string runners = options.environments_dir + "/runners";
  RETURN_IF_ERROR(MakePrivateFolder(runners));
  const std::string final_dir =
      absl::StrCat(fs::absolute(runners).lexically_normal().string(), "/", key);
  const std::string lock_path = absl::StrCat(runners, "/.", key, ".lock");
  const UniqueFd lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return absl::UnavailableError(absl::StrCat(lock_path, ": ", strerror(errno)));
  while (flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  const std::string& torch_dir = environment.facts.torch_dir;
  std::string placed_dir = absl::StrCat(final_dir, "-", Sha256Hex(torch_dir).substr(0, 16));
  if (access((placed_dir + "/dynbench-runner").c_str(), X_OK) == 0) return placed_dir;
  if (access((final_dir + "/dynbench-runner").c_str(), X_OK) != 0) {
    if (options.progress) options.progress(absl::StrCat("building the runner in ", final_dir));
    RETURN_IF_ERROR(BuildInto(final_dir, environment, sources, compiler, options));
  }
  RETURN_IF_ERROR(Place(final_dir, torch_dir, placed_dir));
  return placed_dir;
}

}  // namespace dynbench::worker
