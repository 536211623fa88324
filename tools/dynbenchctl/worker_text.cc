#include "tools/dynbenchctl/worker_text.h"

#include <cstdlib>
#include <set>

#include "common/base/durations.h"
#include "common/formats/format_number.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/table.h"

namespace dynbench::cli {
namespace {

std::string Joined(const std::vector<EnvironmentView>& environments) {
  std::string text;
  for (const EnvironmentView& environment : environments) {
    text += (text.empty() ? "" : ", ") + environment.name;
  }
  return text.empty() ? "none" : text;
}

// "2 h behind", where it matters.
std::string ClockRemark(int64_t skew_ms) {
  if (std::abs(skew_ms) <= kClockSkewWarnMs) return "";
  return "clock " + FormatSeconds(static_cast<double>(std::abs(skew_ms)) / 1000) +
         (skew_ms > 0 ? " ahead" : " behind");
}

void Append(std::string* text, const std::string& more) {
  if (!more.empty()) *text += (text->empty() ? "" : ", ") + more;
}

std::string RemarkOf(const WorkerView& worker) {
  std::string remark;
  if (!worker.connected) Append(&remark, "last seen " + DateTime(worker.last_seen) + " UTC");
  if (!worker.reason.empty()) Append(&remark, worker.reason);
  if (worker.degraded) Append(&remark, "speaks an older protocol");
  Append(&remark, ClockRemark(worker.clock_skew_ms));
  if (worker.spooled_results > 0) {
    Append(&remark, std::to_string(worker.spooled_results) + " results to send");
  }
  for (const auto& [name, value] : worker.labels) {
    // What was found is in `--json`; here what an operator wrote.
    static const std::set<std::string> found = {"host", "kernel", "arch", "cpu",
                                                "gpu",  "driver", "cuda"};
    if (found.count(name) == 0) Append(&remark, name + "=" + value);
  }
  return remark;
}

std::string SlotRemark(const WorkerView& worker, const SlotView& slot) {
  if (slot.accepting) return slot.reason;
  if (slot.reason == worker.reason) return "";
  return (slot.state.empty() ? "takes nothing" : slot.state) + ": " + slot.reason;
}

}  // namespace

std::string WorkersText(const std::vector<WorkerView>& workers, const formats::TableStyle& style) {
  formats::TextTable table({{"worker"},
                            {"host"},
                            {"version"},
                            {"state"},
                            {"slot"},
                            {"device"},
                            {"cores"},
                            {"environments"},
                            {"does"},
                            {"busy with"},
                            {"remark"}});
  for (const WorkerView& worker : workers) {
    const std::string remark = RemarkOf(worker);
    auto add = [&](const std::vector<std::string>& slot, const std::string& slot_remark) {
      std::vector<std::string> cells = {worker.id, worker.host, worker.version, worker.state};
      cells.insert(cells.end(), {slot[0], slot[1], slot[2]});
      cells.insert(cells.end(), {Joined(worker.environments), slot[3], slot[4]});
      std::string all = remark;
      Append(&all, slot_remark);
      cells.push_back(all);
      AddTextRow(table, cells);
    };
    for (const SlotView& slot : worker.slots) {
      const std::string device =
          slot.device_name.empty() ? slot.device : slot.device + " (" + slot.device_name + ")";
      add({std::to_string(slot.index), device, slot.cores, slot.activity, slot.busy_with},
          SlotRemark(worker, slot));
    }
    if (worker.slots.empty()) add({"", "", "", "", ""}, "");
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
                 {"state", worker.state},
                 {"reason", worker.reason},
                 {"degraded", worker.degraded},
                 {"clock_skew_ms", worker.clock_skew_ms},
                 {"labels", worker.labels},
                 {"slots", Json::array()},
                 {"environments", Json::array()}};
    for (const SlotView& slot : worker.slots) {
      json["slots"].push_back({{"index", slot.index},
                               {"device", slot.device},
                               {"device_name", slot.device_name},
                               {"cores", slot.cores},
                               {"accepting", slot.accepting},
                               {"reason", slot.reason},
                               {"state", slot.state},
                               {"activity", slot.activity},
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

}  // namespace dynbench::cli
