#include "worker/runner/instance_results.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "common/stats/stats.h"
#include "worker/runner/cores.h"
#include "worker/runner/figures.h"

namespace dynbench::runner {
namespace {

using Json = nlohmann::json;

bool Passed(const Instance& instance) {
  return instance.result.is_object() && instance.result.value("outcome", "") == "passed";
}

// Why an instance brought nothing, or what its result says.
std::string WhyNot(const Instance& instance) {
  if (instance.result.is_object()) {
    return instance.result.value("status", "") + ": " + instance.result.value("error", "");
  }
  const int status = instance.wait_status;
  return WIFSIGNALED(status)
             ? "killed by signal " + std::to_string(WTERMSIG(status))
             : "exited with code " + std::to_string(WEXITSTATUS(status)) + " before a result";
}

// Of a copy that ended without a result, as for every attempt.
const char* BlameOf(const std::string& phase) {
  if (phase == "prepare") return "infrastructure";
  if (phase == "load") return "model";
  return phase == "eager" || phase == "reference" ? "eager" : "compiler";
}

double CallsPerSecond(const Json& metrics, const char* latency_ms, int iterations) {
  return iterations * 1e3 / metrics.at(latency_ms).get<double>();
}

Json Describe(const Instance& instance, size_t index) {
  Json told = {{"instance", index},
               {"cores", FormatCores(instance.cores)},
               {"outcome", "failed"},
               {"status", "crash"}};
  if (instance.result.is_object()) {
    for (const char* key : {"outcome", "status"}) told[key] = instance.result.value(key, "");
    for (const char* name : {"speedup", "eager_latency_ms", "abs_latency_ms", "window_flags"}) {
      const Json metrics = instance.result.value("metrics", Json::object());
      if (metrics.contains(name)) told[name] = metrics[name];
    }
  }
  if (!Passed(instance)) told["error"] = WhyNot(instance);
  return told;
}

double MedianOver(const std::vector<const Json*>& results, const char* metric) {
  std::vector<double> values;
  for (const Json* result : results) values.push_back(result->at("metrics").at(metric));
  return stats::Median(values);
}

void AppendSamples(const Json& from, const char* side, Json& whole) {
  for (const Json& sample : from.at(side)) whole[side].push_back(sample);
}

// Samples, medians and sums of those that passed, into `whole`; the sums as an object.
Json JoinFigures(const std::vector<const Json*>& passed, int iterations, Json& whole) {
  Json& metrics = whole["metrics"];
  whole["eager_ns"] = whole["compiled_ns"] = Json::array();
  double eager_per_s = 0, compiled_per_s = 0;
  for (const Json* result : passed) {
    AppendSamples(*result, "eager_ns", whole);
    AppendSamples(*result, "compiled_ns", whole);
    eager_per_s += CallsPerSecond(result->at("metrics"), "eager_latency_ms", iterations);
    compiled_per_s += CallsPerSecond(result->at("metrics"), "abs_latency_ms", iterations);
  }
  for (const char* name :
       {"eager_latency_ms", "abs_latency_ms", "compilation_latency_s", "compile_synchronized_s"}) {
    metrics[name] = MedianOver(passed, name);
  }
  metrics["speedup"] =
      metrics["eager_latency_ms"].get<double>() / metrics["abs_latency_ms"].get<double>();
  return {{"eager_calls_per_s", eager_per_s}, {"compiled_calls_per_s", compiled_per_s}};
}

// What was wrong with one of the windows is wrong with the row; of what they tell, the worst.
void JoinWindows(const std::vector<const Json*>& passed, Json& metrics) {
  const auto join = [&](const char* name, const auto& both) {
    metrics.erase(name);
    for (const Json* result : passed) {
      const Json& own = result->at("metrics");
      if (!own.contains(name)) continue;
      metrics[name] = metrics.contains(name) ? both(metrics[name], own[name]) : own[name];
    }
  };
  join("window_flags",
       [](const Json& a, const Json& b) -> Json { return a.get<int64_t>() | b.get<int64_t>(); });
  join("window_cpu_throttles",
       [](const Json& a, const Json& b) -> Json { return a.get<int64_t>() + b.get<int64_t>(); });
  for (const char* name : {"window_foreign_load", "window_repeats", "canary_spread", "canary_waits",
                           "eager_page_faults", "compiled_page_faults"}) {
    join(name, [](const Json& a, const Json& b) { return std::max(a, b); });
  }
}

// Each says of which it is.
Json AllNotes(const std::vector<Instance>& instances) {
  Json all = Json::array();
  for (size_t i = 0; i < instances.size(); ++i) {
    if (!instances[i].result.is_object()) continue;
    for (const Json& note : instances[i].result.value("notes", Json::array())) {
      all.push_back("instance " + std::to_string(i) + ": " + note.get<std::string>());
    }
  }
  return all;
}

std::vector<int> AllCores(const std::vector<Instance>& instances) {
  std::vector<int> cores;
  for (const Instance& instance : instances) {
    cores.insert(cores.end(), instance.cores.begin(), instance.cores.end());
  }
  return cores;
}

void Fail(const std::vector<Instance>& instances, size_t measured, Json& whole) {
  std::string why;
  const Instance* first = nullptr;
  for (size_t i = 0; i < instances.size(); ++i) {
    if (Passed(instances[i])) continue;
    if (first == nullptr) first = &instances[i];
    why += "; instance " + std::to_string(i) + " (cores " + FormatCores(instances[i].cores) + ") " +
           WhyNot(instances[i]);
  }
  const Json& result = first->result;
  const auto word = [&](const char* key, const char* otherwise) {
    return result.is_object() ? result.value(key, otherwise) : std::string(otherwise);
  };
  whole["outcome"] = word("outcome", "failed");
  whole["status"] = word("status", "crash");
  whole["blame"] = word("blame", BlameOf(first->phase));
  whole["phase"] = word("phase", first->phase.c_str());
  whole["detail"] = word("detail", "");
  whole["error"] = std::to_string(measured) + " of " + std::to_string(instances.size()) +
                   " instances measured" + why;
}

}  // namespace

std::vector<std::vector<int>> SplitCores(const std::vector<int>& cores, int count) {
  const size_t each = cores.size() / count;
  if (each == 0) {
    throw std::invalid_argument(std::to_string(count) +
                                " instances need as many cores; there are " +
                                std::to_string(cores.size()));
  }
  std::vector<std::vector<int>> parts;
  for (int i = 0; i < count; ++i) {
    parts.emplace_back(cores.begin() + i * each, cores.begin() + (i + 1) * each);
  }
  return parts;
}

Json JoinResults(const std::vector<Instance>& instances, int iterations) {
  std::vector<const Json*> passed;
  Json whole = {{"type", "result"}, {"metrics", Json::object()}, {"notes", Json::array()}};
  for (const Instance& instance : instances) {
    if (Passed(instance)) passed.push_back(&instance.result);
  }
  if (!passed.empty()) {
    whole = *passed.front();
  } else {
    for (const Instance& instance : instances) {
      if (instance.result.is_object()) whole = instance.result;
    }
  }
  Json report = Json::parse(whole.value("compiler_report", "{}"), nullptr, false);
  if (!report.is_object()) report = Json::object();
  report["instances"] = Json::array();
  for (size_t i = 0; i < instances.size(); ++i) {
    report["instances"].push_back(Describe(instances[i], i));
  }
  if (!passed.empty()) {
    report["instances_sum"] = JoinFigures(passed, iterations, whole);
    JoinWindows(passed, whole["metrics"]);
  }
  whole["notes"] = AllNotes(instances);
  whole["compiler_report"] = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  whole["cores"] = FormatCores(AllCores(instances));
  if (passed.size() < instances.size()) Fail(instances, passed.size(), whole);
  return whole;
}

}  // namespace dynbench::runner
