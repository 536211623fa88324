#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {
namespace {

// Adds flags to one verb, group by group.
class Adder {
 public:
  Adder(CommandTree& tree, CLI::App* verb) : tree_(tree), verb_(verb) {}

  void Group(const std::string& name) { group_ = name; }

  void Switch(const std::string& names, bool* target, const std::string& text) {
    verb_->add_flag(names, *target, text)->group(group_);
  }

  template <typename T>
  void Value(const std::string& names, std::optional<T>* target, const std::string& type,
             const std::string& text, std::vector<std::string> choices = {}) {
    CLI::Option* option = verb_->add_option(names, *target, text);
    option->type_name(type)->group(group_);
    if (!choices.empty()) tree_.Choices(option, std::move(choices));
  }

  // May be given several times, one value each.
  CLI::Option* Repeated(const std::string& names, std::vector<std::string>* target,
                        const std::string& type, const std::string& text) {
    CLI::Option* option = verb_->add_option(names, *target, text);
    return option->type_name(type)->group(group_)->allow_extra_args(false);
  }

  // Several values with commas between them.
  void List(const std::string& names, std::vector<std::string>* target, const std::string& type,
            const std::string& text, std::vector<std::string> choices = {}) {
    CLI::Option* option = Repeated(names, target, type, text)->delimiter(',');
    if (!choices.empty()) tree_.Choices(option, std::move(choices));
  }

 private:
  CommandTree& tree_;
  CLI::App* verb_;
  std::string group_;
};

void AddWhat(Adder& add, SubmitFlags* f) {
  add.Group("what is measured");
  add.Value("--suite", &f->suite, "NAME|FILE", "an installed suite, or your own FILE.yaml");
  add.Value("--preset", &f->preset, "NAME",
            "several submissions under one name, e.g. dashboard-nightly (dynbenchctl suite list); "
            "other flags narrow or set what the preset leaves open");
  add.List("--mode", &f->mode, "MODE", "inference (default), training or both with a comma",
           {"inference", "training"});
  add.Switch("--inference", &f->inference, "same as --mode inference");
  add.Switch("--training", &f->training, "same as --mode training");
  add.List("--test", &f->test, "TEST",
           "performance, accuracy (default: both), tolerance, batch_size",
           {"performance", "accuracy", "tolerance", "batch_size"});
  add.Switch("--performance", &f->performance, "same as --test performance");
  add.Switch("--accuracy", &f->accuracy, "same as --test accuracy");
  add.Switch("--tolerance", &f->tolerance,
             "same as --test tolerance: how far compiled results are from eager ones on the CPU "
             "(the limit of the accuracy test is --accuracy-tolerance)");
  add.Switch("--find-batch-sizes", &f->find_batch_sizes,
             "same as --test batch_size: the largest batch that runs eagerly");
  add.List("--models", &f->models, "A,B", "exact names; skip rules hold");
  add.Repeated("--only", &f->only, "NAME",
               "one model by its exact name, skip rules bypassed; or "
               "path:/abs/model.py,class:Name for a model of your own");
  add.Repeated("-k,--filter", &f->filter, "REGEX",
               "models whose name matches, case-insensitive; repeated: any of them");
  add.Repeated("-x,--exclude", &f->exclude, "REGEX", "drop models whose name matches");
  add.Repeated("--exclude-exact", &f->exclude_exact, "NAME", "drop this model");
  add.Switch("--no-skip", &f->no_skip, "ignore the suite's skip rules");
  add.Switch("-f,--fast", &f->fast, "also skip the models that the suite calls slow");
}

void AddWithWhat(Adder& add, SubmitFlags* f) {
  add.Group("what it is measured with");
  add.List("--configuration", &f->configuration, "NAME",
           "named compiler options (default: default; dynbenchctl suite list names them)");
  add.List("--environment", &f->environment, "NAME", "Python environment (default: default)");
  add.Value("--profile", &f->profile, "NAME", "launch profile (default: default)");
  add.Value("--precision", &f->precision, "WORD",
            "float32, bfloat16, float16 or amp (default: bfloat16 for inference, amp for training)",
            {"float32", "bfloat16", "float16", "amp"});
  add.Switch("--float32", &f->float32, "same as --precision float32");
  add.Switch("--bfloat16", &f->bfloat16, "same as --precision bfloat16");
  add.Switch("--float16", &f->float16, "same as --precision float16");
  add.Switch("--amp", &f->amp, "same as --precision amp");
  add.Value("--amp-dtype", &f->amp_dtype, "WORD",
            "bfloat16 or float16 under amp (default: the device's)", {"bfloat16", "float16"});
  add.Repeated("-d,--device,--devices", &f->device, "DEVICE",
               "torch device (default: the accelerator if a worker has one, else cpu)");
  add.List("--start", &f->start, "START",
           "cold (default): own empty compile cache; warm: copy of a prepared one; shared: one per "
           "job and slot",
           {"cold", "warm", "shared"});
  add.Switch("--cold-start-latency,--cold_start_latency", &f->cold_start_latency,
             "same as --start cold");
  add.Switch("--warm-start-latency,--warm_start_latency", &f->warm_start_latency,
             "same as --start warm");
  add.Value("--weights", &f->weights, "WORD",
            "pretrained, random or auto (default: cached pretrained ones, else random)",
            {"auto", "pretrained", "random"});
  add.Repeated("--set-env", &f->set_env, "K=V", "variable for each experiment alone; repeatable");
}

void AddCompilerPath(Adder& add, SubmitFlags* f) {
  add.Group("compiler, instead of --configuration (inductor's cudagraphs are then on)");
  add.Value("--backend", &f->backend, "NAME", "a torch.compile backend, or eager for no compiler");
  add.Switch("--inductor", &f->inductor, "same as --backend inductor");
  add.Switch("--nothing", &f->nothing, "no compiler at all: eager measured against itself");
  add.Value("--quantization", &f->quantization, "SCHEME",
            "torchao's int8dynamic, int8weightonly, int4weightonly, autoquant or noquant, "
            "against unquantized eager",
            {"int8dynamic", "int8weightonly", "int4weightonly", "autoquant", "noquant"});
  add.Switch("--export", &f->export_program, "torch.export, the exported program is run");
  add.Switch("--export-aot-inductor", &f->export_aot_inductor,
             "AOTInductor: a package, loaded and run from C++");
  add.Switch("--export-nativert", &f->export_nativert, "NativeRT, run from C++");
  add.Switch("--torchscript-jit-trace", &f->torchscript_jit_trace, "TorchScript, run from C++");
  add.Switch("--aot-precompile", &f->aot_precompile, "compiled ahead of time, saved and loaded");
}

void AddCompilerOptions(Adder& add, SubmitFlags* f) {
  add.Value("--inductor-compile-mode", &f->inductor_compile_mode, "MODE",
            "torch.compile's mode, e.g. max-autotune");
  add.Switch("--nopython", &f->nopython, "full graph or error");
  add.Switch("--disable-cudagraphs", &f->disable_cudagraphs, "no cudagraphs");
  add.Switch("--freezing", &f->freezing, "constant folding of weights, inference only");
  add.Switch("--cpp-wrapper", &f->cpp_wrapper, "generate C++ host code");
  add.Switch("--max-autotune", &f->max_autotune,
             "search kernels by measuring (upstream: TORCHINDUCTOR_MAX_AUTOTUNE=1)");
  add.Switch("--dynamic-shapes", &f->dynamic_shapes, "every dimension dynamic");
  add.Switch("--dynamic-batch-only", &f->dynamic_batch_only, "only the batch dimension dynamic");
  add.Switch("--unbacked-batch-only", &f->unbacked_batch_only,
             "only the batch dimension dynamic, as a symbol without a hint");
  add.Switch("--compare-backed-unbacked", &f->compare_backed_unbacked,
             "two jobs, --dynamic-batch-only and --unbacked-batch-only, shown side by side");
  add.Switch("--disable-split-reductions", &f->disable_split_reductions,
             "inductor's split_reductions=False");
  add.Switch("--disable-persistent-reductions", &f->disable_persistent_reductions,
             "inductor's triton.persistent_reductions=False");
  add.Switch("--disable-divisible-by-16", &f->disable_divisible_by_16,
             "inductor's triton.divisible_by_16=False");
  add.Switch("--compiled-autograd", &f->compiled_autograd, "dynamo's compiled_autograd=True");
  add.Switch("--caching-precompile", &f->caching_precompile, "dynamo's caching_precompile=True");
  add.Switch("--suppress-errors", &f->suppress_errors,
             "dynamo's suppress_errors=True: what cannot be compiled runs eagerly");
  add.Switch("--specialize-int", &f->specialize_int, "dynamo's specialize_int=True");
  add.Switch("--propagate-real-tensors", &f->propagate_real_tensors,
             "functorch's fake_tensor_propagate_real_tensors=True, and scalar and "
             "dynamic-output operators captured");
  add.Repeated("-c,--inductor-config", &f->inductor_config, "K=V",
               "inductor setting, typed from its current value; repeatable");
  add.Repeated("--dynamo-config", &f->dynamo_config, "K=V", "dynamo setting; repeatable");
  add.Repeated("--functorch-config", &f->functorch_config, "K=V", "functorch setting; repeatable");
}

void AddModel(Adder& add, SubmitFlags* f) {
  add.Group("the model and its step");
  add.Value("--optimizer", &f->optimizer, "WORD",
            "adam, sgd or none (default: the suite's on accelerators, none on CPUs)",
            {"adam", "sgd", "none"});
  add.Switch("--use-eval-mode", &f->use_eval_mode, "eval mode in training too");
  add.Switch("--enable-activation-checkpointing", &f->activation_checkpointing,
             "activation checkpointing (HuggingFace)");
  add.Switch("--channels-last", &f->channels_last, "channels-last memory format");
  add.Value("--layers", &f->layers, "N", "N hidden layers instead of the model's own");
  add.Value("--part", &f->part, "NAME", "a part of a TorchBench model");
  add.Value("--generation,--hf-inference-mode", &f->generation, "WORD",
            "language models: generate, prefill or forward (default: the suite's)",
            {"generate", "prefill", "forward"});
  add.Value("--prompt-length", &f->prompt_length, "N", "tokens of the prompt to generate from");
  add.Switch("--multiprocess", &f->multiprocess, "one process for each device");
  add.Switch("--ddp", &f->ddp, "DistributedDataParallel, training only");
  add.Switch("--fsdp", &f->fsdp, "FullyShardedDataParallel");
  add.Value("--world-size", &f->world_size, "N", "processes of the three above (default: 2)");
  add.Value("--optimize-ddp-mode", &f->optimize_ddp_mode, "WORD", "dynamo's optimize_ddp");
}

void AddMeasuring(Adder& add, SubmitFlags* f) {
  add.Group("how it is measured");
  add.Value("--batch-size,--batch_size", &f->batch_size, "N", "instead of the suite's, as given");
  add.Value("--batch-size-file", &f->batch_size_file, "FILE", "lines of name,size");
  add.Value("-n,--repeat", &f->repeat, "N", "timed pairs of calls (default: 30)");
  add.Value("--target-precision", &f->target_precision, "PERCENT",
            "further pairs in the same window until half of the 95 % interval of the speedup is at "
            "most this much of it, e.g. 1%");
  add.Value("--precision-budget", &f->precision_budget, "DURATION",
            "at most so long for those pairs (default: 30s)");
  add.Value("--iterations", &f->iterations, "N", "model steps of an accuracy run (default: 2)");
  add.Value("--iterations-per-run", &f->iterations_per_run, "N", "calls per sample (default: 1)");
  add.Value("-t,--threads", &f->threads, "N", "torch threads (default: the slot's cores)");
  add.Value("--instances", &f->instances, "N",
            "pinned copies at once on disjoint cores of the slot (default: 1)");
  add.Value("--timeout", &f->timeout_s, "SECONDS", "limit of one experiment (default: 2000)");
  add.Switch("--randomize-input", &f->randomize_input, "new random input for each repetition");
  add.Switch("--collect-outputs", &f->collect_outputs, "keep gradients while timing");
  add.Switch("--deterministic", &f->deterministic,
             "deterministic algorithms in the performance test too");
  add.Switch("--use-warm-peak-memory,--use_warm_peak_memory", &f->warm_peak_memory,
             "peak memory of one more call after the warm-up");
  add.Switch("--profile_dynamo_cache_lookup,--profile-dynamo-cache-lookup", &f->cache_lookup,
             "dynamo's cache look-up latency as one more column");
}

void AddJudging(Adder& add, SubmitFlags* f) {
  add.Group("how accuracy is judged");
  add.Value("--accuracy-tolerance", &f->accuracy_tolerance, "X",
            "instead of the suite's tolerance");
  add.Switch("--cosine", &f->cosine, "cosine similarity instead of closeness");
  add.Switch("--skip-accuracy-check", &f->skip_accuracy_check, "a mismatch is pass_due_to_skip");
  add.Switch("--batch-invariant", &f->batch_invariant,
             "compiled outputs at smaller batches must be equal to the bit; needs --accuracy");
  add.Switch("--minify", &f->minify, "on fail_accuracy run the minifier and keep its repro.py");
  add.Value("--save-model-outputs-to", &f->save_outputs_to, "DIR",
            "keep the outputs, a folder on the worker's host");
  add.Value("--compare-model-outputs-with", &f->compare_outputs_with, "DIR",
            "outputs kept there must be equal to the bit");
  add.Switch("--no-translation-validation", &f->no_translation_validation,
             "accepted: translation validation is off here");
}

void AddInside(Adder& add, SubmitFlags* f) {
  add.Group("looking inside (see also retry --debug)");
  add.Switch("--explain", &f->explain, "graphs, breaks and operators, from a further run");
  add.Switch("--print-graph-breaks", &f->print_graph_breaks,
             "same as --explain; with --output also the graph-break CSV");
  add.Switch("--log-graph-breaks", &f->log_graph_breaks, "same as --print-graph-breaks");
  add.Switch("--export-profiler-trace", &f->profiler_trace,
             "a diagnostic run that keeps a profiler trace and no timings");
  add.Switch("--snapshot-memory,--snapshot_memory", &f->snapshot_memory,
             "a diagnostic run that keeps a memory snapshot and no timings");
  add.Switch("--log-operator-inputs", &f->log_operator_inputs,
             "a diagnostic run that keeps the operators' inputs and no timings");
  add.Switch("--stats", &f->stats, "accepted: the counters are in every result");
  add.Switch("--timing", &f->timing, "accepted: phases' durations are in every result");
  add.Switch("--print-memory", &f->print_memory, "accepted: memory is in every result");
  add.Switch("--print-compilation-time", &f->print_compilation_time,
             "accepted: compile seconds are in every result");
  add.Switch("--print-dataframe-summary", &f->print_dataframe_summary,
             "accepted: results JOB prints the table");
  add.Switch("--progress", &f->progress, "accepted: progress is always shown on a terminal");
  add.Switch("-v,--verbose", &f->verbose, "accepted: logs JOB MODEL has everything printed");
}

void AddSplitting(Adder& add, SubmitFlags* f) {
  add.Group("splitting");
  add.Value("--total-partitions", &f->total_partitions, "N", "cut the list into N (default: 1)");
  add.Value("--partition-id", &f->partition_id, "I", "only this part, 0 to N-1 (default: all)");
  add.Value("--partition-policy", &f->partition_policy, "WORD",
            "dynamic (default), balanced or static, which cuts exactly as upstream does",
            {"dynamic", "balanced", "static"});
  add.Group("who runs it");
  add.Value("--engine", &f->engine, "WORD",
            "native (default); script: upstream's scripts, unchanged; command: the program after "
            "--, e.g. --engine command -- ./mybench {output}",
            {"native", "script", "command"});
  add.Value("--scripts", &f->scripts, "DIR",
            "engine script: folder of upstream's scripts on the workers, absolute");
}

void AddPairs(Adder& add, SubmitFlags* f) {
  add.Group("two builds against each other");
  add.Value("--base", &f->base, "ENV",
            "measure every model in this environment and in that of --new, in rounds of one fresh "
            "process each on one slot; see compare JOB");
  add.Value("--new", &f->fresh, "ENV", "the other environment; may be the same (A/A)");
  add.Value("--rounds", &f->rounds, "MIN..MAX",
            "rounds of a pair: at least MIN, then until it is decided (default: 3..12)");
  add.Value("--budget", &f->budget, "DURATION",
            "slot time for all rounds, e.g. 1h: spent where a decision is closest; the rest is "
            "skipped");
  add.Value("--seed", &f->seed, "N",
            "of the order of the sides in each round (default: drawn, and shown by plan)");
}

void AddOutput(Adder& add, SubmitFlags* f) {
  add.Group("the job and its output");
  add.Value("--output", &f->output, "FILE.csv",
            "upstream's CSV and the files beside it, written when the job has finished; what the "
            "job has more than one of is added to the name; needs --wait");
  add.Value("--output-directory", &f->output_directory, "DIR", "folder of --output");
  add.Switch("--disable-output", &f->disable_output, "write no CSV (the default without --output)");
  add.Value("--tag", &f->tag, "TEXT", "column `tag` of --output, and the label without --label");
  add.Value("--baseline", &f->baseline, "CSV",
            "columns baseline and speedup_vs_baseline from that file's speedups; needs --output");
  add.Switch("--dump-raw-metrics", &f->dump_raw_metrics,
             "each model's timings as .npy beside --output");
  add.Switch("--generate-aot-autograd-stats", &f->aot_autograd_stats,
             "graph counts as _stats.csv beside --output");
  add.Value("--label", &f->label, "TEXT", "shown with the job");
  add.Value("--priority", &f->priority, "N", "higher goes first (default: 0)");
  add.Group("where and until when it runs");
  add.Repeated("--require", &f->require, "KEY=VALUE",
               "only on workers with this label or version: pool=a100, host!=old, \"torch>=2.13\"; "
               "repeated: all of them");
  add.Value("--deadline", &f->deadline, "DURATION",
            "from now, e.g. 6h; when it is in danger the job goes before others of its priority");
  add.Value("--unplaceable-grace", &f->unplaceable_grace, "DURATION",
            "how long experiments wait for a worker that could run them to become known at all "
            "(default: the coordinator's, 10m); then they are lost, status unplaceable");
  add.Switch("--fail-unplaceable", &f->fail_unplaceable,
             "same as --unplaceable-grace 0s: what no known worker can run fails at once");
}

void AddSimulation(Adder& add, SubmitFlags* f) {
  add.Group("simulation");
  add.Switch("--simulate", &f->simulate,
             "run the plan in virtual time on the slots that there are: makespan, idle share, "
             "what ends last, what one more slot would save");
  add.Value("--job", &f->job, "N",
            "simulate this job of the past with the durations that it had; needs --simulate");
  add.Value("--extra-slots", &f->extra_slots, "N",
            "with so many more slots like the first that fits; needs --simulate");
}

}  // namespace

void AddSubmitFlags(CommandTree& tree, CLI::App* verb, SubmitFlags* f) {
  Adder add(tree, verb);
  AddWhat(add, f);
  AddWithWhat(add, f);
  AddCompilerPath(add, f);
  AddCompilerOptions(add, f);
  AddModel(add, f);
  AddMeasuring(add, f);
  AddJudging(add, f);
  AddInside(add, f);
  AddSplitting(add, f);
  AddPairs(add, f);
  AddOutput(add, f);
  tree.Tail(verb, &f->command);
  if (verb->get_name() == "plan") {
    AddSimulation(add, f);
    return;
  }
  add.Switch("--wait", &f->wait, "follow the job, then print its table; exit code as `wait`");
  add.Value("--wait-timeout", &f->wait_timeout_s, "SECONDS",
            "give up waiting (exit 6); needs --wait");
  add.Switch("--dry-run", &f->dry_run, "show the plan, dispatch nothing");
}

}  // namespace dynbench::cli
