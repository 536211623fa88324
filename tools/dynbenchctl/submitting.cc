#include "tools/dynbenchctl/submitting.h"

#include <random>

#include "common/base/status.h"
#include "common/formats/results_table.h"
#include "proto/dynbench/keepalive.h"
#include "tools/dynbenchctl/csv_output.h"
#include "tools/dynbenchctl/finish.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/table.h"

namespace dynbench::cli {
namespace {

std::string RandomKey() {
  std::random_device device;
  std::string key;
  for (int i = 0; i < 4; ++i) {
    char word[9];
    std::snprintf(word, sizeof word, "%08x", device());
    key += word;
  }
  return key;
}

absl::Status Upload(Client& client, const LocalFile& file) {
  const auto call = Client::NewCall();
  v1::PutFileReply reply;
  const auto writer = client.stub().PutFile(call.get(), &reply);
  size_t sent = 0;
  do {
    v1::PutFileChunk chunk;
    if (sent == 0) chunk.set_name(file.name);
    chunk.set_data(file.bytes.substr(sent, proto::kChunkBytes));
    sent += chunk.data().size();
    if (!writer->Write(chunk)) break;
  } while (sent < file.bytes.size());
  writer->WritesDone();
  RETURN_IF_ERROR(Annotate(client.FromGrpc(writer->Finish()), "sending " + file.path));
  if (reply.sha256() != file.sha256) {
    return absl::DataLossError(file.path +
                               " arrived at the coordinator with other bytes; submit "
                               "again");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::SubmitReply> SendRequest(Client& client, const BuiltRequest& built) {
  for (const LocalFile& file : built.files) RETURN_IF_ERROR(Upload(client, file));
  v1::SubmitRequest request;
  request.set_idempotency_key(RandomKey());
  const std::string json = plan::ToJson(built.request);
  auto submit = [&]() -> absl::StatusOr<v1::SubmitReply> {
    // Again for a second call as well: a coordinator that was restarted has forgotten it.
    ASSIGN_OR_RETURN(const int64_t timeout_ms, client.SetRequest(json, &request));
    return client.Call<v1::SubmitRequest, v1::SubmitReply>(&v1::Control::Stub::Submit, request,
                                                           timeout_ms);
  };
  auto reply = submit();
  // The first one may have been committed: the key makes the second one answer the same job.
  if (absl::IsUnavailable(reply.status())) reply = submit();
  return reply;
}

Json SubmittedJson(const v1::SubmitReply& reply) {
  return {{"schema", "dynbench.submit/1"},
          {"job", reply.job()},
          {"planned", reply.planned()},
          {"skipped", reply.skipped()},
          {"warnings", std::vector<std::string>(reply.warnings().begin(), reply.warnings().end())}};
}

void PrintSubmitted(Context& context, const v1::SubmitReply& reply) {
  for (const std::string& warning : reply.warnings()) PrintNote(context, warning);
  if (context.globals.json) {
    PrintJson(context, SubmittedJson(reply));
    return;
  }
  const std::string job = std::to_string(reply.job());
  if (context.globals.quiet) {
    context.out() << job << "\n";
    return;
  }
  context.out() << "job " << job << ": " << reply.planned() << " experiments";
  if (reply.skipped() > 0) context.out() << ", " << reply.skipped() << " of them skipped";
  context.out() << "\n";
  context.out().flush();
}

absl::StatusOr<FollowedJob> FollowAndWrite(Context& context, JobId job, double timeout_s,
                                           const OutputFiles& output) {
  FollowedJob followed;
  ASSIGN_OR_RETURN(followed.end, WaitForJob(context, job, timeout_s, /*rows=*/true));
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(followed.view, source->GetJob(job));
  ASSIGN_OR_RETURN(followed.rows, source->Results(job, output.beside.raw_timings));
  // An unfinished job has no whole file to write.
  if (output.folder.empty() || followed.end.timed_out) return followed;
  ASSIGN_OR_RETURN(const auto paths, WriteOutput(output, followed.rows));
  for (const std::string& path : paths) PrintNote(context, "wrote " + path);
  return followed;
}

void PrintFollowed(Context& context, const FollowedJob& followed) {
  if (context.globals.json) {
    PrintJson(context, ResultsJson(followed.view, followed.rows));
  } else if (!context.globals.quiet) {
    context.out() << "\n"
                  << formats::ResultsTable(followed.view.job, StoreRows(followed.rows),
                                           StyleOf(context));
  }
}

VerbResult FollowAndReport(Context& context, JobId job, double timeout_s,
                           const OutputFiles& output) {
  ASSIGN_OR_RETURN(const FollowedJob followed, FollowAndWrite(context, job, timeout_s, output));
  PrintFollowed(context, followed);
  return ExitOf(followed.end);
}

}  // namespace dynbench::cli
