// Rules of suites in words. Pure.
#pragma once

#include <string>

#include "common/plan/suite.h"

namespace dynbench::cli {

// "cpu aarch64 training": when a rule holds; "always" without a condition. `slow`: only with
// --fast.
std::string ConditionWords(const plan::Condition& when, bool slow);

// Everything that the suite says of a model, a line each, reasons beside the rules.
std::string ModelText(const plan::ModelRules& model);

}  // namespace dynbench::cli
