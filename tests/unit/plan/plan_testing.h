// What the tests of the plan share: the installed suites and a suite of three models.
#pragma once

#include <string>
#include <vector>

#include "common/plan/catalog.h"
#include "common/plan/expand.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::plan {

// The suites of this source tree, as installed.
inline const Catalog& Installed() {
  static const Catalog* catalog = [] {
    auto loaded = LoadCatalog(DYNBENCH_SOURCE_SUITES);
    if (!loaded.ok()) std::fprintf(stderr, "%s\n", loaded.status().ToString().c_str());
    return new Catalog(*std::move(loaded));
  }();
  return *catalog;
}

inline Request Timm() {
  Request request;
  request.suite = "timm";
  return request;
}

// The plan of `request` over the installed suites on an x86 CPU fleet.
inline absl::StatusOr<Plan> PlanOf(const Request& request, const FleetFacts& fleet = {},
                                   const Predictor& predict = nullptr) {
  return Expand(request, Installed(), fleet, predict);
}

inline std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

inline std::vector<std::string> ModelsOf(const Plan& plan) {
  std::vector<std::string> names;
  for (const Experiment& e : plan.experiments) {
    if (names.empty() || names.back() != e.model) names.push_back(e.model);
  }
  return names;
}

inline const Experiment* RowOf(const Plan& plan, const std::string& model, Test test) {
  for (const Experiment& e : plan.experiments) {
    if (e.model == model && e.test == test) return &e;
  }
  return nullptr;
}

}  // namespace dynbench::plan
