#include "common/plan/suite.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/yaml_reader.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan {
namespace {

constexpr int kBatchMax = 1 << 24;

// Names appear in tables, file names, CSV cells and comma lists of the command line.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 200 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isgraph(c) != 0 && c != ',' && c != '"' && c != '\'' && c != '\\';
         });
}

bool IsSuiteName(std::string_view text) {
  return IsName(text) && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

// Reads a text that must be one of `words`.
void OneOf(MapReader& reader, const std::string& object, const YamlNode& node,
           const std::string& key, const std::vector<std::string>& words, std::string* value) {
  std::string text;
  reader.Text(key, &text);
  if (text.empty()) return;
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    const auto entry = std::find_if(node.entries.begin(), node.entries.end(),
                                    [&](const YamlEntry& e) { return e.key == key; });
    reader.Fail(entry->value, absl::StrCat(object, ": \"", key, "\" wants one of ", all, ", not \"",
                                           text, "\"", DidYouMean(text, words)));
    return;
  }
  *value = text;
}

absl::Status ReadCondition(const YamlNode& node, const std::string& object, std::string_view file,
                           Condition* when) {
  MapReader reader(node, object, file);
  reader.Text("device", &when->device);
  reader.Text("arch", &when->arch);
  OneOf(reader, object, node, "mode", {"inference", "training"}, &when->mode);
  OneOf(reader, object, node, "test", {"performance", "accuracy"}, &when->test);
  reader.Bool("freezing", &when->only_freezing);
  return reader.Finish();
}

absl::Status ReadSkip(const YamlNode& list, const std::string& object, std::string_view file,
                      std::vector<SkipRule>* rules) {
  if (list.kind != YamlNode::Kind::kList) {
    return YamlError(file, list, absl::StrCat(object, ": \"skip\" wants a list (- reason: …)"));
  }
  for (const YamlNode& item : list.items) {
    SkipRule rule;
    const std::string rule_object = object + ": skip rule";
    MapReader reader(item, rule_object, file);
    reader.Text("reason", &rule.reason, MapReader::kRequired);
    reader.Bool("slow", &rule.slow);
    if (const YamlNode* when = reader.Take("when")) {
      reader.Fail(ReadCondition(*when, rule_object + ": when", file, &rule.when));
    }
    RETURN_IF_ERROR(reader.Finish());
    rules->push_back(std::move(rule));
  }
  return absl::OkStatus();
}

// What a model's entry (or `defaults`) says, before divisors and fallbacks are applied.
struct Draft {
  ModelRules rules;
  int divisor = 1;
  std::optional<double> tolerance_freezing;
};

absl::Status ReadTolerance(const YamlNode& node, const std::string& object, std::string_view file,
                           Draft* draft) {
  MapReader reader(node, object + ": tolerance", file);
  reader.Positive("inference", &draft->rules.tolerance_inference);
  reader.Positive("training", &draft->rules.tolerance_training);
  double freezing = 0;
  reader.Positive("freezing", &freezing);
  if (freezing > 0) draft->tolerance_freezing = freezing;
  return reader.Finish();
}

// The keys that a model and `defaults` share.
void ReadRules(MapReader& reader, const std::string& object, const YamlNode& node, Draft* draft) {
  ModelRules& rules = draft->rules;
  reader.Integer("batch_size", 1, kBatchMax, &rules.batch_size);
  reader.Integer("batch_size_training", 1, kBatchMax, &rules.batch_size_training);
  reader.Integer("batch_size_divisor", 1, kBatchMax, &draft->divisor);
  reader.Integer("batch_size_accuracy", 1, kBatchMax, &rules.batch_size_accuracy);
  if (const YamlNode* tolerance = reader.Take("tolerance")) {
    reader.Fail(ReadTolerance(*tolerance, object, reader.file_name(), draft));
  }
  reader.Bool("cosine", &rules.cosine);
  reader.Bool("larger_multiplier_for_small_tensors", &rules.larger_multiplier_for_small_tensors);
  reader.Bool("non_deterministic", &rules.non_deterministic);
  reader.Positive("loss_divisor", &rules.loss_divisor);
  OneOf(reader, object, node, "optimizer", {"adam", "sgd", "none"}, &rules.optimizer);
  reader.TextMap("inductor_config", &rules.inductor_config);
  if (const YamlNode* when = reader.Take("eager_not_deterministic")) {
    MapReader modes(*when, object + ": eager_not_deterministic", reader.file_name());
    modes.Bool("inference", &rules.eager_not_deterministic_inference);
    modes.Bool("training", &rules.eager_not_deterministic_training);
    reader.Fail(modes.Finish());
  }
  if (const YamlNode* skip = reader.Take("skip")) {
    reader.Fail(ReadSkip(*skip, object, reader.file_name(), &rules.skip));
  }
}

// Divisors applied (not below 1, as upstream), and the loader's own defaults filled in.
ModelRules Settle(Draft draft, const std::string& loader) {
  ModelRules rules = std::move(draft.rules);
  for (int* size : {&rules.batch_size, &rules.batch_size_training}) {
    if (*size > 0) *size = std::max(1, *size / draft.divisor);
  }
  if (rules.batch_size_training == 0) rules.batch_size_training = rules.batch_size;
  // Upstream's default for TIMM in accuracy mode.
  if (rules.batch_size_accuracy == 0 && loader == "timm") rules.batch_size_accuracy = 8;
  rules.tolerance_freezing = draft.tolerance_freezing.value_or(rules.tolerance_inference);
  return rules;
}

absl::Status CheckLoaderKeys(const YamlNode& node, const std::string& object,
                             const std::string& loader, const ModelRules& rules,
                             std::string_view file) {
  if (loader == "path") {
    if (!rules.file.empty() && !rules.class_name.empty()) return absl::OkStatus();
    return YamlError(file, node,
                     absl::StrCat(object, ": the loader \"path\" needs \"file\" (a Python file, ",
                                  "relative to this one) and \"class\" (the model's class in it)"));
  }
  if (!rules.file.empty() || !rules.class_name.empty()) {
    return YamlError(file, node,
                     absl::StrCat(object, ": \"file\" and \"class\" belong to the loader ",
                                  "\"path\", and this suite's loader is \"", loader, "\""));
  }
  if (rules.batch_size == 0) {
    return YamlError(file, node,
                     absl::StrCat(object, ": the key \"batch_size\" is missing; give it here or ",
                                  "in \"defaults\""));
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelRules> ReadModel(const YamlNode& node, const Draft& defaults,
                                     const std::string& loader, const std::string& file_name) {
  Draft draft = defaults;
  std::string object = "a model";
  for (const YamlEntry& entry : node.entries) {
    if (entry.key == "name") object = absl::StrCat("model \"", entry.value.text, "\"");
  }
  MapReader reader(node, object, file_name);
  ModelRules& rules = draft.rules;
  rules.line = node.line;
  reader.Text("name", &rules.name, MapReader::kRequired);
  if (!rules.name.empty() && !IsName(rules.name)) {
    reader.Fail(node, absl::StrCat(object, ": a model's name has no blanks, commas, quotes or ",
                                   "backslashes"));
  }
  ReadRules(reader, object, node, &draft);
  reader.Text("file", &rules.file);
  reader.Text("class", &rules.class_name);
  reader.Text("flaky", &rules.flaky);
  reader.TextMap("information", &rules.information);
  RETURN_IF_ERROR(reader.Finish());
  ModelRules settled = Settle(std::move(draft), loader);
  RETURN_IF_ERROR(CheckLoaderKeys(node, object, loader, settled, file_name));
  return settled;
}

absl::Status ReadModels(const YamlNode& list, const Draft& defaults, const std::string& file_name,
                        Suite* suite) {
  if (list.kind != YamlNode::Kind::kList || list.items.empty()) {
    return YamlError(file_name, list,
                     "the suite: \"models\" wants a list with at least one model (- name: …)");
  }
  std::map<std::string, int> lines;
  for (const YamlNode& item : list.items) {
    ASSIGN_OR_RETURN(ModelRules rules, ReadModel(item, defaults, suite->loader, file_name));
    const auto [first, added] = lines.emplace(rules.name, rules.line);
    if (!added) {
      return YamlError(
          file_name, item,
          absl::StrCat("model \"", rules.name, "\" is given twice, in line ", first->second,
                       " and in line ", rules.line, "; keep one of them"));
    }
    suite->models.push_back(std::move(rules));
  }
  std::sort(suite->models.begin(), suite->models.end(),
            [](const ModelRules& a, const ModelRules& b) { return a.name < b.name; });
  return absl::OkStatus();
}

nlohmann::json SkipJson(const SkipRule& rule) {
  nlohmann::json when = nlohmann::json::object();
  if (!rule.when.device.empty()) when["device"] = rule.when.device;
  if (!rule.when.arch.empty()) when["arch"] = rule.when.arch;
  if (!rule.when.mode.empty()) when["mode"] = rule.when.mode;
  if (!rule.when.test.empty()) when["test"] = rule.when.test;
  if (rule.when.only_freezing) when["freezing"] = true;
  return {{"when", when}, {"reason", rule.reason}, {"slow", rule.slow}};
}

nlohmann::json ModelJson(const ModelRules& rules) {
  nlohmann::json skip = nlohmann::json::array();
  for (const SkipRule& rule : rules.skip) skip.push_back(SkipJson(rule));
  return {
      {"name", rules.name},
      {"batch_size", rules.batch_size},
      {"batch_size_training", rules.batch_size_training},
      {"batch_size_accuracy", rules.batch_size_accuracy},
      {"tolerance",
       {{"inference", rules.tolerance_inference},
        {"training", rules.tolerance_training},
        {"freezing", rules.tolerance_freezing}}},
      {"cosine", rules.cosine},
      {"larger_multiplier_for_small_tensors", rules.larger_multiplier_for_small_tensors},
      {"eager_not_deterministic",
       {{"inference", rules.eager_not_deterministic_inference},
        {"training", rules.eager_not_deterministic_training}}},
      {"non_deterministic", rules.non_deterministic},
      {"loss_divisor", rules.loss_divisor},
      {"optimizer", rules.optimizer},
      {"inductor_config", rules.inductor_config},
      {"skip", skip},
      {"file", rules.file},
      {"class", rules.class_name},
      {"flaky", rules.flaky},
      {"information", rules.information},
      {"line", rules.line},
  };
}

}  // namespace

const ModelRules* Suite::Find(std::string_view model) const {
  const auto it =
      std::lower_bound(models.begin(), models.end(), model,
                       [](const ModelRules& rules, std::string_view m) { return rules.name < m; });
  return it != models.end() && it->name == model ? &*it : nullptr;
}

absl::StatusOr<Suite> ParseSuite(std::string_view text, std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Suite suite;
  suite.sha256 = Sha256Hex(text);
  const std::string object = "the suite";
  MapReader reader(root, object, file_name);
  std::string schema;
  OneOf(reader, object, root, "schema", {"dynbench.suite/1"}, &schema);
  reader.Text("name", &suite.name, MapReader::kRequired);
  if (!suite.name.empty() && !IsSuiteName(suite.name)) {
    reader.Fail(root, absl::StrCat("the suite: the name \"", suite.name,
                                   "\" may hold letters, digits, '_', '-' and '.' only"));
  }
  suite.loader = "timm";
  OneOf(reader, object, root, "loader", {"timm", "path"}, &suite.loader);
  reader.Text("description", &suite.description);
  reader.Text("source", &suite.source);
  Draft defaults;
  if (const YamlNode* node = reader.Take("defaults")) {
    MapReader rules(*node, "defaults", file_name);
    ReadRules(rules, "defaults", *node, &defaults);
    reader.Fail(rules.Finish());
  }
  const YamlNode* models = reader.Take("models", MapReader::kRequired);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(ReadModels(*models, defaults, std::string(file_name), &suite));
  return suite;
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  constexpr size_t kBytesMax = size_t{4} << 20;
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) {
    text.resize(kBytesMax + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
  }
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file; check the path"));
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": may not be read by this user; change its permissions"));
  }
  if (!in && !in.eof()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": cannot be read (", std::generic_category().message(error), "); name a text file"));
  }
  if (text.size() > kBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is larger than 4 MiB, which no suite is; check the path"));
  }
  return text;
}

absl::StatusOr<Suite> LoadSuite(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  return ParseSuite(text, path);
}

nlohmann::json ToJson(const Suite& suite) {
  nlohmann::json models = nlohmann::json::array();
  for (const ModelRules& rules : suite.models) models.push_back(ModelJson(rules));
  return {{"schema", "dynbench.suite/1"},     {"name", suite.name},     {"loader", suite.loader},
          {"description", suite.description}, {"source", suite.source}, {"sha256", suite.sha256},
          {"models", std::move(models)}};
}

}  // namespace dynbench::plan
