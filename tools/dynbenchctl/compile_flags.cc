#include "tools/dynbenchctl/compile_flags.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/plan/request.h"
#include "tools/dynbenchctl/request_files.h"

namespace dynbench::cli {
namespace {

using Settings = std::map<std::string, std::string>;

// A switch of upstream's and the setting that it is.
struct SettingFlag {
  const char* flag;
  bool given;
  Settings plan::CompileOptions::*map;
  const char* key;
  const char* value;
};

std::vector<SettingFlag> SettingFlags(const SubmitFlags& f) {
  using plan::CompileOptions;
  return {
      {"--disable-split-reductions", f.disable_split_reductions, &CompileOptions::inductor_config,
       "split_reductions", "False"},
      {"--disable-persistent-reductions", f.disable_persistent_reductions,
       &CompileOptions::inductor_config, "triton.persistent_reductions", "False"},
      {"--disable-divisible-by-16", f.disable_divisible_by_16, &CompileOptions::inductor_config,
       "triton.divisible_by_16", "False"},
      {"--compiled-autograd", f.compiled_autograd, &CompileOptions::dynamo_config,
       "compiled_autograd", "True"},
      {"--caching-precompile", f.caching_precompile, &CompileOptions::dynamo_config,
       "caching_precompile", "True"},
      {"--suppress-errors", f.suppress_errors, &CompileOptions::dynamo_config, "suppress_errors",
       "True"},
      {"--specialize-int", f.specialize_int, &CompileOptions::dynamo_config, "specialize_int",
       "True"},
      // What depends on data can only be propagated where it is captured.
      {"--propagate-real-tensors", f.propagate_real_tensors, &CompileOptions::functorch_config,
       "fake_tensor_propagate_real_tensors", "True"},
      {"--propagate-real-tensors", f.propagate_real_tensors, &CompileOptions::dynamo_config,
       "capture_scalar_outputs", "True"},
      {"--propagate-real-tensors", f.propagate_real_tensors, &CompileOptions::dynamo_config,
       "capture_dynamic_output_shape_ops", "True"},
  };
}

// torch.compile is not what is measured.
std::string AheadOfTime(const SubmitFlags& f) {
  if (f.export_program) return "export";
  if (f.export_aot_inductor) return "aot_inductor";
  if (f.export_nativert) return "nativert";
  if (f.torchscript_jit_trace) return "torchscript";
  return f.aot_precompile ? "aot_precompile" : "";
}

bool AnyGiven(const SubmitFlags& f) {
  for (const SettingFlag& setting : SettingFlags(f)) {
    if (setting.given) return true;
  }
  return f.backend || f.inductor || f.nothing || f.quantization || !AheadOfTime(f).empty() ||
         f.inductor_compile_mode || f.nopython || f.disable_cudagraphs || f.freezing ||
         f.cpp_wrapper || f.max_autotune || f.dynamic_shapes || f.dynamic_batch_only ||
         f.unbacked_batch_only || f.compare_backed_unbacked || !f.inductor_config.empty() ||
         !f.dynamo_config.empty() || !f.functorch_config.empty();
}

absl::Status AddSettings(const SubmitFlags& f, plan::CompileOptions* options) {
  ASSIGN_OR_RETURN(options->inductor_config, ParsePairs("--inductor-config", f.inductor_config));
  ASSIGN_OR_RETURN(options->dynamo_config, ParsePairs("--dynamo-config", f.dynamo_config));
  ASSIGN_OR_RETURN(options->functorch_config, ParsePairs("--functorch-config", f.functorch_config));
  for (const SettingFlag& setting : SettingFlags(f)) {
    if (!setting.given) continue;
    if (!(options->*setting.map).emplace(setting.key, setting.value).second) {
      return absl::InvalidArgumentError(std::string(setting.flag) + " sets " + setting.key +
                                        ", which is also given as KEY=VALUE; keep one of them");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<plan::CompileOptions>> CompileOptionsOf(const SubmitFlags& f) {
  if (f.backend && f.backend->empty()) {
    return absl::InvalidArgumentError("--backend wants a name, e.g. inductor");
  }
  if (!AnyGiven(f)) return std::nullopt;
  const std::string backend = f.nothing ? "nothing" : f.backend.value_or("inductor");
  plan::CompileOptions options = plan::UpstreamOptions(backend, f.disable_cudagraphs);
  options.ahead_of_time = AheadOfTime(f);
  options.quantization = f.quantization.value_or("");
  // Upstream switches cudagraphs on for its inductor and AOTInductor runs alone.
  const bool other_path =
      (!options.ahead_of_time.empty() && options.ahead_of_time != "aot_inductor") ||
      !options.quantization.empty();
  if (other_path) options.cudagraphs = false;
  options.compile_mode = f.inductor_compile_mode.value_or("");
  options.fullgraph = f.nopython;
  options.freezing = f.freezing;
  options.cpp_wrapper = f.cpp_wrapper;
  options.max_autotune = f.max_autotune;
  options.dynamic_batch_only = f.dynamic_batch_only;
  options.unbacked_batch_only = f.unbacked_batch_only;
  options.dynamic_shapes = f.dynamic_shapes || f.dynamic_batch_only || f.unbacked_batch_only;
  RETURN_IF_ERROR(AddSettings(f, &options));
  return options;
}

}  // namespace dynbench::cli
