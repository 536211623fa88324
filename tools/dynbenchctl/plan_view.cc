#include "tools/dynbenchctl/plan_view.h"

#include <algorithm>

#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/text_table.h"

namespace dynbench::cli {
namespace {

std::string Batch(const plan::Experiment& e) {
  return e.batch_size == 0 ? "model's" : std::to_string(e.batch_size);
}

}  // namespace

std::string PlanText(const PlanView& plan) {
  const auto right = TextTable::Align::kRight;
  TextTable table({{"part", right},
                   {"suite"},
                   {"model"},
                   {"mode"},
                   {"test"},
                   {"configuration"},
                   {"precision"},
                   {"device"},
                   {"environment"},
                   {"start"},
                   {"batch", right},
                   {"output"},
                   {"skipped because"}});
  int64_t skipped = 0;
  for (const plan::Experiment& e : plan.experiments) {
    if (e.planned_outcome) ++skipped;
    table.AddRow({plan.partitions > 1 ? std::to_string(e.partition) : "", e.suite, e.model,
                  std::string(ToString(e.mode)), std::string(ToString(e.test)), e.configuration,
                  std::string(ToString(e.precision)), e.device, e.environment,
                  std::string(ToString(e.start)), Batch(e), e.output, e.reason});
  }
  const auto planned = static_cast<int64_t>(plan.experiments.size());
  std::string text;
  if (planned > 0) text += table.Render() + "\n";
  text += std::to_string(planned) + " experiments";
  if (skipped > 0) text += ", " + std::to_string(skipped) + " of them skipped";
  if (plan.partitions > 1) text += ", " + std::to_string(plan.partitions) + " partitions";
  text += plan.expected_s < 0 ? "; time not known yet"
                              : "; about " + Duration(plan.expected_s) + " on this fleet";
  text += "\n";
  for (const std::string& placement : plan.placements) text += "  " + OneLine(placement) + "\n";
  return text;
}

Json PlanJson(const PlanView& plan) {
  Json json = {{"schema", "dynbench.plan/1"}, {"experiments", Json::array()}};
  for (const plan::Experiment& e : plan.experiments) {
    json["experiments"].push_back(Json::parse(plan::ToPublicJson(e).dump()));
  }
  json["partitions"] = plan.partitions;
  json["expected_s"] = plan.expected_s < 0 ? Json(nullptr) : Json(plan.expected_s);
  json["placements"] = plan.placements;
  json["warnings"] = plan.warnings;
  return json;
}

}  // namespace dynbench::cli
