#include "worker/runner/timing.h"

#include <sys/resource.h>

#include "worker/runner/phases.h"

namespace dynbench::runner {
namespace {

int64_t PageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

struct Sample {
  int64_t ns = 0;
  int64_t faults = 0;
};

Sample TimeOnce(const TimingPlan& plan, const Side& side) {
  side.before();
  plan.synchronize();
  plan.reseed();
  const int64_t faults_before = PageFaults();
  int64_t total_ns = 0;
  for (int i = 0; i < plan.iterations_per_run; ++i) {
    if (side.before_call) {
      side.before_call();
      plan.synchronize();
    }
    const int64_t begin_ns = NowNs();
    side.call();
    total_ns += NowNs() - begin_ns;
    if (i + 1 < plan.iterations_per_run) side.release();
  }
  const int64_t wait_ns = NowNs();
  plan.synchronize();
  total_ns += NowNs() - wait_ns;
  const int64_t faults = PageFaults() - faults_before;
  side.release();
  return {total_ns, faults};
}

}  // namespace

Samples TimePairs(const TimingPlan& plan) {
  Samples samples;
  for (auto* readings :
       {&samples.eager_ns, &samples.compiled_ns, &samples.eager_faults, &samples.compiled_faults}) {
    readings->reserve(plan.repeat);
  }
  for (int i = 0; i < plan.repeat; ++i) {
    const Sample eager = TimeOnce(plan, plan.eager);
    const Sample compiled = TimeOnce(plan, plan.compiled);
    samples.eager_ns.push_back(eager.ns);
    samples.compiled_ns.push_back(compiled.ns);
    samples.eager_faults.push_back(eager.faults);
    samples.compiled_faults.push_back(compiled.faults);
  }
  return samples;
}

}  // namespace dynbench::runner
