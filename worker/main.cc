// dynbench-worker: one per host (or share of a host). See --help.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/version.h"
#include "common/plan/catalog.h"
#include "common/tls/folder.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
#include "worker/agent/agent.h"
#include "worker/agent/slot_plan.h"
#include "worker/env_command.h"
#include "worker/host/claims.h"
#include "worker/host/core_set.h"
#include "worker/host/host_settings.h"
#include "worker/make_command.h"
#include "worker/process/program_lane.h"
#include "worker/process/unique_fd.h"
#include "worker/process/watchdog.h"
#include "worker/tuning_guard.h"

namespace dynbench::worker {
namespace {

// A worker that starts while its predecessor still ends waits this long for the claims.
constexpr int kClaimTries = 50;
constexpr int kClaimPauseUs = 100'000;

struct Flags {
  std::string coordinator = "127.0.0.1:7411";
  std::string state_dir;
  std::string environments_dir;
  std::string cores;
  std::string share = "1/1";
  std::string pool;
  std::string devices = "auto";
  std::string lanes = "auto";
  bool no_freeze = false;
  int64_t disk_low_mib = 2'048;
  int64_t cache_cap_mib = 20'480;
  int64_t artifacts_cap_mib = 10'240;
  int keep_failed = 20;
  int64_t grace_s = 0;
  int64_t recheck_s = 10;
  std::vector<std::string> labels;
  std::string tune;
  std::string host_root;
  std::string tls;
};

std::string Getenv(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultStateDir() {
  const std::string xdg = Getenv("XDG_STATE_HOME");
  const std::string base = xdg.empty() ? Getenv("HOME") + "/.local/state" : xdg;
  return base + "/dynbench/worker";
}

// Absolute paths from here on: children have current folders of their own.
void CompletePaths(Flags& flags) {
  if (flags.state_dir.empty()) flags.state_dir = DefaultStateDir();
  if (flags.environments_dir.empty()) flags.environments_dir = flags.state_dir + "/environments";
  for (std::string* path : {&flags.state_dir, &flags.environments_dir}) {
    *path = std::filesystem::absolute(*path).lexically_normal();
    if (path->size() > 1 && path->back() == '/') path->pop_back();
  }
}

absl::StatusOr<std::vector<int>> WantedCores(const Flags& flags, const Inventory& inventory,
                                             const Share& share) {
  const std::vector<int> allowed = inventory.AllowedCpus();
  if (flags.cores.empty()) {
    const std::vector<int> cores = CpusOfShare(inventory.cores, share);
    if (cores.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("share ", flags.share, " of ", allowed.size(),
                       " cores has none; start fewer workers on this host"));
    }
    return cores;
  }
  ASSIGN_OR_RETURN(const std::vector<int> cores, ParseCoreSet(flags.cores));
  for (const int core : cores) {
    if (std::find(allowed.begin(), allowed.end(), core) == allowed.end()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "core ", core, " is not allowed to this process; allowed are ", FormatCoreSet(allowed)));
    }
  }
  return cores;
}

absl::Status ClaimAll(Claims& claims, const std::vector<std::string>& all) {
  for (int attempt = 0;; ++attempt) {
    absl::Status status;
    for (const std::string& what : all) {
      status = claims.Claim(what);
      if (!status.ok()) break;
    }
    if (status.ok()) return status;
    if (!absl::IsAlreadyExists(status) || attempt + 1 == kClaimTries) {
      return Annotate(status,
                      "cores and devices of a host are claimed by one worker each (--cores or "
                      "--share K/N divide them)");
    }
    // None is kept while waiting: two workers that wait for each other would never start.
    for (const std::string& what : all) claims.Release(what);
    usleep(kClaimPauseUs);
  }
}

std::function<absl::StatusOr<plan::LaunchProfile>(const std::string&)> ProfileLookup() {
  auto catalog = std::make_shared<absl::StatusOr<plan::Catalog>>(absl::UnknownError("not read"));
  return [catalog](const std::string& name) -> absl::StatusOr<plan::LaunchProfile> {
    if (!catalog->ok()) {
      auto folder = plan::FindSuitesFolder();
      *catalog = folder.ok() ? plan::LoadCatalog(*folder) : folder.status();
    }
    if (catalog->ok()) {
      const auto it = (*catalog)->profiles.find(name);
      if (it != (*catalog)->profiles.end()) return it->second;
    }
    if (name == "default") {
      plan::LaunchProfile nothing;
      nothing.name = "default";
      return nothing;
    }
    if (!catalog->ok()) return catalog->status();
    return absl::NotFoundError(absl::StrCat("this worker has no launch profile ", name));
  };
}

std::string FromEnvironment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// What cannot be an address would be tried for ever: the name of a host is looked up again each
// time.
absl::Status CheckCoordinator(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 && port < 65536) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--coordinator \"", address, "\" is no HOST:PORT; write for example 127.0.0.1:7411"));
}

// What was found, and over it what the operator says: --label KEY=VALUE.
absl::StatusOr<std::map<std::string, std::string>> Labels(const Flags& flags,
                                                          const Inventory& inventory) {
  std::map<std::string, std::string> labels = FoundLabels(inventory);
  if (!flags.pool.empty()) labels["pool"] = flags.pool;
  for (const std::string& text : flags.labels) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--label \"", text, "\" is no KEY=VALUE; write for example rack=7"));
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

// 0: each slot chooses.
absl::StatusOr<int> ParseLanes(const std::string& text) {
  int lanes = 0;
  if (text == "auto" || text == "0") return 0;
  if (absl::SimpleAtoi(text, &lanes) && lanes >= 1 && lanes <= 64) return lanes;
  return absl::InvalidArgumentError(
      absl::StrCat("--lanes \"", text, "\" is neither auto nor a number from 1 to 64"));
}

// Before anything is measured; the settings that are told are those in force.
absl::StatusOr<std::unique_ptr<TuningGuard>> TuneHost(const Flags& flags,
                                                      const std::vector<Gpu>& gpus, Claims* claims,
                                                      AgentOptions* options) {
  TuningRequest request = {flags.tune, flags.state_dir, flags.host_root, options->cores, {}};
  for (const Gpu& gpu : gpus) request.gpus.push_back(gpu.uuid);
  ASSIGN_OR_RETURN(std::unique_ptr<TuningGuard> guard, TuningGuard::Make(request, claims));
  options->host_root = flags.host_root;
  options->inventory.settings = ReadHostSettings(flags.host_root);
  // The driver does not tell a lock, so that nothing else would show it.
  for (const TuneWish& wish : guard->wishes()) {
    if (wish.knob == "gpu-clocks") options->inventory.settings["GPU clocks"] = wish.value;
  }
  return guard;
}

absl::Status RunWorker(const Flags& flags) {
  // Blocked in every thread; taken from a descriptor below.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  signal(SIGPIPE, SIG_IGN);

  RETURN_IF_ERROR(CheckCoordinator(flags.coordinator));
  if (!flags.tls.empty()) RETURN_IF_ERROR(tls::CheckFolder(flags.tls, UnixNow()));
  ASSIGN_OR_RETURN(const Share share, ParseShare(flags.share));
  AgentOptions options;
  options.gpus = MakeNvmlProbe();
  options.inventory = TakeInventory(*options.gpus);
  ASSIGN_OR_RETURN(options.labels, Labels(flags, options.inventory));
  ASSIGN_OR_RETURN(options.cores, WantedCores(flags, options.inventory, share));
  std::vector<Gpu> gpus;
  if (flags.devices != "cpu") gpus = GpusOfShare(options.inventory.gpus, share);
  if (flags.devices == "cuda" && gpus.empty()) {
    return absl::FailedPreconditionError("--devices cuda: this worker's share has no GPU");
  }
  Claims claims(Claims::ScopeFromEnvironment());
  std::vector<std::string> wanted;
  for (const int core : options.cores) wanted.push_back(absl::StrCat("core/", core));
  for (const Gpu& gpu : gpus) wanted.push_back(absl::StrCat("gpu/", gpu.uuid));
  RETURN_IF_ERROR(ClaimAll(claims, wanted));
  ASSIGN_OR_RETURN(const std::unique_ptr<TuningGuard> tuning,
                   TuneHost(flags, gpus, &claims, &options));

  options.coordinator = flags.coordinator;
  options.tls = flags.tls;
  options.state_dir = flags.state_dir;
  options.environments_dir = flags.environments_dir;
  options.pool = flags.pool;
  ASSIGN_OR_RETURN(const int lanes, ParseLanes(flags.lanes));
  options.slots = PlanSlots(options.inventory, options.cores, gpus, lanes);
  for (SlotShape& slot : options.slots) {
    slot.freeze = !flags.no_freeze;
    slot.tuning = tuning->text();
  }
  options.disk_low_bytes = flags.disk_low_mib << 20;
  options.cache_cap_bytes = flags.cache_cap_mib << 20;
  options.artifacts_cap_bytes = flags.artifacts_cap_mib << 20;
  options.keep_failed = flags.keep_failed;
  options.grace_ms = flags.grace_s * 1000;
  options.recheck_ms = flags.recheck_s * 1000;
  options.profile = ProfileLookup();
  EventLoop loop;
  ASSIGN_OR_RETURN(const std::unique_ptr<Agent> agent, Agent::Create(std::move(options), &loop));
  const UniqueFd signals(signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  loop.Watch(signals.get(), [&] {
    signalfd_siginfo info;
    while (read(signals.get(), &info, sizeof info) == sizeof info) {
      agent->Stop();
    }
  });
  agent->Start();
  loop.Run();
  return absl::OkStatus();
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "dynbench-worker: %s\n", std::string(status.message()).c_str());
  switch (status.code()) {  // as dynbenchctl's: usage, refused, infrastructure
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return 2;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
      return 5;
    default:
      return 3;
  }
}

int Main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("worker"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
  Flags flags;
  std::string name, python;
  bool json = false;
  CLI::App app{"Runs experiments of a dynbench coordinator on this host."};
  app.set_version_flag("--version", std::string("dynbench-worker ") + kVersion);
  // Read here and not by CLI11: a flag stands for the program and for `run`, and the one that was
  // not typed would put the variable in the place of what the other was given.
  flags.coordinator = FromEnvironment("DYNBENCH_COORDINATOR", flags.coordinator);
  flags.tls = FromEnvironment("DYNBENCH_TLS", flags.tls);
  flags.state_dir = FromEnvironment("DYNBENCH_STATE_DIR", flags.state_dir);
  const auto add_folders = [&](CLI::App* to) {
    to->add_option("--state-dir", flags.state_dir,
                   "What this worker must not lose (default: $DYNBENCH_STATE_DIR, else the XDG "
                   "state folder)");
    to->add_option("--environments-dir", flags.environments_dir,
                   "Registered environments (default: environments in the state folder)");
  };
  const auto add_run = [&](CLI::App* to) {
    add_folders(to);
    to->add_option("--coordinator", flags.coordinator,
                   "HOST:PORT (default: $DYNBENCH_COORDINATOR, else 127.0.0.1:7411)");
    to->add_option("--tls", flags.tls,
                   "Folder with ca.crt, tls.crt and tls.key, for a coordinator with TLS (default: "
                   "$DYNBENCH_TLS, else no TLS)")
        ->type_name("DIR");
    to->add_option("--cores", flags.cores, "Cores to claim, e.g. 0-3 (default: all allowed)");
    to->add_option("--share", flags.share, "K/N: this worker is the K-th of N on this host");
    to->add_option("--pool", flags.pool, "A label for people and schedules");
    to->add_option("--label", flags.labels, "KEY=VALUE that jobs may ask for; may be repeated")
        ->type_size(1)
        ->allow_extra_args(false);
    to->add_option("--grace", flags.grace_s,
                   "Seconds that what runs may take to end after SIGTERM; then it is given back")
        ->check(CLI::Range(0, 86'400));
    to->add_option("--recheck", flags.recheck_s,
                   "Seconds after which a failed check of a slot is repeated, doubled each time")
        ->check(CLI::Range(1, 600));
    to->add_option("--devices", flags.devices, "auto (GPUs if there are any), cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    to->add_option(
        "--lanes", flags.lanes,
        "Experiments side by side in a slot: 1 to 64, or auto, which is 1 on a CPU and on "
        "a GPU chosen from cores and memory");
    to->add_flag(
        "--no-freeze", flags.no_freeze,
        "Let other lanes run on while one measures: for tools/bench lanes, which shows what "
        "it costs; such numbers are good for nothing else");
    to->add_option("--tune", flags.tune,
                   "KEY=VALUE,…: governor, turbo, numa-balancing, huge-pages, gpu-clocks; set "
                   "before anything is measured and put back at the end, also after a crash (off)")
        ->type_name("LIST");
    to->add_option("--host-root", flags.host_root,
                   "A folder in the place of /: for tests of --tune")
        ->group("");
    to->add_option("--disk-low-mib", flags.disk_low_mib, "Take no work with less free space")
        ->check(CLI::NonNegativeNumber);
    to->add_option("--cache-cap-mib", flags.cache_cap_mib, "Size of the store of prepared caches")
        ->check(CLI::NonNegativeNumber);
    to->add_option("--artifacts-cap-mib", flags.artifacts_cap_mib,
                   "Size of what diagnostic reruns and minifiers left")
        ->check(CLI::NonNegativeNumber);
    to->add_option("--keep-failed", flags.keep_failed, "Work folders of failed attempts to keep")
        ->check(CLI::NonNegativeNumber);
  };
  add_run(&app);
  CLI::App* run = app.add_subcommand("run", "Connect and work (the default)");
  add_run(run);
  CLI::App* env = app.add_subcommand("env", "Environments of this host");
  env->require_subcommand(1);
  CLI::App* add = env->add_subcommand("add", "Register a Python environment and build its runner");
  add->add_option("NAME", name)->required();
  add->add_option("--python", python, "The environment's own python")->required();
  add_folders(add);
  CLI::App* list = env->add_subcommand("list", "Show the registered environments");
  list->add_flag("--json", json);
  add_folders(list);
  CLI::App* remove = env->add_subcommand("remove", "Forget an environment");
  remove->add_option("NAME", name)->required();
  add_folders(remove);
  MakeCommand make(env, add_folders);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  CompletePaths(flags);
  absl::Status status;
  if (add->parsed()) {
    status = AddEnvironment(flags.environments_dir, name, python);
  } else if (list->parsed()) {
    status = ListEnvironments(flags.environments_dir, json);
  } else if (remove->parsed()) {
    status = RemoveEnvironment(flags.environments_dir, name);
  } else if (make.parsed()) {
    status = make.Run(flags.environments_dir);
  } else {
    status = RunWorker(flags);
  }
  return status.ok() ? 0 : Fail(status);
}

}  // namespace
}  // namespace dynbench::worker

int main(int argc, char** argv) {
  // The worker's own lanes for programs are this program again.
  if (const auto lane = dynbench::worker::RunAsProgramLane(argc, argv)) return *lane;
  if (const auto watchdog = dynbench::worker::RunAsWatchdog(argc, argv)) return *watchdog;
  return dynbench::worker::Main(argc, argv);
}
