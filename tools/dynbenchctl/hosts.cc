#include "tools/dynbenchctl/hosts.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/formats/format_number.h"
#include "common/judge/hosts.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string since = kHostsSince;
};

std::string FactorText(const judge::HostFactor& factor) {
  if (!factor.factor) return "-";
  std::string text = formats::Times(*factor.factor);
  if (factor.interval) {
    absl::StrAppend(&text, " (", formats::Fixed(factor.interval->low, 2), "-",
                    formats::Fixed(factor.interval->high, 2), ")");
  }
  return text;
}

std::string Verdict(const judge::HostReport& report) {
  if (report.failing || report.latency.slow || report.compile.slow) {
    return report.latency.slow || report.compile.slow ? (report.failing ? "slow, failing" : "slow")
                                                      : "failing";
  }
  if (report.pool == 0) return "no other host of its kind";
  const judge::HostFactor& latency = report.latency;
  if (!latency.interval) {
    return absl::StrCat("too few series: ", latency.series, " of ", latency.series_needed);
  }
  return "as its pool";
}

void PrintTable(Context& context, const std::vector<judge::HostReport>& reports) {
  for (const judge::HostReport& report : reports) {
    if (report.sick()) context.out() << formats::Printable(report.Text()) << "\n";
  }
  const auto right = formats::Align::kRight;
  formats::TextTable table({{"host"},
                            {"device"},
                            {"pool", right},
                            {"series", right},
                            {"latency", right},
                            {"compile", right},
                            {"failures", right},
                            {"pool's", right},
                            {"verdict"}});
  for (const judge::HostReport& r : reports) {
    const auto tone = r.sick() ? formats::Tone::kBad : formats::Tone::kPlain;
    table.AddRow(
        {{r.host},
         {r.device_kind},
         {std::to_string(r.pool)},
         {std::to_string(r.latency.series)},
         {FactorText(r.latency), r.latency.slow ? tone : formats::Tone::kPlain},
         {FactorText(r.compile), r.compile.slow ? tone : formats::Tone::kPlain},
         {absl::StrCat(r.failures, "/", r.attempts), r.failing ? tone : formats::Tone::kPlain},
         {absl::StrCat(r.pool_failures, "/", r.pool_attempts)},
         {Verdict(r), tone}});
  }
  context.out() << table.Render(StyleOf(context))
                << "latency, compile: times the pool's, over series that both measured.  failures: "
                   "infrastructure failures of attempts\n";
}

Json ToJson(const judge::HostFactor& factor) {
  Json json = {
      {"series", factor.series}, {"series_needed", factor.series_needed}, {"slow", factor.slow}};
  if (factor.factor) json["factor"] = *factor.factor;
  if (factor.interval) json["interval"] = {factor.interval->low, factor.interval->high};
  return json;
}

Json ToJson(const std::vector<judge::HostReport>& reports, UnixTimeMs since) {
  Json list = Json::array();
  for (const judge::HostReport& r : reports) {
    list.push_back({{"host", r.host},
                    {"device_kind", r.device_kind},
                    {"pool_hosts", r.pool},
                    {"latency", ToJson(r.latency)},
                    {"compile", ToJson(r.compile)},
                    {"attempts", r.attempts},
                    {"infrastructure_failures", r.failures},
                    {"pool_attempts", r.pool_attempts},
                    {"pool_infrastructure_failures", r.pool_failures},
                    {"failures_p", r.failures_p},
                    {"failing", r.failing},
                    {"sick", r.sick()},
                    {"verdict", Verdict(r)},
                    {"text", r.Text()}});
  }
  return {{"schema", "dynbench.hosts/1"}, {"since_unix_ms", since.ms}, {"hosts", std::move(list)}};
}

VerbResult ShowHosts(Context& context, const Arguments& a) {
  ASSIGN_OR_RETURN(const int64_t span_ms, ParseDurationMs(a.since, "--since"));
  const UnixTimeMs since{std::max<int64_t>(0, UnixNow().ms - span_ms)};
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const store::History history, source->HistorySince(since, kHostsRows));
  const auto reports = judge::CompareHosts(history);
  if (context.globals.json) {
    PrintJson(context, ToJson(reports, since));
  } else if (reports.empty()) {
    PrintNote(context, "nothing was measured in the last " + a.since);
  } else {
    PrintTable(context, reports);
  }
  return reports.empty() ? ExitCode::kNothingMeasured : ExitCode::kDone;
}

}  // namespace

void AddHosts(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "hosts",
      "Each host against the others of its kind: slower than its pool, or failing more often.",
      [arguments](Context& context) { return ShowHosts(context, *arguments); });
  verb->add_option("--since", arguments->since,
                   "jobs that were submitted in this time (default: 14d)")
      ->type_name("TIME")
      ->group("flags");
}

}  // namespace dynbench::cli
