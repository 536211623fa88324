#include "tools/dynbenchctl/local_state.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/base/durable_file.h"
#include "nlohmann/json.hpp"

namespace dynbench::cli {
namespace {

using nlohmann::json;

constexpr char kSchema[] = "dynbench.local-state/1";

json ToJson(const ProcessRef& process) {
  return {{"pid", process.pid}, {"start_ticks", process.start_ticks}, {"boot_id", process.boot_id}};
}

ProcessRef ProcessFromJson(const json& value) {
  return {value.at("pid").get<pid_t>(), value.at("start_ticks").get<int64_t>(),
          value.at("boot_id").get<std::string>()};
}

}  // namespace

absl::StatusOr<LocalState> ReadLocalState(const LocalPaths& paths) {
  std::ifstream file(paths.State());
  if (!file) return LocalState();
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  LocalState state;
  try {
    const json value = json::parse(text);
    if (value.at("schema") != kSchema) throw std::runtime_error("another schema");
    state.coordinator = ProcessFromJson(value.at("coordinator"));
    state.address = value.at("address").get<std::string>();
    state.http_url = value.at("http_url").get<std::string>();
    state.metrics_url = value.at("metrics_url").get<std::string>();
    state.database = value.at("database").get<std::string>();
    for (const json& worker : value.at("workers")) {
      state.workers.push_back(
          {ProcessFromJson(worker.at("process")), worker.at("state_dir").get<std::string>()});
    }
  } catch (const std::exception& error) {
    return absl::DataLossError(paths.State() + " is damaged (" + error.what() +
                               "): stop the processes of this folder by hand and remove the file");
  }
  return state;
}

absl::Status WriteLocalState(const LocalPaths& paths, const LocalState& state) {
  json workers = json::array();
  for (const LocalWorker& worker : state.workers) {
    workers.push_back({{"process", ToJson(worker.process)}, {"state_dir", worker.state_dir}});
  }
  const json value = {{"schema", kSchema},
                      {"coordinator", ToJson(state.coordinator)},
                      {"address", state.address},
                      {"http_url", state.http_url},
                      {"metrics_url", state.metrics_url},
                      {"database", state.database},
                      {"workers", workers}};
  return WriteFileDurably(paths.State(), value.dump(2) + "\n", kReadableByAll);
}

absl::Status RemoveLocalState(const LocalPaths& paths) {
  if (unlink(paths.State().c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::UnavailableError("cannot remove " + paths.State() + ": " + std::strerror(errno));
}

std::string LocalStateDir(const std::string& flag, const std::string& cwd) {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = flag.empty() ? variable("DYNBENCH_STATE_DIR") : flag;
  if (folder.empty()) {
    const std::string state_home = variable("XDG_STATE_HOME");
    folder =
        (state_home.empty() ? variable("HOME") + "/.local/state" : state_home) + "/dynbench/local";
  }
  std::string path = (std::filesystem::path(cwd) / folder).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace dynbench::cli
