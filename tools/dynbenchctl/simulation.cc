#include "tools/dynbenchctl/simulation.h"

#include "absl/strings/str_format.h"
#include "common/base/durations.h"
#include "common/base/status.h"
#include "common/plan/request.h"
#include "tools/dynbenchctl/client.h"

namespace dynbench::cli {
namespace {

absl::StatusOr<v1::SimulateReply> Ask(const Context& context, v1::SimulateRequest request,
                                      const SubmitFlags& flags, std::string request_json = "") {
  request.set_extra_slots(flags.extra_slots.value_or(0));
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  int64_t timeout_ms = kCallTimeoutMs;
  if (!request_json.empty()) {
    ASSIGN_OR_RETURN(timeout_ms, client->SetRequest(std::move(request_json), &request));
  }
  return client->Call<v1::SimulateRequest, v1::SimulateReply>(&v1::Control::Stub::Simulate, request,
                                                              timeout_ms);
}

}  // namespace

std::string SimulationText(const v1::SimulateReply& reply) {
  std::string text;
  for (const std::string& line : reply.unplaceable()) {
    text += "cannot be placed: " + formats::Printable(line) + "\n";
  }
  if (reply.experiments() == 0) return text + "nothing would run\n";
  text += absl::StrFormat("%d experiments on %d slots: %s, slots idle for %.1f %% of it\n",
                          reply.experiments(), reply.slots(), FormatSeconds(reply.makespan_s()),
                          100 * reply.idle_share());
  if (reply.makespan_p90_s() > reply.makespan_s()) {
    text += "nine times in ten at most " + FormatSeconds(reply.makespan_p90_s()) + "\n";
  }
  text += absl::StrFormat("lower bound %s (%.3f of it is reached); %s ends last\n",
                          FormatSeconds(reply.lower_bound_s()),
                          reply.makespan_s() > 0 ? reply.lower_bound_s() / reply.makespan_s() : 1,
                          formats::Printable(reply.critical_model()));
  text += "one more slot would save " + FormatSeconds(reply.saved_by_one_slot_s()) + "\n";
  return text;
}

Json SimulationJson(const v1::SimulateReply& reply) {
  return {{"schema", "dynbench.simulation/1"},
          {"makespan_s", reply.makespan_s()},
          {"makespan_p90_s", reply.makespan_p90_s()},
          {"idle_share", reply.idle_share()},
          {"lower_bound_s", reply.lower_bound_s()},
          {"critical_model", reply.critical_model()},
          {"saved_by_one_slot_s", reply.saved_by_one_slot_s()},
          {"slots", reply.slots()},
          {"experiments", reply.experiments()},
          {"unplaceable",
           std::vector<std::string>(reply.unplaceable().begin(), reply.unplaceable().end())}};
}

VerbResult SimulateAll(Context& context, const SubmitFlags& flags,
                       const std::vector<BuiltRequest>& all) {
  Json list = Json::array();
  for (const BuiltRequest& built : all) {
    v1::SimulateRequest request;
    ASSIGN_OR_RETURN(const v1::SimulateReply reply,
                     Ask(context, request, flags, plan::ToJson(built.request)));
    list.push_back(SimulationJson(reply));
    if (context.globals.json) continue;
    if (all.size() > 1) context.out() << "submission " << built.request.label << "\n";
    context.out() << SimulationText(reply);
  }
  if (context.globals.json) {
    PrintJson(context, all.size() == 1
                           ? list.front()
                           : Json{{"schema", "dynbench.simulations/1"}, {"simulations", list}});
  }
  return ExitCode::kDone;
}

VerbResult SimulateJob(Context& context, const SubmitFlags& flags) {
  v1::SimulateRequest request;
  request.set_job(*flags.job);
  ASSIGN_OR_RETURN(const v1::SimulateReply reply, Ask(context, request, flags));
  if (context.globals.json) {
    PrintJson(context, SimulationJson(reply));
  } else {
    context.out() << SimulationText(reply);
  }
  return ExitCode::kDone;
}

}  // namespace dynbench::cli
