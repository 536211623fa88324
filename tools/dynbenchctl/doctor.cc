#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/version.h"
#include "common/judge/hosts.h"
#include "common/plan/catalog.h"
#include "common/tls/diagnosis.h"
#include "common/tls/expiry_watch.h"
#include "common/tls/folder.h"
#include "proto/dynbench/convert.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/doctor_database.h"
#include "tools/dynbenchctl/hosts.h"
#include "tools/dynbenchctl/remote_source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"
#include "tools/dynbenchctl/worker_text.h"

namespace dynbench::cli {
namespace {

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

// The coordinator is on this machine, or behind a tunnel that ends here: its file is looked for.
bool IsHere(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || host.compare(0, 4, "127.") == 0;
}

void Append(std::string* text, const std::string& more) {
  *text += (text->empty() ? "" : "; ") + more;
}

// Who does not do what it could, and whose clock is wrong.
Check CheckHealth(const std::vector<WorkerView>& workers) {
  std::string drained, bad;
  for (const WorkerView& worker : workers) {
    const std::string name = worker.id + " on " + worker.host;
    if (worker.state == "drained" || worker.state == "draining") {
      Append(&drained, name + " is " + worker.state + ": " + worker.reason);
      continue;
    }
    if (!worker.connected && !worker.reason.empty()) Append(&drained, name + ": " + worker.reason);
    if (!worker.connected) continue;
    for (const SlotView& slot : worker.slots) {
      if (slot.state == "quarantined") {
        Append(&bad, name + " slot " + std::to_string(slot.index) + " is quarantined: " +
                         slot.reason + " (dynbenchctl workers release " + worker.id + ")");
      }
    }
    if (worker.degraded) Append(&bad, name + " speaks an older protocol: upgrade it");
  }
  if (!bad.empty()) return {"health", false, bad + (drained.empty() ? "" : "; " + drained)};
  return {"health", true, drained.empty() ? "no worker is quarantined or degraded" : drained};
}

Check CheckClocks(const std::vector<WorkerView>& workers) {
  int64_t largest_ms = 0;
  std::string bad;
  for (const WorkerView& worker : workers) {
    if (!worker.connected) continue;
    largest_ms = std::max<int64_t>(largest_ms, std::abs(worker.clock_skew_ms));
    if (std::abs(worker.clock_skew_ms) <= kClockSkewWarnMs) continue;
    Append(&bad, worker.host + " is " + std::to_string(std::abs(worker.clock_skew_ms)) +
                     (worker.clock_skew_ms > 0 ? " ms ahead" : " ms behind"));
  }
  if (!bad.empty()) {
    return {"clocks", false,
            bad + "; set them (ntp, chrony): times of different hosts do not sort"};
  }
  return {"clocks", true, "within " + std::to_string(largest_ms) + " ms of the coordinator's"};
}

// A worker that is connected and was not heard for long will be taken for gone.
Check CheckSilence(const std::vector<WorkerView>& workers) {
  constexpr int64_t kSilentMs = 30'000;
  std::string silent;
  for (const WorkerView& worker : workers) {
    const int64_t age_ms = UnixNow().ms - worker.last_seen.ms;
    if (!worker.connected || age_ms <= kSilentMs) continue;
    Append(&silent,
           worker.id + " on " + worker.host + " for " + std::to_string(age_ms / 1000) + " s");
  }
  if (silent.empty()) return {"beats", true, "every connected worker is heard"};
  return {"beats", false, "not heard: " + silent + "; is its host stopped or overloaded?"};
}

// The certificates of both sides: how long they are good for.
Check CheckTls(const Globals& globals) {
  const tls::Diagnosis found = tls::Diagnose(globals.coordinator, globals.tls);
  std::string trouble = found.cause;
  if (trouble.empty()) trouble = tls::ExpiryText(globals.tls, UnixNow());
  if (trouble.empty() && found.peer) {
    trouble = tls::ValidityText(*found.peer, "the coordinator's certificate", UnixNow());
  }
  if (!trouble.empty()) return {"TLS", false, trouble};
  if (!found.peer) return {"TLS", false, "the coordinator shows no certificate"};
  return {"TLS", true,
          found.peer->subject + ", signed by " + found.peer->issuer + ", until " +
              tls::Date(found.peer->valid_until)};
}

// A host that is proven slower than its pool, or to fail more often.
Check CheckHosts(Source& source) {
  const auto history = source.HistorySince({UnixNow().ms - kHostsSinceMs}, kHostsRows);
  if (!history.ok()) return {"hosts", false, std::string(history.status().message())};
  const auto reports = judge::CompareHosts(*history);
  std::string sick;
  for (const judge::HostReport& report : reports) {
    if (report.sick()) Append(&sick, report.Text());
  }
  if (!sick.empty()) return {"hosts", false, sick + "; see dynbenchctl hosts"};
  return {"hosts", true,
          "none of " + std::to_string(reports.size()) +
              " that measured is proven slower than its pool"};
}

std::vector<Check> RunChecks(const Globals& globals) {
  std::vector<Check> checks = {CheckSuites()};
  auto client = Client::Connect(globals.coordinator, globals.tls);
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
  if (!globals.tls.empty()) checks.push_back(CheckTls(globals));
  checks.push_back(CheckVersion(*info));
  if (IsHere(globals.coordinator)) {
    const auto database = CheckDatabase(info->database());
    checks.insert(checks.end(), database.begin(), database.end());
  } else {
    checks.push_back(
        {"database", true,
         info->database() + ", on the coordinator's host: run " + "doctor --db there"});
  }
  const auto source = MakeRemoteSource(*std::move(client));
  const auto workers = source->Workers();
  if (!workers.ok()) {
    checks.push_back({"workers", false, std::string(workers.status().message())});
    return checks;
  }
  checks.push_back(CheckWorkers(*workers, globals.coordinator));
  checks.push_back(CheckSlots(*workers));
  checks.push_back(CheckEnvironments(*workers));
  checks.push_back(CheckHealth(*workers));
  checks.push_back(CheckClocks(*workers));
  checks.push_back(CheckSilence(*workers));
  checks.push_back(CheckHosts(*source));
  return checks;
}

VerbResult Doctor(Context& context) {
  std::vector<Check> checks;
  if (context.globals.db.empty()) {
    RETURN_IF_ERROR(CheckAddress(context.globals.coordinator, "--coordinator"));
    checks = RunChecks(context.globals);
  } else {
    checks = CheckDatabase(AbsolutePath(context, context.globals.db));
  }
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
      "Check what a job needs, from here to the workers, and the database where it is on this "
      "machine; exit 3 when something is missing. With --db: only that database.",
      &Doctor);
}

}  // namespace dynbench::cli
