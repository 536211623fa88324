// env build, derive and gc: environments that the coordinator has its workers make.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/base/object_folder.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/recipe.h"
#include "proto/dynbench/keepalive.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/env_text.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLookEvery{300};

struct Arguments {
  std::string recipe, base, patch, name, worker, unused_for;
  bool wait = false, dry_run = false;
  double timeout_s = 0;
};

struct FileToSend {
  std::string path, sha256;
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::NotFoundError(path + " cannot be read");
  }
  return text.str();
}

absl::Status SendOne(Client& client, const FileToSend& file) {
  const auto call = Client::NewCall(/*timeout_ms=*/0);
  v1::PutObjectsReply reply;
  const auto writer = client.stub().PutObjects(call.get(), &reply);
  std::ifstream in(file.path, std::ios::binary);
  for (bool last = false; !last;) {
    v1::ObjectPieces pieces;
    v1::ObjectPiece& piece = *pieces.add_pieces();
    piece.set_sha256(file.sha256);
    std::string& data = *piece.mutable_data();
    data.resize(proto::kChunkBytes);
    in.read(data.data(), static_cast<std::streamsize>(data.size()));
    data.resize(static_cast<size_t>(in.gcount()));
    last = in.eof() || in.peek() == std::ifstream::traits_type::eof() || !in;
    piece.set_last(last);
    if (!writer->Write(pieces)) break;
  }
  writer->WritesDone();
  return Annotate(client.FromGrpc(writer->Finish()), "sending " + file.path);
}

// Those that the coordinator has not.
absl::Status SendFiles(Client& client, const std::vector<FileToSend>& files) {
  v1::FindObjectsRequest request;
  for (const FileToSend& file : files) request.add_sha256(file.sha256);
  ASSIGN_OR_RETURN(const v1::FindObjectsReply reply,
                   (client.Call<v1::FindObjectsRequest, v1::FindObjectsReply>(
                       &v1::Control::Stub::FindObjects, request)));
  for (const std::string& missing : reply.missing()) {
    for (const FileToSend& file : files) {
      if (file.sha256 == missing) RETURN_IF_ERROR(SendOne(client, file));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<plan::Recipe> ReadRecipe(const std::string& path, std::vector<FileToSend>* wheels) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(plan::Recipe recipe, plan::ParseRecipe(text, path));
  for (plan::RecipeWheel& wheel : recipe.wheels) {
    const std::string file = (fs::path(path).parent_path() / wheel.file).string();
    auto digest = Sha256OfFile(file);
    if (!digest.ok()) {
      return absl::NotFoundError(
          absl::StrCat(path, ": the wheel ", wheel.file, " is not beside the recipe (", file, ")"));
    }
    wheel.sha256 = *digest;
    wheels->push_back({file, *digest});
  }
  return recipe;
}

void PrintOne(Context& context, const v1::FleetEnvironment& environment) {
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.environment_made/1"},
                        {"environment", FleetEnvironmentJson(environment)}});
  } else if (context.globals.quiet) {
    context.out() << environment.name() << "\n";
  } else {
    context.out() << FleetEnvironmentText(environment);
  }
}

VerbResult ExitOf(Context& context, const v1::FleetEnvironment& environment) {
  PrintOne(context, environment);
  if (environment.state() != "failed") return ExitCode::kDone;
  PrintError(context, absl::StrCat("the environment ", environment.name(),
                                   " failed: ", environment.reason()));
  return ExitCode::kInfrastructure;
}

// Prints the build's log as it grows, until nothing more happens by itself. A coordinator that is
// away for a moment is waited for.
VerbResult Follow(Context& context, Client& client, v1::FleetEnvironment environment,
                  double timeout_s) {
  const MonotonicTime begin = MonotonicNow();
  v1::GetEnvironmentLogRequest request;
  request.set_id(environment.id());
  std::string told;
  while (true) {
    const auto reply = client.Call<v1::GetEnvironmentLogRequest, v1::GetEnvironmentLogReply>(
        &v1::Control::Stub::GetEnvironmentLog, request);
    if (reply.ok()) {
      environment = reply->environment();
      request.set_offset(reply->next_offset());
      if (!context.globals.quiet) context.err() << reply->data() << std::flush;
      const bool news = environment.state() == "making" && environment.reason() != told &&
                        !environment.reason().empty() && reply->data().empty();
      if (news) PrintNote(context, environment.reason());
      if (news) told = environment.reason();
      if (IsSettled(environment)) return ExitOf(context, environment);
    } else if (!absl::IsUnavailable(reply.status()) && !absl::IsDeadlineExceeded(reply.status())) {
      return reply.status();
    }
    const double waited_s = static_cast<double>(MonotonicNow() - begin) / kNsPerSecond;
    if (timeout_s > 0 && waited_s > timeout_s) {
      PrintOne(context, environment);
      PrintNote(context, "it goes on; dynbenchctl env show " + environment.name());
      return ExitCode::kWaitTimeout;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

VerbResult Ordered(Context& context, Client& client, const v1::FleetEnvironment& environment,
                   const Arguments& arguments) {
  if (arguments.wait) return Follow(context, client, environment, arguments.timeout_s);
  return ExitOf(context, environment);
}

VerbResult Build(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "env build"));
  std::vector<FileToSend> wheels;
  ASSIGN_OR_RETURN(const plan::Recipe recipe,
                   ReadRecipe(AbsolutePath(context, arguments.recipe), &wheels));
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  RETURN_IF_ERROR(SendFiles(*client, wheels));
  v1::BuildEnvironmentRequest request;
  request.set_recipe_json(plan::RecipeToJson(recipe));
  request.set_worker(arguments.worker);
  ASSIGN_OR_RETURN(const v1::FleetEnvironment reply,
                   (client->Call<v1::BuildEnvironmentRequest, v1::FleetEnvironment>(
                       &v1::Control::Stub::BuildEnvironment, request)));
  return Ordered(context, *client, reply, arguments);
}

VerbResult Derive(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "env derive"));
  const std::string path = AbsolutePath(context, arguments.patch);
  ASSIGN_OR_RETURN(const std::string patch, ReadFile(path));
  if (patch.empty()) return absl::InvalidArgumentError(path + " is empty");
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  RETURN_IF_ERROR(SendFiles(*client, {{path, Sha256Hex(patch)}}));
  v1::DeriveEnvironmentRequest request;
  request.set_base(arguments.base);
  request.set_name(arguments.name);
  request.set_patch_sha256(Sha256Hex(patch));
  request.set_worker(arguments.worker);
  ASSIGN_OR_RETURN(const v1::FleetEnvironment reply,
                   (client->Call<v1::DeriveEnvironmentRequest, v1::FleetEnvironment>(
                       &v1::Control::Stub::DeriveEnvironment, request)));
  return Ordered(context, *client, reply, arguments);
}

VerbResult Collect(Context& context, const Arguments& arguments) {
  RETURN_IF_ERROR(NeedsCoordinator(context.globals, "env gc"));
  v1::CollectEnvironmentsRequest request;
  if (!arguments.unused_for.empty()) {
    ASSIGN_OR_RETURN(const int64_t ms, ParseDurationMs(arguments.unused_for, "--unused-for"));
    request.set_unused_for_ms(ms);
  }
  request.set_dry_run(arguments.dry_run);
  ASSIGN_OR_RETURN(const auto client,
                   Client::Connect(context.globals.coordinator, context.globals.tls));
  ASSIGN_OR_RETURN(const v1::CollectEnvironmentsReply reply,
                   (client->Call<v1::CollectEnvironmentsRequest, v1::CollectEnvironmentsReply>(
                       &v1::Control::Stub::CollectEnvironments, request, kLargeCallTimeoutMs)));
  if (context.globals.json) {
    Json dropped = Json::array(), kept = Json::array();
    for (const auto& environment : reply.dropped()) {
      dropped.push_back({{"id", environment.id()}, {"name", environment.name()}});
    }
    for (const std::string& line : reply.kept()) kept.push_back(line);
    PrintJson(context, {{"schema", "dynbench.environments_gc/1"},
                        {"dry_run", arguments.dry_run},
                        {"dropped", dropped},
                        {"kept", kept},
                        {"objects", reply.objects()},
                        {"object_bytes", reply.object_bytes()}});
    return ExitCode::kDone;
  }
  for (const auto& environment : reply.dropped()) {
    context.out() << (arguments.dry_run ? "would drop " : "dropped ") << environment.name() << " ("
                  << environment.id().substr(0, 12) << ")\n";
  }
  for (const std::string& line : reply.kept()) context.out() << "kept " << line << "\n";
  context.out() << reply.objects() << " objects, " << (reply.object_bytes() >> 20) << " MiB "
                << (arguments.dry_run ? "would be freed" : "freed") << " on the coordinator\n";
  return ExitCode::kDone;
}

void AddOrderFlags(CLI::App* verb, const std::shared_ptr<Arguments>& arguments) {
  verb->add_option("--worker", arguments->worker,
                   "who makes it: an id, or a host with one worker (default: any)")
      ->type_name("WORKER")
      ->group("flags");
  verb->add_flag("--wait", arguments->wait,
                 "follow its log, until every connected worker has it or has said why not; exit 3 "
                 "when it failed")
      ->group("flags");
  verb->add_option("--wait-timeout", arguments->timeout_s, "give up after this time (exit 6)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->group("flags");
}

}  // namespace

void AddEnvMakers(CommandTree& tree, CLI::App* group) {
  auto build = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "build", "Have one worker build an environment of a recipe, and send it to the others.",
      [build](Context& context) { return Build(context, *build); }, group);
  verb->add_option("RECIPE", build->recipe, "YAML; wheels lie beside it")->required();
  AddOrderFlags(verb, build);
  auto derive = std::make_shared<Arguments>();
  verb = tree.AddVerb(
      "derive", "An environment with changes of Python, for all workers that fit.",
      [derive](Context& context) { return Derive(context, *derive); }, group);
  verb->add_option("ENV", derive->base, "name of the environment that is changed")->required();
  verb->add_option("--patch", derive->patch, "unified diff of files below site-packages")
      ->type_name("FILE")
      ->required()
      ->group("flags");
  verb->add_option("--name", derive->name, "its name (default: ENV-DIGITS)")
      ->type_name("NAME")
      ->group("flags");
  AddOrderFlags(verb, derive);
  auto gc = std::make_shared<Arguments>();
  verb = tree.AddVerb(
      "gc",
      "Drop environments that were made for the fleet and that no waiting or running job names, on "
      "the coordinator and the workers. Those that were registered by hand stay.",
      [gc](Context& context) { return Collect(context, *gc); }, group);
  verb->add_option("--unused-for", gc->unused_for, "only those that were not used for this time")
      ->type_name("TIME")
      ->group("flags");
  verb->add_flag("--dry-run", gc->dry_run, "only say what would be dropped")->group("flags");
}

}  // namespace dynbench::cli
