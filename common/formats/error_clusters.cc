#include "common/formats/error_clusters.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/formats/result_line.h"
#include "common/formats/text_table.h"

namespace dynbench::formats {
namespace {

using store::ResultRow;

constexpr size_t kModelsShown = 8;

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A run of characters that may form a path: up to a blank, quote, bracket, comma or semicolon.
bool IsPathChar(char c) {
  return std::isspace(static_cast<unsigned char>(c)) == 0 &&
         std::string_view("'\"()[]{}<>,;").find(c) == std::string_view::npos;
}

// Where the number that begins at `at` ends: "0x7f…", "12", "1.5e-3".
size_t EndOfNumber(std::string_view text, size_t at) {
  if (text.substr(at, 2) == "0x") {
    size_t end = at + 2;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end;
  }
  size_t end = at;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
                               (text[end] == '.' && end + 1 < text.size() &&
                                std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0))) {
    ++end;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    const size_t first = exponent;
    while (exponent < text.size() && std::isdigit(static_cast<unsigned char>(text[exponent])) != 0)
      ++exponent;
    if (exponent > first) return exponent;
  }
  return end;
}

// The model's name where it stands as a word; shorter ones are too likely to be something else.
std::string WithoutModel(std::string text, std::string_view model) {
  constexpr std::string_view kBy = "<model>";
  if (model.size() < 3) return text;
  for (size_t at = 0; (at = text.find(std::string(model), at)) != std::string::npos;) {
    const size_t end = at + model.size();
    const bool word =
        (at == 0 || !IsWordChar(text[at - 1])) && (end == text.size() || !IsWordChar(text[end]));
    if (word) text.replace(at, model.size(), std::string(kBy));
    at += word ? kBy.size() : 1;
  }
  return text;
}

// Identical KeyErrors or AttributeErrors all over a suite are seldom the models' fault.
std::string HintOf(const ErrorCluster& cluster) {
  if (cluster.models.size() < 3) return "";
  const auto has = [&](const char* word) { return cluster.error.find(word) != std::string::npos; };
  if (has("KeyError")) {
    return "the same missing key everywhere looks like skew: a suite, script or configuration file "
           "that is older or newer than the code that reads it; compare the commits (repro)";
  }
  if (has("ImportError") || has("ModuleNotFoundError")) {
    return "the environment lacks a package, or has another version of it than these models need";
  }
  if (has("AttributeError") || has("unexpected keyword argument")) {
    return "an interface that changed under all of them: compare the versions of the packages "
           "(repro)";
  }
  return "";
}

}  // namespace

std::string ErrorSignature(std::string_view error, std::string_view model) {
  const std::string text = WithoutModel(std::string(error), model);
  std::string signature;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool word_begins = at == 0 || !IsWordChar(text[at - 1]);
    if (c == '/' && (at == 0 || !IsPathChar(text[at - 1]) || text[at - 1] == '=')) {
      // A path: its last part tells, its folders differ from host to host.
      size_t end = at;
      while (end < text.size() && IsPathChar(text[end])) ++end;
      std::string_view path = std::string_view(text).substr(at, end - at);
      const bool temporary = path.substr(0, 5) == "/tmp/" || path.substr(0, 9) == "/var/tmp/";
      const size_t name = temporary ? path.size() : path.find_last_of('/') + 1;
      signature += "<path>";
      at += name;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 && word_begins) {
      signature += "<n>";
      at = EndOfNumber(text, at);
    } else {
      signature += std::isspace(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
      ++at;
    }
  }
  return signature;
}

std::vector<ErrorCluster> ClusterErrors(const std::vector<ResultRow>& rows) {
  std::vector<ErrorCluster> clusters;
  std::vector<std::string> keys;  // parallel
  for (const ResultRow& row : rows) {
    if (!row.result || (row.result->outcome != plan::Outcome::kFailed &&
                        row.result->outcome != plan::Outcome::kLost)) {
      continue;
    }
    const plan::Result& result = *row.result;
    const std::string phase(plan::ToString(result.phase));
    const std::string key = absl::StrCat(result.status, "\n", phase, "\n",
                                         ErrorSignature(result.error, row.experiment.model));
    size_t at = static_cast<size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (at == keys.size()) {
      keys.push_back(key);
      clusters.push_back({result.status,
                          phase,
                          std::string(plan::ToString(result.blame)),
                          result.error,
                          {},
                          {},
                          ""});
    }
    ErrorCluster& cluster = clusters[at];
    cluster.rows.push_back(&row);
    const std::string& model = row.experiment.model;
    if (std::find(cluster.models.begin(), cluster.models.end(), model) == cluster.models.end()) {
      cluster.models.push_back(model);
    }
  }
  for (ErrorCluster& cluster : clusters) cluster.hint = HintOf(cluster);
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const auto& a, const auto& b) { return a.models.size() > b.models.size(); });
  return clusters;
}

std::string ClusterLines(const std::vector<ErrorCluster>& clusters, size_t models_min) {
  std::string text;
  for (const ErrorCluster& cluster : clusters) {
    if (cluster.models.size() < models_min) continue;
    std::vector<std::string> shown(
        cluster.models.begin(), cluster.models.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                             cluster.models.size(), kModelsShown)));
    text +=
        absl::StrCat("  ", cluster.models.size(),
                     " models, same error: ", Printable(FailureText(*cluster.rows.front()->result)),
                     "\n    ", Printable(absl::StrJoin(shown, ", ")));
    if (cluster.models.size() > shown.size()) {
      text += absl::StrCat(" and ", cluster.models.size() - shown.size(), " more");
    }
    text += "\n";
    if (!cluster.hint.empty()) text += "    hint: " + cluster.hint + "\n";
  }
  return text;
}

}  // namespace dynbench::formats
