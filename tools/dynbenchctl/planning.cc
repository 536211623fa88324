#include "tools/dynbenchctl/planning.h"

#include <sys/utsname.h>

#include "common/base/status.h"
#include "common/plan/catalog.h"
#include "common/plan/expand.h"
#include "tools/dynbenchctl/client.h"

namespace dynbench::cli {

absl::StatusOr<PlanView> PlanOfCoordinator(const Globals& globals, const plan::Request& request) {
  ASSIGN_OR_RETURN(const auto client, Client::Connect(globals.coordinator, globals.tls));
  v1::SubmitRequest message;
  ASSIGN_OR_RETURN(const int64_t timeout_ms, client->SetRequest(plan::ToJson(request), &message));
  const auto call = Client::NewCall(timeout_ms);
  const auto stream = client->stub().Plan(call.get(), message);
  PlanView view;
  v1::PlanPage page;
  absl::Status bad;
  bool first = true;
  while (stream->Read(&page)) {
    if (first) {
      view.plan.warnings.assign(page.warnings().begin(), page.warnings().end());
      view.placements.assign(page.placements().begin(), page.placements().end());
      view.plan.partitions = page.partitions();
      if (page.expected_s() >= 0) view.expected_s = page.expected_s();
      if (page.expected_p90_s() > 0) view.expected_p90_s = page.expected_p90_s();
      first = false;
    }
    for (const v1::PlannedExperiment& planned : page.experiments()) {
      auto experiment = plan::ExperimentFromJson(planned.json());
      if (!experiment.ok()) {
        if (bad.ok()) bad = experiment.status();
      } else {
        view.plan.experiments.push_back(*std::move(experiment));
      }
    }
  }
  RETURN_IF_ERROR(client->FromGrpc(stream->Finish()));
  RETURN_IF_ERROR(bad);
  return view;
}

absl::StatusOr<PlanView> PlanOffline(const plan::Request& request) {
  ASSIGN_OR_RETURN(const std::string folder, plan::FindSuitesFolder());
  ASSIGN_OR_RETURN(const plan::Catalog catalog, plan::LoadCatalog(folder));
  plan::FleetFacts fleet;
  utsname machine{};
  if (uname(&machine) == 0) fleet.arch = machine.machine;
  // Without history every experiment counts alike, which is all that `balanced` needs.
  PlanView view;
  ASSIGN_OR_RETURN(view.plan, plan::Expand(request, catalog, fleet,
                                           [](const plan::Experiment&) { return 1.0; }));
  return view;
}

}  // namespace dynbench::cli
