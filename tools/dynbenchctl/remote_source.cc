#include "tools/dynbenchctl/remote_source.h"

#include <grpcpp/grpcpp.h>

#include "common/base/status.h"
#include "dynbench/v1/session.grpc.pb.h"
#include "proto/dynbench/convert.h"
#include "tools/dynbenchctl/history_proto.h"

namespace dynbench::cli {
namespace {

class RemoteSource : public Source {
 public:
  explicit RemoteSource(std::unique_ptr<Client> client) : client_(std::move(client)) {}

  std::string Name() const override { return "the coordinator at " + client_->address(); }

  absl::StatusOr<std::vector<JobView>> Jobs(int64_t limit) override { return List(0, limit); }

  absl::StatusOr<JobView> GetJob(JobId job) override {
    ASSIGN_OR_RETURN(const std::vector<JobView> jobs, List(job.value, 1));
    if (jobs.empty()) {
      return absl::NotFoundError("there is no job " + std::to_string(job.value) +
                                 "; dynbenchctl status lists them");
    }
    return jobs.front();
  }

  absl::StatusOr<std::vector<RowView>> Results(JobId job, bool with_samples) override {
    v1::ListResultsRequest request;
    request.set_job(job.value);
    request.set_with_samples(with_samples);
    const auto call = Client::NewCall();
    const auto stream = client_->stub().ListResults(call.get(), request);
    std::vector<RowView> rows;
    v1::ResultPage page;
    plan::ExperimentReader reader;
    absl::Status bad;
    while (stream->Read(&page)) {
      for (const v1::ResultRow& message : page.rows()) {
        if (!bad.ok()) continue;
        RowView& view = rows.emplace_back();
        view.row.job = job;
        bad = FromProto(message, &reader, &view);
      }
    }
    RETURN_IF_ERROR(client_->FromGrpc(stream->Finish()));
    RETURN_IF_ERROR(bad);
    return rows;
  }

  absl::StatusOr<ExperimentView> Experiment(ExperimentId experiment) override {
    v1::GetExperimentRequest request;
    request.set_experiment(experiment.value);
    ASSIGN_OR_RETURN(const v1::ExperimentDetail detail,
                     (client_->Call<v1::GetExperimentRequest, v1::ExperimentDetail>(
                         &v1::Control::Stub::GetExperiment, request)));
    ExperimentView view;
    ASSIGN_OR_RETURN(view.row, FromProto(detail.row()));
    view.row.row.job = JobId(detail.job());
    for (const v1::Attempt& attempt : detail.attempts()) {
      view.attempts.push_back({proto::FromProto(attempt.id()), WorkerId(attempt.worker()),
                               attempt.slot(), attempt.state(), attempt.reason(),
                               UnixTimeMs{attempt.started_unix_ms()},
                               UnixTimeMs{attempt.finished_unix_ms()}});
    }
    view.waiting_reasons.assign(detail.waiting_reasons().begin(), detail.waiting_reasons().end());
    view.environment_json = detail.environment_json();
    view.inventory_json = detail.inventory_json();
    return view;
  }

  absl::Status Log(ExperimentId experiment, bool follow,
                   const std::function<void(std::string_view)>& sink) override {
    v1::GetLogRequest request;
    request.set_experiment(experiment.value);
    request.set_follow(follow);
    const auto call = Client::NewCall(follow ? 0 : kCallTimeoutMs);
    const auto stream = client_->stub().GetLog(call.get(), request);
    v1::GetLogChunk chunk;
    while (stream->Read(&chunk)) sink(chunk.data());
    return client_->FromGrpc(stream->Finish());
  }

  absl::StatusOr<std::vector<WorkerView>> Workers() override {
    const auto call = Client::NewCall();
    const auto stream = client_->stub().ListWorkers(call.get(), v1::ListWorkersRequest());
    std::vector<WorkerView> workers;
    v1::Worker worker;
    while (stream->Read(&worker)) workers.push_back(FromProto(worker));
    RETURN_IF_ERROR(client_->FromGrpc(stream->Finish()));
    return workers;
  }

  absl::StatusOr<std::vector<v1::FleetEnvironment>> FleetEnvironments() override {
    const auto call = Client::NewCall();
    const auto stream = client_->stub().ListEnvironments(call.get(), v1::ListEnvironmentsRequest());
    std::vector<v1::FleetEnvironment> environments;
    v1::FleetEnvironment environment;
    while (stream->Read(&environment)) environments.push_back(environment);
    const grpc::Status status = stream->Finish();
    // A coordinator of before these verbs has none.
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return environments;
    RETURN_IF_ERROR(client_->FromGrpc(status));
    return environments;
  }

  absl::StatusOr<std::vector<store::SlotSeconds>> Idle(UnixTimeMs since,
                                                       UnixTimeMs until) override {
    v1::GetIdleRequest request;
    request.set_since_unix_ms(since.ms);
    request.set_until_unix_ms(until.ms);
    ASSIGN_OR_RETURN(
        const v1::IdleReport report,
        (client_->Call<v1::GetIdleRequest, v1::IdleReport>(&v1::Control::Stub::GetIdle, request)));
    std::vector<store::SlotSeconds> rows;
    for (const v1::IdleSpan& span : report.spans()) {
      rows.push_back({{WorkerId(span.worker()), span.slot()}, span.reason(), span.seconds()});
    }
    return rows;
  }

  absl::StatusOr<std::vector<store::NoiseFloorRow>> NoiseFloors(JobId job) override {
    v1::ListNoiseFloorsRequest request;
    request.set_job(job.value);
    const auto call = Client::NewCall();
    const auto stream = client_->stub().ListNoiseFloors(call.get(), request);
    std::vector<store::NoiseFloorRow> rows;
    v1::NoiseFloor floor;
    while (stream->Read(&floor)) {
      rows.push_back({floor.series(),
                      floor.worker_host(),
                      floor.metric(),
                      floor.between_variance(),
                      floor.degrees_of_freedom(),
                      floor.within_variance(),
                      floor.processes(),
                      JobId(floor.job()),
                      {floor.measured_unix_ms()}});
    }
    RETURN_IF_ERROR(client_->FromGrpc(stream->Finish()));
    return rows;
  }

  absl::StatusOr<store::History> History(const store::HistoryFilter& filter) override {
    return ReadHistory(ToProto(filter));
  }

  absl::StatusOr<store::History> HistorySince(UnixTimeMs since, int64_t limit) override {
    v1::ListHistoryRequest request;
    request.set_since_unix_ms(since.ms);
    request.set_limit(limit);
    return ReadHistory(request);
  }

  absl::StatusOr<std::string> File(const std::string& sha256) override {
    const auto sessions = v1::WorkerSession::NewStub(client_->channel());
    v1::FetchFileRequest request;
    request.set_sha256(sha256);
    const auto call = Client::NewCall();
    const auto stream = sessions->FetchFile(call.get(), request);
    std::string bytes;
    v1::FileChunk chunk;
    while (stream->Read(&chunk)) bytes += chunk.data();
    RETURN_IF_ERROR(client_->FromGrpc(stream->Finish()));
    return bytes;
  }

 private:
  absl::StatusOr<store::History> ReadHistory(const v1::ListHistoryRequest& request) {
    const auto call = Client::NewCall();
    const auto stream = client_->stub().ListHistory(call.get(), request);
    store::History history;
    v1::HistoryPage page;
    absl::Status bad;
    while (stream->Read(&page)) bad.Update(AddPage(page, &history));
    const grpc::Status status = stream->Finish();
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return store::History();
    RETURN_IF_ERROR(client_->FromGrpc(status));
    RETURN_IF_ERROR(bad);
    return history;
  }

  absl::StatusOr<std::vector<JobView>> List(int64_t job, int64_t limit) {
    v1::ListJobsRequest request;
    request.set_job(job);
    request.set_limit(limit);
    const auto call = Client::NewCall();
    const auto stream = client_->stub().ListJobs(call.get(), request);
    std::vector<JobView> jobs;
    v1::Job message;
    while (stream->Read(&message)) jobs.push_back(FromProto(message));
    RETURN_IF_ERROR(client_->FromGrpc(stream->Finish()));
    return jobs;
  }

  std::unique_ptr<Client> client_;
};

}  // namespace

JobView FromProto(const v1::Job& job) {
  JobView view;
  view.job.id = JobId(job.id());
  view.job.state = job.state();
  view.job.suite = job.suite();
  view.job.label = job.label();
  view.job.user = job.user();
  view.job.cancel_reason = job.cancel_reason();
  view.job.retries = JobId(job.retries());
  view.job.submitted_at = {job.submitted_unix_ms()};
  view.job.finished_at = {job.finished_unix_ms()};
  const v1::Coverage& c = job.coverage();
  view.job.coverage = {c.planned(), c.passed(),    c.failed(),  c.skipped(),
                       c.lost(),    c.cancelled(), c.waiting(), c.running()};
  if (job.eta_s() >= 0) view.eta_s = job.eta_s();
  // A coordinator that does not say sends 0.
  if (job.eta_p90_s() >= job.eta_s()) view.eta_p90_s = job.eta_p90_s();
  view.waiting_reasons.assign(job.waiting_reasons().begin(), job.waiting_reasons().end());
  return view;
}

absl::StatusOr<RowView> FromProto(const v1::ResultRow& message) {
  RowView view;
  plan::ExperimentReader reader;
  RETURN_IF_ERROR(FromProto(message, &reader, &view));
  return view;
}

absl::Status FromProto(const v1::ResultRow& message, plan::ExperimentReader* reader,
                       RowView* view) {
  store::ResultRow& row = view->row;
  row.id = ExperimentId(message.experiment().id());
  const auto named = [&row](const absl::Status& status) {
    return Annotate(status, "experiment " + std::to_string(row.id.value));
  };
  const absl::Status read = reader->Read(message.experiment().json());
  if (!read.ok()) return named(read);
  row.experiment = reader->experiment();
  row.state = message.state();
  row.result.reset();
  if (message.has_result()) {
    auto result = proto::FromProto(message.result());
    if (!result.ok()) return named(result.status());
    row.result = *std::move(result);
  }
  row.attempt = message.attempt();
  row.worker.value = message.worker();
  row.worker_host = message.worker_host();
  row.lease = LeaseEpoch(message.lease());
  row.started_at = {message.started_unix_ms()};
  row.finished_at = {message.finished_unix_ms()};
  view->phase = message.phase();
  return absl::OkStatus();
}

WorkerView FromProto(const v1::Worker& message) {
  WorkerView worker;
  worker.id = message.id();
  worker.host = message.host();
  worker.version = message.version();
  worker.connected = message.connected();
  worker.last_seen = {message.last_seen_unix_ms()};
  worker.spooled_results = message.spooled_results();
  worker.state =
      message.state().empty() ? (message.connected() ? "connected" : "away") : message.state();
  worker.reason = message.reason();
  worker.degraded = message.degraded();
  worker.clock_skew_ms = message.clock_skew_ms();
  worker.labels = {message.labels().begin(), message.labels().end()};
  for (const v1::WorkerSlot& slot : message.slots()) {
    worker.slots.push_back({slot.index(), slot.device(), slot.device_name(), slot.cores(),
                            slot.reason(), slot.busy_with(), slot.accepting(), slot.state(),
                            slot.activity()});
  }
  for (const v1::WorkerEnvironment& environment : message.environments()) {
    worker.environments.push_back(
        {environment.name(), environment.torch_version(), environment.hash(), environment.python(),
         std::vector<std::string>(environment.suites().begin(), environment.suites().end()),
         std::vector<std::string>(environment.capabilities().begin(),
                                  environment.capabilities().end())});
  }
  return worker;
}

std::unique_ptr<Source> MakeRemoteSource(std::unique_ptr<Client> client) {
  return std::make_unique<RemoteSource>(std::move(client));
}

}  // namespace dynbench::cli
