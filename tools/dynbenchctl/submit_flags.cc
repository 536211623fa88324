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
  add.List("--mode", &f->mode, "MODE", "inference (default), training or both with a comma",
           {"inference", "training"});
  add.Switch("--inference", &f->inference, "same as --mode inference");
  add.Switch("--training", &f->training, "same as --mode training");
  add.List("--test", &f->test, "TEST", "performance, accuracy (default: both)",
           {"performance", "accuracy"});
  add.Switch("--performance", &f->performance, "same as --test performance");
  add.Switch("--accuracy", &f->accuracy, "same as --test accuracy");
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

void AddCompiler(Adder& add, SubmitFlags* f) {
  add.Group("compiler, instead of --configuration (inductor's cudagraphs are then on)");
  add.Value("--backend", &f->backend, "NAME", "a torch.compile backend, or eager for no compiler");
  add.Switch("--inductor", &f->inductor, "same as --backend inductor");
  add.Value("--inductor-compile-mode", &f->inductor_compile_mode, "MODE",
            "torch.compile's mode, e.g. max-autotune");
  add.Switch("--nopython", &f->nopython, "full graph or error");
  add.Switch("--disable-cudagraphs", &f->disable_cudagraphs, "no cudagraphs");
  add.Switch("--freezing", &f->freezing, "constant folding of weights, inference only");
  add.Switch("--cpp-wrapper", &f->cpp_wrapper, "generate C++ host code");
  add.Switch("--dynamic-shapes", &f->dynamic_shapes, "every dimension dynamic");
  add.Switch("--dynamic-batch-only", &f->dynamic_batch_only, "only the batch dimension dynamic");
  add.Repeated("-c,--inductor-config", &f->inductor_config, "K=V",
               "inductor setting, typed from its current value; repeatable");
  add.Repeated("--dynamo-config", &f->dynamo_config, "K=V", "dynamo setting; repeatable");
}

void AddMeasuring(Adder& add, SubmitFlags* f) {
  add.Group("how it is measured");
  add.Value("--batch-size,--batch_size", &f->batch_size, "N", "instead of the suite's, as given");
  add.Value("--batch-size-file", &f->batch_size_file, "FILE", "lines of name,size");
  add.Value("-n,--repeat", &f->repeat, "N", "timed pairs of calls (default: 30)");
  add.Value("--iterations", &f->iterations, "N", "model steps of an accuracy run (default: 2)");
  add.Value("--iterations-per-run", &f->iterations_per_run, "N", "calls per sample (default: 1)");
  add.Value("-t,--threads", &f->threads, "N", "torch threads (default: the slot's cores)");
  add.Value("--timeout", &f->timeout_s, "SECONDS", "limit of one experiment (default: 2000)");
  add.Switch("--channels-last", &f->channels_last, "channels-last memory format");
  add.Switch("--randomize-input", &f->randomize_input, "new random input for each repetition");
}

void AddSplitting(Adder& add, SubmitFlags* f) {
  add.Group("splitting");
  add.Value("--total-partitions", &f->total_partitions, "N", "cut the list into N (default: 1)");
  add.Value("--partition-id", &f->partition_id, "I", "only this part, 0 to N-1 (default: all)");
  add.Value("--partition-policy", &f->partition_policy, "WORD",
            "dynamic (default), balanced or static, which cuts exactly as upstream does",
            {"dynamic", "balanced", "static"});
}

}  // namespace

void AddSubmitFlags(CommandTree& tree, CLI::App* verb, SubmitFlags* f) {
  Adder add(tree, verb);
  AddWhat(add, f);
  AddWithWhat(add, f);
  AddCompiler(add, f);
  AddMeasuring(add, f);
  AddSplitting(add, f);
  add.Group("the job and its output");
  add.Value("--output", &f->output, "FILE.csv",
            "upstream's CSV, written when the job has finished; with both tests the test's name is "
            "added; needs --wait");
  add.Value("--output-directory", &f->output_directory, "DIR", "folder of --output");
  add.Switch("--disable-output", &f->disable_output, "write no CSV (the default without --output)");
  add.Value("--label", &f->label, "TEXT", "shown with the job");
  add.Value("--priority", &f->priority, "N", "higher goes first (default: 0)");
  if (verb->get_name() == "plan") return;
  add.Switch("--wait", &f->wait, "follow the job, then print its table; exit code as `wait`");
  add.Value("--wait-timeout", &f->wait_timeout_s, "SECONDS",
            "give up waiting (exit 6); needs --wait");
  add.Switch("--dry-run", &f->dry_run, "show the plan, dispatch nothing");
}

}  // namespace dynbench::cli
