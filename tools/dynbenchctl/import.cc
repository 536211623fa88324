#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "proto/dynbench/spool_file.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

constexpr int64_t kImportTimeoutMs = int64_t{3600} * 1000;

// One serialized result a file; a file that is none is told in `refused` and passed over.
std::vector<v1::ImportResultsChunk> ReadFiles(const std::vector<std::string>& paths,
                                              std::vector<std::string>* refused) {
  std::vector<v1::ImportResultsChunk> chunks;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open()) {
      refused->push_back(path + ": cannot be read");
      continue;
    }
    const auto finished = proto::DecodeSpoolFile(text);
    if (!finished) {
      refused->push_back(path + ": is no whole result of a worker's spool");
      continue;
    }
    v1::ImportResultsChunk& chunk = chunks.emplace_back();
    chunk.set_name(path);
    chunk.set_finished(finished->SerializeAsString());
  }
  return chunks;
}

absl::StatusOr<v1::ImportResultsReply> Send(const Globals& globals,
                                            const std::vector<v1::ImportResultsChunk>& chunks) {
  ASSIGN_OR_RETURN(const auto client, Client::Connect(globals.coordinator, globals.tls));
  v1::ImportResultsReply reply;
  const auto call = Client::NewCall(kImportTimeoutMs);
  const auto stream = client->stub().ImportResults(call.get(), &reply);
  for (const v1::ImportResultsChunk& chunk : chunks) {
    if (!stream->Write(chunk)) break;  // Finish says why
  }
  stream->WritesDone();
  RETURN_IF_ERROR(client->FromGrpc(stream->Finish()));
  return reply;
}

VerbResult Import(Context& context, const std::vector<std::string>& files) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "import"));
  std::vector<std::string> paths, refused;
  for (const std::string& file : files) paths.push_back(AbsolutePath(context, file));
  const std::vector<v1::ImportResultsChunk> chunks = ReadFiles(paths, &refused);
  ASSIGN_OR_RETURN(const v1::ImportResultsReply reply, Send(context.globals, chunks));
  refused.insert(refused.end(), reply.refused().begin(), reply.refused().end());
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.import/1"},
                        {"counted", reply.counted()},
                        {"duplicate", reply.duplicate()},
                        {"superseded", reply.superseded()},
                        {"refused", refused}});
  } else {
    if (!context.globals.quiet) {
      context.out() << reply.counted() << " counted, " << reply.duplicate() << " known already, "
                    << reply.superseded() << " superseded (kept as evidence), " << refused.size()
                    << " refused\n";
    }
    for (const std::string& why : refused) PrintError(context, why);
  }
  return refused.empty() ? ExitCode::kDone : ExitCode::kRefused;
}

}  // namespace

void AddImport(CommandTree& tree) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = tree.AddVerb(
      "import",
      "Deliver results that a worker could not: the files of its spool (WORKER-STATE/spool). "
      "Their own times are kept; the same file twice changes nothing.",
      [files](Context& context) { return Import(context, *files); });
  verb->add_option("FILE", *files, "files of a spool")->required();
}

}  // namespace dynbench::cli
