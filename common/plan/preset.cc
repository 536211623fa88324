#include "common/plan/preset.h"

#include <utility>

#include "common/base/status.h"
#include "common/plan/configuration.h"
#include "common/plan/word_lists.h"
#include "common/plan/yaml_reader.h"

namespace dynbench::plan {
namespace {

// Bare compiler flags, as `options` of a configuration; contradictions are refused when the request
// is planned.
void ReadBareOptions(MapReader& reader, const std::string& object, Request* request) {
  const YamlNode* node = reader.Take("options");
  if (node == nullptr) return;
  MapReader options(*node, object + ": options", reader.file_name());
  ReadOptions(options, &request->options.emplace());
  reader.Fail(options.Finish());
  if (!request->configurations.empty()) {
    reader.Fail(*node, object + ": \"options\" and \"configurations\" exclude each other");
  }
}

// One entry: a request for each of its suites.
absl::Status ReadSubmission(const YamlNode& node, std::string_view file,
                            std::vector<Request>* submissions) {
  const std::string object = "submission";
  MapReader reader(node, object, file);
  Request request;
  std::vector<std::string> suites;
  std::string suite;
  reader.Text("suite", &suite);
  reader.TextList("suites", &suites);
  if (suite.empty() == suites.empty()) {
    reader.Fail(node, object + ": wants \"suite\" (one name) or \"suites\" (a list)");
  }
  if (!suite.empty()) suites = {suite};
  ReadWords(reader, "modes", {"inference", "training"}, &ParseMode, &request.modes);
  ReadWords(reader, "tests", {"performance", "accuracy"}, &ParseTest, &request.tests);
  reader.TextList("models", &request.models);
  reader.TextList("configurations", &request.configurations);
  ReadBareOptions(reader, object, &request);
  std::string precision;
  reader.Word("precision", {"float32", "bfloat16", "float16", "amp"}, &precision);
  if (!precision.empty()) request.precision = ParsePrecision(precision);
  reader.Text("device", &request.device);
  reader.Text("profile", &request.profile);
  ReadWords(reader, "starts", {"cold", "warm", "shared"}, &ParseStart, &request.starts);
  reader.Integer("repeat", 1, 1'000'000, &request.repeat);
  reader.Integer("batch_size", 1, 1 << 24, &request.batch_size);
  reader.Text("output", &request.output);
  RETURN_IF_ERROR(reader.Finish());
  for (std::string& name : suites) {
    request.suite = std::move(name);
    submissions->push_back(request);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Preset> ParsePreset(std::string_view text, std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Preset preset;
  MapReader reader(root, "the preset", file_name);
  reader.Text("name", &preset.name, MapReader::kRequired);
  reader.Text("description", &preset.description);
  reader.Text("source", &preset.source);
  const YamlNode* list = reader.Take("submissions", MapReader::kRequired);
  RETURN_IF_ERROR(reader.Finish());
  if (list->kind != YamlNode::Kind::kList || list->items.empty()) {
    return YamlError(file_name, *list,
                     "the preset: \"submissions\" wants a list with at least one (- suite: …)");
  }
  for (const YamlNode& item : list->items) {
    RETURN_IF_ERROR(ReadSubmission(item, file_name, &preset.submissions));
  }
  return preset;
}

}  // namespace dynbench::plan
