#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string job, model, test, fetch;
};

struct Artifact {
  const RowView* row;
  std::string path;
  int64_t size_bytes = -1;  // -1: not on this host, or gone
};

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

bool IsHere(const RowView& row) { return row.row.worker_host == HostName(); }

std::vector<Artifact> ArtifactsOf(const std::vector<RowView>& rows) {
  std::vector<Artifact> artifacts;
  for (const RowView& row : rows) {
    if (!row.row.result) continue;
    for (const std::string& path : row.row.result->artifacts) {
      Artifact artifact{&row, path};
      std::error_code error;
      const auto size = IsHere(row) ? fs::file_size(path, error) : 0;
      if (IsHere(row) && !error) artifact.size_bytes = static_cast<int64_t>(size);
      artifacts.push_back(std::move(artifact));
    }
  }
  return artifacts;
}

// The path below the folder of its attempt ("EXPERIMENT.LEASE/…"): a name of its own in DIR.
std::string RelativePath(const Artifact& artifact) {
  const std::string attempt =
      absl::StrCat(artifact.row->row.id.value, ".", artifact.row->row.lease.value);
  const size_t start = artifact.path.find(absl::StrCat("/", attempt, "/"));
  if (start == std::string::npos) {
    return absl::StrCat(attempt, "/", fs::path(artifact.path).filename().string());
  }
  return artifact.path.substr(start + 1);
}

absl::Status Copy(const Artifact& artifact, const std::string& folder) {
  if (!IsHere(*artifact.row)) {
    return absl::FailedPreconditionError(absl::StrCat(
        artifact.path, " is on host ", artifact.row->row.worker_host,
        ", and this is another one; copy it from there (scp, rsync), or run this command there"));
  }
  std::error_code error;
  const fs::path target = fs::path(folder) / fs::path(RelativePath(artifact)).lexically_normal();
  fs::create_directories(target.parent_path(), error);
  fs::copy_file(artifact.path, target, fs::copy_options::overwrite_existing, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(
        artifact.path, " cannot be copied to ", target.string(), ": ", error.message(),
        artifact.size_bytes < 0 ? " (a worker removes its oldest artifacts above its cap)" : ""));
  }
  return absl::OkStatus();
}

Json ToJson(const std::vector<Artifact>& artifacts) {
  Json list = Json::array();
  for (const Artifact& artifact : artifacts) {
    const store::ResultRow& row = artifact.row->row;
    list.push_back({{"experiment", row.id.value},
                    {"suite", row.experiment.suite},
                    {"model", row.experiment.model},
                    {"test", ToString(row.experiment.test)},
                    {"host", row.worker_host},
                    {"path", artifact.path}});
    list.back()["size_bytes"] = artifact.size_bytes < 0 ? Json() : Json(artifact.size_bytes);
  }
  return {{"schema", "dynbench.artifacts/1"}, {"artifacts", std::move(list)}};
}

void PrintTable(Context& context, const std::vector<Artifact>& artifacts) {
  formats::TextTable table({{"test"}, {"host"}, {"bytes", formats::Align::kRight}, {"path"}});
  for (const Artifact& artifact : artifacts) {
    AddTextRow(
        table,
        {std::string(ToString(artifact.row->row.experiment.test)), artifact.row->row.worker_host,
         artifact.size_bytes < 0 ? "" : std::to_string(artifact.size_bytes), artifact.path});
  }
  context.out() << table.Render(StyleOf(context));
}

VerbResult ListArtifacts(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(arguments.job));
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto all, source->Results(job, false));
  ASSIGN_OR_RETURN(const auto rows, RowsOfModel(all, arguments.model, arguments.test));
  const std::vector<Artifact> artifacts = ArtifactsOf(rows);
  if (context.globals.json) {
    PrintJson(context, ToJson(artifacts));
  } else if (artifacts.empty()) {
    PrintNote(context, arguments.model +
                           " left no artifacts; `retry JOB --models MODEL --debug` makes some");
  } else if (arguments.fetch.empty()) {
    PrintTable(context, artifacts);
  }
  if (arguments.fetch.empty()) return ExitCode::kDone;
  for (const Artifact& artifact : artifacts) {
    RETURN_IF_ERROR(Copy(artifact, AbsolutePath(context, arguments.fetch)));
    if (!context.globals.json) {
      context.out() << arguments.fetch << "/" << RelativePath(artifact) << "\n";
    }
  }
  return ExitCode::kDone;
}

}  // namespace

void AddArtifacts(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("artifacts", "Files that a model's runs left: traces, logs, a minifier's repro.",
                   [arguments](Context& context) { return ListArtifacts(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_option("MODEL", arguments->model, "exact name of the model")->required();
  AddTestFlag(tree, verb, &arguments->test, "only this test");
  verb->add_option("--fetch", arguments->fetch,
                   "copy them into this folder; from a worker on another host they must be copied "
                   "by other means, which is said")
      ->group("flags");
}

}  // namespace dynbench::cli
