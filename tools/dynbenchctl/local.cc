#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/numbers.h"
#include "common/base/status.h"
#include "tools/dynbenchctl/local_fleet.h"
#include "tools/dynbenchctl/request_files.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string state_dir, lanes = "auto", tune;
  std::optional<int> workers, port;
  std::vector<std::string> environments;
};

std::string DefaultPython() {
  const char* data_home = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = data_home != nullptr && *data_home != '\0'
                               ? data_home
                               : std::string(home == nullptr ? "" : home) + "/.local/share";
  return base + "/dynbench/environments/default/bin/python";
}

// What was asked for; without --env the default environment where there is one.
absl::StatusOr<FleetOptions> OptionsOf(const Context& context, const LocalPaths& paths,
                                       const Arguments& arguments) {
  FleetOptions options;
  options.bin_dir = fs::path(context.program_path).parent_path();
  options.port = arguments.port.value_or(options.port);
  options.workers = arguments.workers.value_or(1);
  options.lanes = arguments.lanes;
  options.tune = arguments.tune;
  ASSIGN_OR_RETURN(options.environments, ParsePairs("--env", arguments.environments));
  for (auto& [name, python] : options.environments) {
    // Not resolved further: a virtual environment's link decides what it is.
    python = AbsolutePath(context, python);
    if (access(python.c_str(), X_OK) != 0) {
      return absl::InvalidArgumentError("--env " + name + "=" + python +
                                        ": there is no such program");
    }
  }
  if (!options.environments.empty()) return options;
  const std::string python = DefaultPython();
  if (access(python.c_str(), X_OK) == 0) {
    options.environments["default"] = python;
    return options;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(paths.Environments(), error)) {
    if (entry.path().extension() == ".json") return options;  // registered earlier
  }
  return absl::InvalidArgumentError(
      "no Python environment: " + python +
      " does not exist; make it with tools/setup-python, or name one: --env NAME=PYTHON");
}

Json WorkerJson(const LocalPaths& paths, const LocalWorker& worker, size_t number) {
  Json json = {
      {"pid", worker.process.pid},     {"running", IsRunning(worker.process)},
      {"state_dir", worker.state_dir}, {"log", paths.Log("worker-" + std::to_string(number))},
      {"worker_id", nullptr},          {"connected", false}};
  std::ifstream file(worker.state_dir + "/worker.json");
  const Json own = file ? Json::parse(file, nullptr, false) : Json();
  if (own.is_object() && own.value("pid", 0) == worker.process.pid) {
    json["worker_id"] = own.value("worker_id", "");
    json["connected"] = json["running"].get<bool>() && own.value("connected", false);
  }
  return json;
}

void PrintState(Context& context, const LocalPaths& paths, const LocalState& state) {
  const bool runs = CoordinatorRuns(state);
  if (context.globals.json) {
    Json json = {{"schema", "dynbench.local/1"},
                 {"running", runs},
                 {"state_dir", paths.root},
                 {"coordinator", runs ? Json(state.address) : Json(nullptr)},
                 {"coordinator_pid", runs ? Json(state.coordinator.pid) : Json(nullptr)},
                 {"http_url", runs ? Json(state.http_url) : Json(nullptr)},
                 {"metrics_url", runs ? Json(state.metrics_url) : Json(nullptr)},
                 {"database", runs ? Json(state.database) : Json(nullptr)},
                 {"log", paths.Log("coordinator")},
                 {"workers", Json::array()}};
    for (size_t i = 0; i < state.workers.size(); ++i) {
      json["workers"].push_back(WorkerJson(paths, state.workers[i], i + 1));
    }
    PrintJson(context, json);
    return;
  }
  if (!runs && WorkersRunning(state) == 0) {
    context.out() << "nothing runs in " << paths.root << "\n";
    return;
  }
  if (!runs) {
    context.out() << "coordinator  has ended; see its log. Again: dynbenchctl local up; stop the "
                     "workers: dynbenchctl local down\n"
                  << "logs         " << paths.root << "/log\n";
  } else {
    context.out() << "coordinator  " << state.address << "  pid " << state.coordinator.pid << "\n"
                  << "web          " << state.http_url << "\n"
                  << "database     " << state.database << "\n"
                  << "logs         " << paths.root << "/log\n";
  }
  for (size_t i = 0; i < state.workers.size(); ++i) {
    const Json worker = WorkerJson(paths, state.workers[i], i + 1);
    const char* word = !worker["running"].get<bool>()    ? "has ended; see its log"
                       : worker["connected"].get<bool>() ? "connected"
                                                         : "not connected";
    context.out() << "worker-" << i + 1 << "     pid " << state.workers[i].process.pid << "  "
                  << word << "\n";
  }
  if (runs && state.address != kDefaultCoordinator) {
    context.out() << "\nother commands find it with: export DYNBENCH_COORDINATOR=" << state.address
                  << "\n";
  }
}

VerbResult Up(Context& context, const Arguments& arguments) {
  const LocalPaths paths(LocalStateDir(arguments.state_dir, context.cwd));
  if (arguments.workers && (*arguments.workers < 1 || *arguments.workers > 256)) {
    return absl::InvalidArgumentError("--workers wants a number from 1 to 256");
  }
  int lanes = 0;
  if (arguments.lanes != "auto" &&
      (!absl::SimpleAtoi(arguments.lanes, &lanes) || lanes < 1 || lanes > 64)) {
    return absl::InvalidArgumentError("--lanes wants auto or a number from 1 to 64");
  }
  if (!arguments.tune.empty() && arguments.workers.value_or(1) > 1) {
    return absl::InvalidArgumentError(
        "--tune wants one worker: settings of a host hold for all of its workers; remove --workers "
        "or tune the host yourself");
  }
  if (arguments.port && (*arguments.port < 0 || *arguments.port > 65534)) {
    return absl::InvalidArgumentError("--port wants a number from 0 (any) to 65534");
  }
  ASSIGN_OR_RETURN(const auto lock, LocalLock::Take(paths));
  ASSIGN_OR_RETURN(LocalState state, ReadLocalState(paths));
  ASSIGN_OR_RETURN(FleetOptions options, OptionsOf(context, paths, arguments));

  if (CoordinatorRuns(state)) {
    const size_t count = state.workers.size();
    const std::string port = state.address.substr(state.address.rfind(':') + 1);
    const bool other_port =
        arguments.port.value_or(0) != 0 && std::to_string(*arguments.port) != port;
    if (arguments.workers.value_or(static_cast<int>(count)) != static_cast<int>(count) ||
        other_port) {
      return absl::FailedPreconditionError(
          "already up in " + paths.root + " with " + std::to_string(count) + " worker(s) at " +
          state.address + "; to change that: dynbenchctl local down first");
    }
    options.workers = static_cast<int>(count);
    if (!arguments.environments.empty()) RETURN_IF_ERROR(RegisterEnvironments(paths, options));
    const bool whole = WorkersRunning(state) == count;
    PrintNote(context, whole ? "already up" : "the coordinator is up; starting missing workers");
    if (!whole) RETURN_IF_ERROR(StartFleet(paths, options, &state));
  } else {
    RETURN_IF_ERROR(StopFleet(state));  // workers that outlived their coordinator
    state = LocalState();
    RETURN_IF_ERROR(RegisterEnvironments(paths, options));
    RETURN_IF_ERROR(StartFleet(paths, options, &state));
  }
  if (!context.globals.quiet || context.globals.json) PrintState(context, paths, state);
  return ExitCode::kDone;
}

VerbResult Down(Context& context, const Arguments& arguments) {
  const LocalPaths paths(LocalStateDir(arguments.state_dir, context.cwd));
  const bool ever_up = fs::exists(paths.root);
  size_t stopped = 0;
  if (ever_up) {
    ASSIGN_OR_RETURN(const auto lock, LocalLock::Take(paths));
    ASSIGN_OR_RETURN(const LocalState state, ReadLocalState(paths));
    stopped = WorkersRunning(state) + (CoordinatorRuns(state) ? 1 : 0);
    RETURN_IF_ERROR(StopFleet(state));
    RETURN_IF_ERROR(RemoveLocalState(paths));
  }
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.local/1"},
                        {"running", false},
                        {"state_dir", paths.root},
                        {"stopped", stopped}});
  } else if (!context.globals.quiet) {
    if (stopped == 0) {
      context.out() << "nothing runs in " << paths.root << "\n";
    } else {
      context.out() << "stopped " << stopped << " processes; results are kept in " << paths.root
                    << "\n";
    }
  }
  return ExitCode::kDone;
}

VerbResult Status(Context& context, const Arguments& arguments) {
  const LocalPaths paths(LocalStateDir(arguments.state_dir, context.cwd));
  ASSIGN_OR_RETURN(const LocalState state, ReadLocalState(paths));
  PrintState(context, paths, state);
  const bool whole = CoordinatorRuns(state) && WorkersRunning(state) == state.workers.size();
  return whole ? ExitCode::kDone : ExitCode::kInfrastructure;
}

void AddStateDir(CLI::App* verb, Arguments* arguments) {
  verb->add_option("--state-dir", arguments->state_dir,
                   "where everything is kept (default: $DYNBENCH_STATE_DIR, else "
                   "$XDG_STATE_HOME/dynbench/local)")
      ->type_name("DIR")
      ->group("flags");
}

}  // namespace

void AddLocal(CommandTree& tree) {
  CLI::App* group =
      tree.AddGroup("local", "A coordinator and workers on this machine, without root.");
  auto arguments = std::make_shared<Arguments>();
  CLI::App* up = tree.AddVerb(
      "up", "Start a coordinator and workers and wait until they can measure.",
      [arguments](Context& context) { return Up(context, *arguments); }, group);
  AddStateDir(up, arguments.get());
  up->add_option("--workers", arguments->workers,
                 "number of workers; they share out cores and devices (default: 1)")
      ->type_name("N")
      ->group("flags");
  up->add_option("--lanes", arguments->lanes,
                 "experiments side by side in each slot (default: auto)")
      ->type_name("N|auto")
      ->group("flags");
  up->add_option(
        "--tune", arguments->tune,
        "settings of the host while the worker lives, e.g. governor=performance,turbo=off; "
        "put back at the end, also after a crash (default: none)")
      ->type_name("LIST")
      ->group("flags");
  up->add_option("--env", arguments->environments,
                 "register this Python as environment NAME; repeatable (default: the one that "
                 "tools/setup-python makes, as default)")
      ->type_name("NAME=PYTHON")
      ->allow_extra_args(false)
      ->group("flags");
  up->add_option("--port", arguments->port,
                 "gRPC port, HTTP on the next one; 0: any (default: 7411)")
      ->type_name("P")
      ->group("flags");
  CLI::App* down = tree.AddVerb(
      "down", "Stop exactly what `local up` started; results are kept.",
      [arguments](Context& context) { return Down(context, *arguments); }, group);
  AddStateDir(down, arguments.get());
  CLI::App* status = tree.AddVerb(
      "status", "What of it runs, and where. Exit 3 when not all of it does.",
      [arguments](Context& context) { return Status(context, *arguments); }, group);
  AddStateDir(status, arguments.get());
}

}  // namespace dynbench::cli
