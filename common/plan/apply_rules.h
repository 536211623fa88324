// What the rules of a suite, and the flags that override them, make of one experiment. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/plan/configuration.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"
#include "common/plan/selection.h"

namespace dynbench::plan {

// Whether all that `when` names holds of the experiment on a host of this architecture. Precision
// is the one asked for, not the effective one.
bool Applies(const Condition& when, const Experiment& experiment, std::string_view arch);

// Fills in what the model decides: source, batch size, effective precision, optimizer, mode of the
// module, generation, tolerance and the other rules of accuracy. Order of precedence: a flag, the
// model's rules (the last that applies), the rules of `defaults`, the model's keys.
//
// Requires mode, test, options, precision, device, batch_invariant, distributed and the rest of
// what the request alone decides.
void ApplyModel(const Request& request, const Configuration& configuration,
                const SelectedModel& model, std::string_view arch, Experiment* experiment);

// Why the plan skips the experiment: a skip rule of the suite (unless bypassed), or something that
// cannot be measured at all, which no flag bypasses. Empty: it is to be run.
std::string SkipReason(const Request& request, const Configuration& configuration,
                       const SelectedModel& model, const Experiment& experiment,
                       std::string_view arch);

// "generate", "prefill", "forward" or "": what the request or else the configuration asks for.
std::string GenerationAskedFor(const Request& request, const Configuration& configuration);

// Whether the model generates (loader huggingface, kind "generate").
bool Generates(const ModelRules& rules);

}  // namespace dynbench::plan
