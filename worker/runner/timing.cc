#include "worker/runner/timing.h"

#include "worker/runner/phases.h"

namespace dynbench::runner {
namespace {

int64_t TimeOnce(const TimingPlan& plan, const Side& side) {
  side.before();
  plan.synchronize();
  plan.reseed();
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
  side.release();
  return total_ns;
}

}  // namespace

Samples TimePairs(const TimingPlan& plan) {
  Samples samples;
  samples.eager_ns.reserve(plan.repeat);
  samples.compiled_ns.reserve(plan.repeat);
  for (int i = 0; i < plan.repeat; ++i) {
    samples.eager_ns.push_back(TimeOnce(plan, plan.eager));
    samples.compiled_ns.push_back(TimeOnce(plan, plan.compiled));
  }
  return samples;
}

}  // namespace dynbench::runner
