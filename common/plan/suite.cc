#include "common/plan/suite.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/suite_rules.h"
#include "common/plan/yaml_reader.h"

namespace dynbench::plan {
namespace {

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
  ReadRules(reader, object, &draft);
  reader.Text("file", &rules.file);
  reader.Text("class", &rules.class_name);
  reader.Text("flaky", &rules.flaky);
  reader.Bool("newer", &rules.newer);
  reader.Positive("typical_compile_s", &rules.typical_compile_s);
  reader.TextMap("information", &rules.information);
  RETURN_IF_ERROR(reader.Finish());
  ModelRules settled = Settle(std::move(draft), loader);
  RETURN_IF_ERROR(CheckLoaderKeys(node, object, loader, settled, file_name));
  return settled;
}

absl::Status ReadModels(const YamlNode& list, const Draft& defaults, bool as_listed,
                        const std::string& file_name, Suite* suite) {
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
  if (as_listed) return absl::OkStatus();
  std::sort(suite->models.begin(), suite->models.end(),
            [](const ModelRules& a, const ModelRules& b) { return a.name < b.name; });
  return absl::OkStatus();
}

}  // namespace

const ModelRules* Suite::Find(std::string_view model) const {
  const auto it = std::find_if(models.begin(), models.end(),
                               [&](const ModelRules& rules) { return rules.name == model; });
  return it != models.end() ? &*it : nullptr;
}

absl::StatusOr<Suite> ParseSuite(std::string_view text, std::string_view file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Suite suite;
  suite.sha256 = Sha256Hex(text);
  const std::string object = "the suite";
  MapReader reader(root, object, file_name);
  std::string schema;
  reader.Word("schema", {"dynbench.suite/1"}, &schema);
  reader.Text("name", &suite.name, MapReader::kRequired);
  if (!suite.name.empty() && !IsSuiteName(suite.name)) {
    reader.Fail(root, absl::StrCat("the suite: the name \"", suite.name,
                                   "\" may hold letters, digits, '_', '-' and '.' only"));
  }
  suite.loader = "timm";
  reader.Word("loader", {"timm", "huggingface", "torchbench", "path"}, &suite.loader);
  std::string order = "name";
  reader.Word("order", {"name", "listed"}, &order);
  reader.Text("description", &suite.description);
  reader.Text("source", &suite.source);
  Draft defaults;
  if (const YamlNode* node = reader.Take("defaults")) {
    MapReader rules(*node, "defaults", file_name);
    ReadRules(rules, "defaults", &defaults);
    reader.Fail(rules.Finish());
  }
  const YamlNode* models = reader.Take("models", MapReader::kRequired);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(ReadModels(*models, defaults, order == "listed", std::string(file_name), &suite));
  return suite;
}

bool IsRequirement(std::string_view text) {
  const auto plain = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
    });
  };
  const size_t end = text.find_first_of("<>=!");
  if (!plain(text.substr(0, end))) return false;
  if (end == std::string_view::npos) return true;
  const std::string_view rest = text.substr(end);
  for (const std::string_view comparison : {">=", "<=", "==", "!=", ">", "<"}) {
    if (rest.starts_with(comparison)) return plain(rest.substr(comparison.size()));
  }
  return false;
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

}  // namespace dynbench::plan
