#include <memory>
#include <string>
#include <vector>

#include "common/base/durations.h"
#include "common/base/status.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/remote_source.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"
#include "tools/dynbenchctl/worker_text.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string worker, deadline = "10m", reason;
  int slot = -1;
};

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

// Asks, and prints the worker as it is afterwards.
template <typename Request>
VerbResult Change(Context& context, const char* verb,
                  grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*, const Request&,
                                                            v1::Worker*),
                  const Request& request) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, std::string("workers ") + verb));
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  ASSIGN_OR_RETURN(const v1::Worker reply, (client->Call<Request, v1::Worker>(method, request)));
  const std::vector<WorkerView> workers = {FromProto(reply)};
  if (context.globals.json) {
    PrintJson(context, WorkersJson(workers));
  } else if (!context.globals.quiet) {
    context.out() << WorkersText(workers, StyleOf(context));
  }
  return ExitCode::kDone;
}

VerbResult Drain(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const int64_t deadline_ms, ParseDurationMs(arguments.deadline, "--deadline"));
  v1::DrainWorkerRequest request;
  request.set_worker(arguments.worker);
  request.set_deadline_ms(deadline_ms);
  request.set_reason(arguments.reason);
  return Change(context, "drain", &v1::Control::Stub::DrainWorker, request);
}

VerbResult Release(Context& context, const Arguments& arguments) {
  v1::ReleaseWorkerRequest request;
  request.set_worker(arguments.worker);
  if (arguments.slot >= 0) request.set_slot(arguments.slot);
  return Change(context, "release", &v1::Control::Stub::ReleaseWorker, request);
}

VerbResult Quarantine(Context& context, const Arguments& arguments) {
  v1::QuarantineWorkerRequest request;
  request.set_worker(arguments.worker);
  request.set_reason(arguments.reason);
  if (arguments.slot >= 0) request.set_slot(arguments.slot);
  return Change(context, "quarantine", &v1::Control::Stub::QuarantineWorker, request);
}

CLI::App* AddChange(CommandTree& tree, CLI::App* parent, const std::string& name,
                    const std::string& summary, const std::shared_ptr<Arguments>& arguments,
                    VerbResult (*run)(Context&, const Arguments&)) {
  CLI::App* verb = tree.AddVerb(
      name, summary, [arguments, run](Context& context) { return run(context, *arguments); },
      parent);
  verb->add_option("WORKER", arguments->worker, "its id, or the name of a host with one worker")
      ->required();
  return verb;
}

void AddSlot(CLI::App* verb, const std::shared_ptr<Arguments>& arguments) {
  verb->add_option("--slot", arguments->slot, "only this slot")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->group("flags");
}

}  // namespace

void AddWorkers(CommandTree& tree) {
  CLI::App* workers = tree.AddVerb(
      "workers", "The fleet: workers, slots, environments, and what each is busy with.", &Workers);
  auto drain = std::make_shared<Arguments>();
  CLI::App* verb =
      AddChange(tree, workers, "drain",
                "Take a worker out of work, until its release, also over restarts. What runs may "
                "end within the deadline; then it is given back and counts against nobody.",
                drain, &Drain);
  verb->add_option("--deadline", drain->deadline, "for what runs (default: 10m); 0: at once")
      ->type_name("TIME")
      ->group("flags");
  verb->add_option("--reason", drain->reason, "why; shown until the release")
      ->type_name("TEXT")
      ->group("flags");
  auto release = std::make_shared<Arguments>();
  verb = AddChange(tree, workers, "release",
                   "Undo a drain or quarantine. A slot that fails its own checks is checked again "
                   "at once.",
                   release, &Release);
  AddSlot(verb, release);
  auto quarantine = std::make_shared<Arguments>();
  verb = AddChange(tree, workers, "quarantine",
                   "Take a worker, or one slot of it, out of work because it is suspect, until "
                   "its release. What runs goes on.",
                   quarantine, &Quarantine);
  AddSlot(verb, quarantine);
  verb->add_option("--reason", quarantine->reason, "why; shown until the release")
      ->type_name("TEXT")
      ->required()
      ->group("flags");
}

}  // namespace dynbench::cli
