// Method: the script engine runs the fake suite (tests/props/fake_suite), one child a behaviour,
// all at once; each must end in one result of the right class. The whole way, with rows and counts,
// is tests/integration/script_engine_test.py.
#include <unistd.h>

#include <future>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/engine/program_engine.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

struct Behaviour {
  const char *what, *outcome, *status, *phase, *blame;
};

constexpr Behaviour kBehaviours[] = {
    {"ok(2.5, 0.1, 0.01)", "passed", "measured", "report", "none"},
    {"exit(3)", "failed", "crash", "compile", "compiler"},
    {"exit0-no-row", "failed", "crash", "compile", "compiler"},
    {"row-then-crash", "passed", "measured", "report", "none"},
    {"dup-row", "passed", "measured", "report", "none"},
    {"dup-header", "passed", "measured", "report", "none"},
    {"cut-row", "failed", "crash", "compile", "compiler"},
    {"empty-file", "failed", "crash", "compile", "compiler"},
    {"segv", "failed", "crash", "compile", "compiler"},
    {"abort", "failed", "crash", "compile", "compiler"},
    {"kill9", "failed", "crash", "compile", "compiler"},
    {"hang", "failed", "timeout", "compile", "compiler"},
    {"hang-ignore-term", "failed", "timeout", "compile", "compiler"},
    {"setsid-child", "passed", "measured", "report", "none"},
    {"daemon-holds-stdout", "passed", "measured", "report", "none"},
    {"print(ff00fe0a0d1b5b)", "passed", "measured", "report", "none"},
    {"print-then-exit(ff00fe, 4)", "failed", "crash", "compile", "compiler"},
    {"flood(8)", "passed", "measured", "report", "none"},
    {"oom-text(load)", "failed", "eager_fail_to_run", "load", "model"},
    {"oom-text(eager)", "failed", "eager_1st_run_OOM", "eager", "eager"},
    {"oom-text(fp64)", "failed", "eager_1st_run_OOM", "reference", "eager"},
    {"oom-text(compile)", "failed", "OOM", "compile", "compiler"},
    {"oom-text(measure)", "failed", "OOM", "measure", "compiler"},
    {"429(2)", "passed", "measured", "report", "none"},
    {"429(6)", "lost", "download_failed", "load", "infrastructure"},
    {"device-lost", "lost", "device_lost", "compile", "infrastructure"},
    {"gpu-hang", "lost", "gpu_hang", "compile", "infrastructure"},
    {"gpu-hang-caught", "lost", "gpu_hang", "compile", "infrastructure"},
    {"gpu-hang-words", "passed", "measured", "report", "none"},
    {"infra-word", "passed", "measured", "report", "none"},
    {"infra-word-then-exit(5)", "failed", "crash", "compile", "compiler"},
    {"chdir", "passed", "measured", "report", "none"},
    {"fd-list", "passed", "measured", "report", "none"},
    {"affinity", "passed", "measured", "report", "none"},
    {"env-dump", "passed", "measured", "report", "none"},
    {"torch-version(9.9)", "passed", "measured", "report", "none"},
    {"key-error", "failed", "eager_fail_to_run", "load", "model"},
    {"warmup-failed", "failed", "eager_1st_run_fail", "eager", "eager"},
    {"old-header", "passed", "measured", "report", "none"},
    {"mixed-header", "failed", "fail_to_run", "compile", "compiler"},
    {"wrong-name", "failed", "crash", "compile", "compiler"},
};

std::string Words(const plan::Result& r) {
  return absl::StrCat(std::string(plan::ToString(r.outcome)), " ", r.status, " ",
                      std::string(plan::ToString(r.phase)), " ",
                      std::string(plan::ToString(r.blame)));
}

TEST(FakeSuite, EveryBehaviourEndsInOneResultOfTheRightClass) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no python";
  const ScratchDir dir;
  fs::copy(DYNBENCH_PROPS "/fake_suite", dir / "scripts");
  std::string plan;
  for (size_t i = 0; i < std::size(kBehaviours); ++i) {
    absl::StrAppend(&plan, "m", i, ": ", kBehaviours[i].what, "\n");
  }
  WriteText(dir / "scripts/behaviours.txt", plan);
  ProgramEngineOptions options;
  options.state_dir = dir / "state";
  options.variables = OwnEnvironment();
  options.profile = [](const std::string&) { return plan::LaunchProfile(); };
  auto engine = std::make_unique<ProgramEngine>(std::move(options));
  Environment environment;
  environment.facts.python = "/usr/bin/python3";
  engine->SetEnvironments({{"default", environment}});

  std::vector<std::promise<plan::Result>> promises(std::size(kBehaviours));
  for (size_t i = 0; i < std::size(kBehaviours); ++i) {
    AttemptSpec spec;
    spec.id = {ExperimentId(static_cast<int64_t>(i) + 1), LeaseEpoch(1)};
    spec.experiment.engine = "script";
    spec.experiment.model = absl::StrCat("m", i);
    // Long for those that end by themselves: they all run at once.
    const bool hangs = std::string(kBehaviours[i].status) == "timeout";
    spec.experiment.timeout_ms = hangs ? 8'000 : 50'000;
    spec.experiment.command = {"{python}",          dir / "scripts/timm_models.py",
                               "--performance",     "--inference",
                               "--bfloat16",        "--backend=inductor",
                               "--output={output}", "--only=" + spec.experiment.model};
    spec.work_dir = dir / absl::StrCat("work ", i);
    spec.cache_dir = spec.work_dir + "/cache";
    fs::create_directories(spec.cache_dir);
    AttemptObserver observer;
    observer.finished = [&promises, i](const plan::Result& result, const std::string&) {
      promises[i].set_value(result);  // a second one would throw
    };
    observer.returned = [&promises, i](const std::string& reason) {
      plan::Result result;
      result.status = reason;
      promises[i].set_value(result);
    };
    engine->Start(std::move(spec), std::move(observer));
  }
  for (size_t i = 0; i < std::size(kBehaviours); ++i) {
    const Behaviour& b = kBehaviours[i];
    const plan::Result result = promises[i].get_future().get();
    EXPECT_EQ(Words(result), absl::StrCat(b.outcome, " ", b.status, " ", b.phase, " ", b.blame))
        << b.what << ": " << result.error;
  }
  engine.reset();
  for (const auto& entry : fs::recursive_directory_iterator(std::string(dir / ""))) {
    EXPECT_NE(entry.path().filename().string().substr(0, 4), "core") << entry.path();
  }
  EXPECT_TRUE(Descendants(getpid()).empty()) << "processes are left";
}

}  // namespace
}  // namespace dynbench::worker
