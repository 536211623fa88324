#include "common/formats/upstream_json.h"

#include "common/formats/results_json.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;
using plan::Experiment;
using store::ResultRow;

// Upstream's command-line arguments with the values that this row was measured with.
void AddArguments(const Experiment& e, Json* info) {
  const plan::CompileOptions& o = e.options;
  Json& j = *info;
  j["training"] = e.mode == plan::Mode::kTraining;
  j["inference"] = e.mode == plan::Mode::kInference;
  j["performance"] = e.test == plan::Test::kPerformance;
  j["accuracy"] = e.test == plan::Test::kAccuracy;
  j["tolerance"] = e.test == plan::Test::kTolerance;
  j["only"] = e.model;
  j["backend"] = o.backend;
  j["inductor"] = o.backend == "inductor" && o.ahead_of_time.empty();
  j["inductor_compile_mode"] = o.compile_mode;
  j["disable_cudagraphs"] = !o.cudagraphs;
  j["nopython"] = o.fullgraph;
  j["freezing"] = o.freezing;
  j["cpp_wrapper"] = o.cpp_wrapper;
  j["max_autotune"] = o.max_autotune;
  j["dynamic_shapes"] = o.dynamic_shapes;
  j["dynamic_batch_only"] = o.dynamic_batch_only;
  j["unbacked_batch_only"] = o.unbacked_batch_only;
  j["export"] = o.ahead_of_time == "export";
  j["export_aot_inductor"] = o.ahead_of_time == "aot_inductor";
  j["export_nativert"] = o.ahead_of_time == "nativert";
  j["torchscript_jit_trace"] = o.ahead_of_time == "torchscript";
  j["aot_precompile"] = o.ahead_of_time == "aot_precompile";
  j["inductor_config"] = o.inductor_config;
  j["amp_dtype"] = e.amp_dtype;
  j["channels_last"] = e.channels_last;
  j["cosine"] = e.accuracy.cosine;
  j["batch_invariant"] = e.batch_invariant;
  j["deterministic"] = e.deterministic;
  j["repeat"] = e.repeat;
  j["iterations"] = e.iterations;
  j["iterations_per_run"] = e.iterations_per_run;
  j["threads"] = e.threads;
  j["timeout"] = e.timeout_ms / 1000;
  j["cold_start_latency"] = e.start == plan::Start::kCold;
  j["warm_start_latency"] = e.start == plan::Start::kWarm;
  j["ddp"] = e.distributed == "ddp";
  j["fsdp"] = e.distributed == "fsdp";
  j["multiprocess"] = e.distributed == "multiprocess";
  // Beyond upstream's: what its file names and records cannot say.
  j["configuration"] = e.configuration;
  j["environment"] = e.environment;
  j["profile"] = e.profile;
  j["effective_dtype"] = std::string(plan::ToString(e.effective_precision));
}

Json Record(const ResultRow& row, const UpstreamOptions& options, const std::string& output) {
  const Experiment& e = row.experiment;
  Json info = {{"device", e.device},
               {"quantization", e.options.quantization},
               {"batch_size", row.result->batch_size},
               {"output", output}};
  AddArguments(e, &info);
  if (options.tag) info["tag"] = *options.tag;
  info["status"] = row.result->status;
  return {{"benchmark",
           {{"name", "TorchInductor"},
            {"mode", std::string(plan::ToString(e.mode))},
            {"dtype", std::string(plan::ToString(e.precision))},
            {"extra_info", std::move(info)}}},
          {"model",
           {{"name", e.model},
            {"type", "OSS model"},
            {"backend", UpstreamBackend(e.options)},
            {"origins", Json::array({UpstreamSuite(e.suite)})}}}};
}

Json MetricOf(const std::string& name, const UpstreamCell& cell) {
  if (cell.number) {
    return {{"name", name}, {"benchmark_values", Json::array({*cell.number})}};
  }
  return {{"name", name},
          {"benchmark_values", Json::array()},
          {"extra_info", {{"benchmark_values", Json::array({cell.text})}}}};
}

}  // namespace

std::string UpstreamSuite(const std::string& suite) {
  return suite == "timm" ? "timm_models" : suite;
}

std::string UpstreamBackend(const plan::CompileOptions& options) {
  if (!options.ahead_of_time.empty()) return options.ahead_of_time;
  if (!options.quantization.empty()) return "torchao";
  return options.backend;
}

std::string UpstreamJson(plan::Test test, const std::vector<ResultRow>& rows,
                         const UpstreamOptions& options, const std::string& output) {
  const size_t keys = UpstreamKeyColumns(options).size();
  const std::vector<UpstreamColumn> columns = UpstreamColumns(test, rows, options);
  std::string text;
  for (const ResultRow& row : rows) {
    if (row.experiment.test != test || !HasUpstreamRow(row)) continue;
    Json record = Record(row, options, output);
    for (size_t i = keys; i < columns.size(); ++i) {
      const UpstreamCell cell = columns[i].cell(row);
      if (!cell.known) continue;
      record["metric"] = MetricOf(columns[i].name, cell);
      text += JsonLine(record);
    }
  }
  return text;
}

}  // namespace dynbench::formats
