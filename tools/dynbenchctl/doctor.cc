#include <algorithm>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/version.h"
#include "common/plan/catalog.h"
#include "proto/dynbench/convert.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/remote_source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Check {
  std::string name;
  bool fine = false;
  std::string finding;  // what was found, and the next step when it is not fine
};

Check CheckSuites() {
  const auto folder = plan::FindSuitesFolder();
  if (!folder.ok()) return {"suites", false, std::string(folder.status().message())};
  const auto catalog = plan::LoadCatalog(*folder);
  if (!catalog.ok()) return {"suites", false, std::string(catalog.status().message())};
  return {"suites", true, std::to_string(catalog->suites.size()) + " in " + *folder};
}

Check CheckVersion(const v1::Info& info) {
  const bool same = info.protocol_version() == proto::kProtocolVersion;
  return {"version", same,
          "coordinator " + info.version() + ", this program " + kVersion +
              (same ? "" : "; run the same version on both sides")};
}

Check CheckWorkers(const std::vector<WorkerView>& workers, const std::string& address) {
  const auto connected = std::count_if(workers.begin(), workers.end(),
                                       [](const WorkerView& w) { return w.connected; });
  std::string finding = std::to_string(connected) + " connected";
  const auto away = static_cast<int64_t>(workers.size()) - connected;
  if (away > 0) finding += ", " + std::to_string(away) + " away";
  if (connected == 0) finding += "; start one: dynbench-worker --coordinator " + address;
  return {"workers", connected > 0, finding};
}

Check CheckSlots(const std::vector<WorkerView>& workers) {
  size_t accepting = 0, slots = 0;
  std::string reasons;
  for (const WorkerView& worker : workers) {
    if (!worker.connected) continue;
    for (const SlotView& slot : worker.slots) {
      ++slots;
      accepting += slot.accepting ? 1 : 0;
      if (!slot.accepting) reasons += "; " + worker.host + " " + slot.device + ": " + slot.reason;
    }
  }
  return {"slots", accepting > 0,
          std::to_string(accepting) + " of " + std::to_string(slots) + " take work" + reasons};
}

Check CheckEnvironments(const std::vector<WorkerView>& workers) {
  std::string names;
  for (const WorkerView& worker : workers) {
    for (const EnvironmentView& environment : worker.environments) {
      if (!worker.connected) continue;
      names += (names.empty() ? "" : ", ") + environment.name + " (torch " +
               environment.torch_version + " on " + worker.host + ")";
    }
  }
  if (names.empty()) {
    return {"environments", false,
            "none; make one with tools/setup-python, then on the worker's host: dynbench-worker "
            "env add default --python PATH"};
  }
  return {"environments", true, names};
}

std::vector<Check> RunChecks(const Globals& globals) {
  std::vector<Check> checks = {CheckSuites()};
  auto client = Client::Connect(globals.coordinator);
  if (!client.ok()) {
    checks.push_back({"coordinator", false, std::string(client.status().message())});
    return checks;
  }
  const auto info = (*client)->Call<v1::GetInfoRequest, v1::Info>(&v1::Control::Stub::GetInfo,
                                                                  v1::GetInfoRequest());
  if (!info.ok()) {
    checks.push_back({"coordinator", false, std::string(info.status().message())});
    return checks;
  }
  checks.push_back({"coordinator", true, globals.coordinator + ", web " + info->http_address()});
  checks.push_back(CheckVersion(*info));
  checks.push_back({"database", !info->database().empty(), info->database()});
  const auto workers = MakeRemoteSource(*std::move(client))->Workers();
  if (!workers.ok()) {
    checks.push_back({"workers", false, std::string(workers.status().message())});
    return checks;
  }
  checks.push_back(CheckWorkers(*workers, globals.coordinator));
  checks.push_back(CheckSlots(*workers));
  checks.push_back(CheckEnvironments(*workers));
  return checks;
}

VerbResult Doctor(Context& context) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "doctor"));
  RETURN_IF_ERROR(CheckAddress(context.globals.coordinator, "--coordinator"));
  const auto checks = RunChecks(context.globals);
  const bool fine =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.fine; });
  if (context.globals.json) {
    Json list = Json::array();
    for (const Check& check : checks) {
      list.push_back({{"name", check.name}, {"fine", check.fine}, {"finding", check.finding}});
    }
    PrintJson(context, {{"schema", "dynbench.doctor/1"}, {"fine", fine}, {"checks", list}});
  } else {
    for (const Check& check : checks) {
      const auto tone = check.fine ? formats::Tone::kGood : formats::Tone::kBad;
      std::string name = check.name;
      name.resize(14, ' ');
      context.out() << formats::Paint(check.fine ? "ok   " : "FAIL ", tone, StyleOf(context))
                    << name << formats::Printable(check.finding) << "\n";
    }
  }
  return fine ? ExitCode::kDone : ExitCode::kInfrastructure;
}

}  // namespace

void AddDoctor(CommandTree& tree) {
  tree.AddVerb(
      "doctor",
      "Check what a job needs, from here to the workers; exit 3 when something is missing.",
      &Doctor);
}

}  // namespace dynbench::cli
