#include "common/plan/selection.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "common/plan/partition.h"

namespace dynbench::plan {
namespace {

template <typename T>
std::vector<std::string> Keys(const std::map<std::string, T>& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<std::string> Names(const Suite& suite) {
  std::vector<std::string> names;
  for (const ModelRules& rules : suite.models) names.push_back(rules.name);
  return names;
}

// What to say of a name that `suite` does not have: the nearest that it has, and where else the
// name (or one like it) is known.
std::string UnknownModel(const std::string& name, const Suite& suite, const Catalog& catalog) {
  const std::string near = DidYouMean(name, Names(suite));
  std::string elsewhere;
  for (const auto& [other_name, other] : catalog.suites) {
    if (other_name == suite.name) continue;
    if (other.Find(name) != nullptr) {
      elsewhere = absl::StrCat("; it is a model of the suite \"", other_name, "\": add --suite ",
                               other_name);
      break;
    }
    const std::string there = DidYouMean(name, Names(other));
    if (near.empty() && elsewhere.empty() && !there.empty()) {
      elsewhere = absl::StrCat("; in the suite \"", other_name, "\"", there);
    }
  }
  std::string help = near + elsewhere;
  if (help.empty()) help = absl::StrCat("; \"dynbenchctl suite show ", suite.name, "\" lists them");
  return absl::StrCat("unknown model \"", name, "\" in the suite \"", suite.name, "\"", help);
}

absl::Status CheckNames(const std::vector<std::string>& names, const std::string& flag,
                        const Suite& suite, const Catalog& catalog) {
  std::string message;
  for (const std::string& name : names) {
    if (suite.Find(name) != nullptr) continue;
    message +=
        (message.empty() ? flag + ": " : "\n" + flag + ": ") + UnknownModel(name, suite, catalog);
  }
  return message.empty() ? absl::OkStatus() : absl::InvalidArgumentError(message);
}

// Regexes joined by "or", searched without regard to case, as upstream does.
class Patterns {
 public:
  static absl::StatusOr<Patterns> Compile(const std::vector<std::string>& texts,
                                          const std::string& flag) {
    RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    Patterns patterns;
    for (const std::string& text : texts) {
      auto regex = std::make_unique<RE2>(text, options);
      if (!regex->ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(flag, " \"", text, "\" is no regular expression: ", regex->error(),
                         " (RE2's syntax, without look-around and back-references)"));
      }
      patterns.regexes_.push_back(std::move(regex));
    }
    return patterns;
  }

  bool Match(const std::string& name) const {
    return std::any_of(regexes_.begin(), regexes_.end(),
                       [&](const auto& regex) { return RE2::PartialMatch(name, *regex); });
  }
  bool empty() const { return regexes_.empty(); }

  // Those that match no model at all: probably a slip.
  void WarnOfIdle(const Suite& suite, const std::string& flag,
                  std::vector<std::string>* warnings) const {
    for (const auto& regex : regexes_) {
      const bool idle = std::none_of(
          suite.models.begin(), suite.models.end(),
          [&](const ModelRules& rules) { return RE2::PartialMatch(rules.name, *regex); });
      if (idle) {
        warnings->push_back(absl::StrCat(flag, " \"", regex->pattern(),
                                         "\" matches no model of the suite \"", suite.name, "\"",
                                         DidYouMean(regex->pattern(), Names(suite))));
      }
    }
  }

 private:
  std::vector<std::unique_ptr<RE2>> regexes_;
};

std::string BaseName(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 == 0: the whole
}

absl::StatusOr<ModelSource> SourceOf(const Request& request, const Suite& suite,
                                     const ModelRules& rules, const Catalog& catalog) {
  ModelSource source;
  source.loader = suite.loader;
  source.parameters = rules.parameters;
  if (suite.loader != "path") {
    source.name = rules.name;
    return source;
  }
  source.name = rules.class_name;
  source.file_name = BaseName(rules.file);
  const auto sent = request.model_files.find(rules.file);
  if (sent != request.model_files.end()) {
    source.file_sha256 = sent->second;
    return source;
  }
  // Files of installed suites are read by whoever loads the catalog.
  const auto installed = catalog.model_files.find(suite.name);
  if (!request.inline_suite && installed != catalog.model_files.end()) {
    const auto file = installed->second.find(rules.file);
    if (file != installed->second.end()) {
      source.file_sha256 = file->second.sha256;
      return source;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "model \"", rules.name, "\" of the suite \"", suite.name, "\": its file ", rules.file,
      " did not travel with the job; submit the suite with dynbenchctl submit --suite FILE.yaml"));
}

// Cuts a suite as upstream cuts its own list: what is newer than that list is in no slice.
class Slices {
 public:
  Slices(const Suite& suite, int total) : total_(total) {
    for (const ModelRules& rules : suite.models) count_ += rules.newer ? 0 : 1;
  }

  // Of the next model, in the suite's order; -1 for one that is in none.
  int Next(const ModelRules& rules) {
    if (rules.newer) {
      newer_ += (newer_.empty() ? "" : ", ") + rules.name;
      return -1;
    }
    const size_t size = count_ / static_cast<size_t>(total_);
    const size_t index = index_++;
    if (size == 0) return total_ - 1;
    return static_cast<int>(std::min(index / size, static_cast<size_t>(total_) - 1));
  }

  const std::string& newer() const { return newer_; }

 private:
  int total_;
  size_t count_ = 0;
  size_t index_ = 0;
  std::string newer_;
};

absl::Status AddPathModels(const Request& request, Selection* selection) {
  std::set<std::string> names;
  for (const ModelSource& source : request.path_models) {
    if (!names.insert(source.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--only path: the class \"", source.name,
          "\" is given twice, and rows are named after it; rename one of the classes"));
    }
    SelectedModel model;
    model.suite = kPathSuite;
    model.rules.name = source.name;
    model.rules.class_name = source.name;
    model.rules.file = source.file_name;
    model.source = source;
    model.bypass_skips = true;
    selection->models.push_back(std::move(model));
  }
  return absl::OkStatus();
}

absl::Status AddSuiteModels(const Request& request, const Suite& suite, const Catalog& catalog,
                            Selection* selection) {
  RETURN_IF_ERROR(CheckNames(request.models, "--models", suite, catalog));
  RETURN_IF_ERROR(CheckNames(request.only, "--only", suite, catalog));
  RETURN_IF_ERROR(CheckNames(request.exclude_exact, "--exclude-exact", suite, catalog));
  ASSIGN_OR_RETURN(const Patterns filters, Patterns::Compile(request.filters, "--filter"));
  ASSIGN_OR_RETURN(const Patterns excludes, Patterns::Compile(request.excludes, "--exclude"));
  filters.WarnOfIdle(suite, "--filter", &selection->warnings);
  excludes.WarnOfIdle(suite, "--exclude", &selection->warnings);
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  // The slice is cut from the whole list, before anything is filtered or skipped.
  const bool slices = request.total_partitions > 1 && request.only.empty() &&
                      request.policy != PartitionPolicy::kBalanced &&
                      (request.partition_id >= 0 || request.policy == PartitionPolicy::kStatic);
  Slices cut(suite, request.total_partitions);
  for (const ModelRules& rules : suite.models) {
    const int slice = slices ? cut.Next(rules) : 0;
    if (slice < 0) continue;
    if (slices && request.partition_id >= 0 && slice != request.partition_id) continue;
    if (!request.only.empty() && !has(request.only, rules.name)) continue;
    if (!request.models.empty() && !has(request.models, rules.name)) continue;
    if (!filters.empty() && !filters.Match(rules.name)) continue;
    if (excludes.Match(rules.name) || has(request.exclude_exact, rules.name)) continue;
    SelectedModel model;
    model.suite = suite.name;
    model.rules = rules;
    model.partition = slice;
    model.bypass_skips = has(request.only, rules.name);
    ASSIGN_OR_RETURN(model.source, SourceOf(request, suite, rules, catalog));
    selection->models.push_back(std::move(model));
  }
  if (!cut.newer().empty()) {
    selection->warnings.push_back(
        absl::StrCat("newer than upstream's list, so in none of its slices: ", cut.newer(),
                     "; submit it apart with --models"));
  }
  return absl::OkStatus();
}

absl::Status CheckSuiteName(const Suite& suite, const Catalog& catalog) {
  const auto installed = catalog.suites.find(suite.name);
  const bool is_a_copy =
      installed != catalog.suites.end() && installed->second.sha256 == suite.sha256;
  if (suite.name != kPathSuite && (installed == catalog.suites.end() || is_a_copy)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the suite file's name \"", suite.name,
                   "\" is taken by dynbench, and rows of both would be mixed up; give it another ",
                   "\"name:\""));
}

}  // namespace

absl::StatusOr<const Suite*> SuiteOf(const Request& request, const Catalog& catalog) {
  if (request.inline_suite) {
    RETURN_IF_ERROR(CheckSuiteName(*request.inline_suite, catalog));
    return &*request.inline_suite;
  }
  if (request.suite.empty() || request.suite == kPathSuite) {
    if (!request.path_models.empty() && request.only.empty()) return nullptr;
    return absl::InvalidArgumentError(
        absl::StrCat("no suite is named; add --suite NAME (installed: ", Join(Keys(catalog.suites)),
                     ") or --suite FILE.yaml"));
  }
  const auto it = catalog.suites.find(request.suite);
  if (it != catalog.suites.end()) return &it->second;
  std::string hint = DidYouMean(request.suite, Keys(catalog.suites));
  if (request.suite == "timm_models" && catalog.suites.contains("timm")) {
    hint = " (did you mean \"timm\"?)";  // upstream's script and file names
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown suite \"", request.suite, "\"", hint,
                                                 "; installed: ", Join(Keys(catalog.suites)),
                                                 "; a file of your own is --suite FILE.yaml"));
}

absl::StatusOr<Selection> SelectModels(const Request& request, const Catalog& catalog) {
  ASSIGN_OR_RETURN(const Suite* suite, SuiteOf(request, catalog));
  Selection selection;
  const bool only_paths = !request.path_models.empty() && request.only.empty();
  if (suite != nullptr && !only_paths) {
    RETURN_IF_ERROR(AddSuiteModels(request, *suite, catalog, &selection));
  }
  RETURN_IF_ERROR(AddPathModels(request, &selection));
  return selection;
}

}  // namespace dynbench::plan
