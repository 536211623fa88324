#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/durations.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/formats/format_number.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string since = "24h";
  bool by_slot = false;
};

bool IsBusy(const std::string& reason) { return reason == "measuring" || reason == "compiling"; }

std::string Share(double part, double whole) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", whole > 0 ? 100 * part / whole : 0);
  return text.data();
}

struct Group {
  double all = 0, busy = 0;
  std::map<std::string, double> by_reason;
};

std::string IdleText(const std::vector<store::SlotSeconds>& rows, bool by_slot,
                     const formats::TableStyle& style) {
  std::map<std::pair<std::string, int>, Group> groups;  // one for all, or one a slot
  for (const store::SlotSeconds& row : rows) {
    Group& group = groups[by_slot ? std::pair(row.slot.worker.value, row.slot.index)
                                  : std::pair(std::string(), 0)];
    group.all += row.seconds;
    if (IsBusy(row.reason)) group.busy += row.seconds;
    group.by_reason[row.reason] += row.seconds;
  }
  const auto right = formats::Align::kRight;
  std::vector<formats::Column> columns = {{"reason"}, {"slot time", right}, {"share", right}, {""}};
  if (by_slot) columns.insert(columns.begin(), {{"worker"}, {"slot"}});
  formats::TextTable table(columns);
  for (const auto& entry : groups) {
    const auto& slot = entry.first;
    const auto& group = entry.second;
    std::vector<std::pair<std::string, double>> reasons(group.by_reason.begin(),
                                                        group.by_reason.end());
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto add = [&](const std::string& reason, double seconds, const std::string& kind) {
      std::vector<std::string> cells = {reason, FormatSeconds(seconds), Share(seconds, group.all),
                                        kind};
      if (by_slot) cells.insert(cells.begin(), {slot.first, std::to_string(slot.second)});
      AddTextRow(table, cells);
    };
    for (const auto& [reason, seconds] : reasons) {
      add(reason, seconds, IsBusy(reason) ? "busy" : "idle");
    }
    add("all", group.all, "busy " + Share(group.busy, group.all));
  }
  return table.Render(style);
}

Json IdleJson(const std::vector<store::SlotSeconds>& rows, UnixTimeMs since, UnixTimeMs until) {
  Json spans = Json::array();
  double all = 0, busy = 0;
  for (const store::SlotSeconds& row : rows) {
    all += row.seconds;
    if (IsBusy(row.reason)) busy += row.seconds;
    spans.push_back({{"worker", row.slot.worker.value},
                     {"slot", row.slot.index},
                     {"reason", row.reason},
                     {"idle", !IsBusy(row.reason)},
                     {"seconds", row.seconds}});
  }
  return {{"schema", "dynbench.idle/1"},
          {"since_unix_ms", since.ms},
          {"until_unix_ms", until.ms},
          {"slot_seconds", all},
          {"busy_seconds", busy},
          {"idle_share", all > 0 ? 1 - busy / all : 0},
          {"spans", spans}};
}

VerbResult Idle(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const int64_t span_ms, ParseDurationMs(arguments.since, "--since"));
  const UnixTimeMs until = UnixNow();
  const UnixTimeMs since{until.ms - span_ms};
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto rows, source->Idle(since, until));
  if (context.globals.json) {
    PrintJson(context, IdleJson(rows, since, until));
  } else if (rows.empty()) {
    PrintNote(context, "no slot was known in the last " + arguments.since);
  } else {
    context.out() << IdleText(rows, arguments.by_slot, StyleOf(context));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddIdle(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("idle", "Where the time of the slots went: every second by its reason.",
                   [arguments](Context& context) { return Idle(context, *arguments); });
  verb->add_option("--since", arguments->since, "how far back (default: 24h)")
      ->type_name("TIME")
      ->group("flags");
  verb->add_flag("--by-slot", arguments->by_slot, "each slot on its own")->group("flags");
}

}  // namespace dynbench::cli
