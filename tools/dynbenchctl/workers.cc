#include "common/base/status.h"
#include "common/base/time.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

std::string Joined(const std::vector<EnvironmentView>& environments) {
  std::string text;
  for (const EnvironmentView& environment : environments) {
    text += (text.empty() ? "" : ", ") + environment.name;
  }
  return text.empty() ? "none" : text;
}

std::string WorkersText(const std::vector<WorkerView>& workers, const formats::TableStyle& style) {
  formats::TextTable table({{"worker"},
                            {"host"},
                            {"version"},
                            {"state"},
                            {"slot"},
                            {"device"},
                            {"cores"},
                            {"environments"},
                            {"busy with"},
                            {"remark"}});
  for (const WorkerView& worker : workers) {
    const std::string state = worker.connected ? "connected" : "away";
    std::string remark;
    if (!worker.connected) remark = "last seen " + DateTime(worker.last_seen) + " UTC";
    if (worker.spooled_results > 0) {
      remark += (remark.empty() ? "" : ", ") + std::to_string(worker.spooled_results) +
                " results to send";
    }
    auto add = [&](const std::vector<std::string>& slot, const std::string& slot_remark) {
      std::vector<std::string> cells = {worker.id, worker.host, worker.version, state};
      cells.insert(cells.end(), {slot[0], slot[1], slot[2]});
      cells.insert(cells.end(), {Joined(worker.environments), slot[3]});
      cells.push_back(slot_remark.empty() || remark.empty() ? remark + slot_remark
                                                            : remark + ", " + slot_remark);
      AddTextRow(table, cells);
    };
    for (const SlotView& slot : worker.slots) {
      const std::string device =
          slot.device_name.empty() ? slot.device : slot.device + " (" + slot.device_name + ")";
      add({std::to_string(slot.index), device, slot.cores, slot.busy_with},
          slot.accepting ? "" : "takes nothing: " + slot.reason);
    }
    if (worker.slots.empty()) add({"", "", "", ""}, "");
  }
  return table.Render(style);
}

Json WorkersJson(const std::vector<WorkerView>& workers) {
  Json list = Json::array();
  for (const WorkerView& worker : workers) {
    Json json = {{"id", worker.id},
                 {"host", worker.host},
                 {"version", worker.version},
                 {"connected", worker.connected},
                 {"last_seen_unix_ms", worker.last_seen.ms},
                 {"spooled_results", worker.spooled_results},
                 {"slots", Json::array()},
                 {"environments", Json::array()}};
    for (const SlotView& slot : worker.slots) {
      json["slots"].push_back({{"index", slot.index},
                               {"device", slot.device},
                               {"device_name", slot.device_name},
                               {"cores", slot.cores},
                               {"accepting", slot.accepting},
                               {"reason", slot.reason},
                               {"busy_with", slot.busy_with}});
    }
    for (const EnvironmentView& environment : worker.environments) {
      json["environments"].push_back({{"name", environment.name},
                                      {"torch_version", environment.torch_version},
                                      {"hash", environment.hash},
                                      {"python", environment.python},
                                      {"suites", environment.suites},
                                      {"capabilities", environment.capabilities}});
    }
    list.push_back(std::move(json));
  }
  return {{"schema", "dynbench.workers/1"}, {"workers", list}};
}

VerbResult Workers(Context& context) {
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto workers, source->Workers());
  if (context.globals.json) {
    PrintJson(context, WorkersJson(workers));
  } else if (workers.empty()) {
    PrintNote(context, "no worker has connected yet; start one: dynbench-worker --coordinator " +
                           context.globals.coordinator);
  } else {
    context.out() << WorkersText(workers, StyleOf(context));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddWorkers(CommandTree& tree) {
  tree.AddVerb("workers", "The fleet: workers, slots, environments, and what each is busy with.",
               &Workers);
}

}  // namespace dynbench::cli
