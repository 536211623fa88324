// What a suite's file says its models take to compile (plan::ModelRules::typical_compile_s), in
// proportion to one another: with it the longest begin first and get more cores on a night of which
// no history knows anything. Immutable.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/plan/request.h"
#include "common/plan/suite.h"

namespace dynbench::session {

class TypicalCompile {
 public:
  TypicalCompile() = default;  // of a file that says nothing
  explicit TypicalCompile(const plan::Suite& suite);
  // Of the suite that the request brings along; none: it names an installed one.
  static std::optional<TypicalCompile> OfOwnSuite(const plan::Request& request);

  // Whether the file says it of any model.
  bool says_anything() const { return longest_ > 0; }
  // In medians of the models of which the file says it; 0: it does not say it of this one.
  double Of(const std::string& model) const;
  // Of the longest.
  double longest() const { return longest_; }

 private:
  std::map<std::string, double> of_model_;
  double longest_ = 0;
};

}  // namespace dynbench::session
