#include "common/formats/upstream_status.h"

#include <map>
#include <string>

namespace dynbench::formats {
namespace {

using plan::Blame;
using plan::Outcome;
using plan::Phase;

bool StartsWith(std::string_view word, std::string_view prefix) {
  return word.substr(0, prefix.size()) == prefix;
}

}  // namespace

std::optional<StatusMeaning> MeaningOfStatus(std::string_view word) {
  static const auto* const meanings = new std::map<std::string, StatusMeaning, std::less<>>{
      {"pass", {Outcome::kPassed, Phase::kReport, Blame::kNone}},
      {"pass_due_to_skip", {Outcome::kPassed, Phase::kReport, Blame::kNone}},
      {"eager_variation", {Outcome::kPassed, Phase::kReport, Blame::kNone}},
      {"fail_accuracy", {Outcome::kFailed, Phase::kVerify, Blame::kCompiler}},
      {"not_bitwise_equivalent", {Outcome::kFailed, Phase::kVerify, Blame::kCompiler}},
      {"fail_to_run", {Outcome::kFailed, Phase::kCompile, Blame::kCompiler}},
      {"OOM", {Outcome::kFailed, Phase::kCompile, Blame::kCompiler}},
      {"eager_1st_run_fail", {Outcome::kFailed, Phase::kEager, Blame::kEager}},
      {"eager_1st_run_OOM", {Outcome::kFailed, Phase::kEager, Blame::kEager}},
      {"eager_2nd_run_fail", {Outcome::kFailed, Phase::kEager, Blame::kEager}},
      {"eager_2nd_run_OOM", {Outcome::kFailed, Phase::kEager, Blame::kEager}},
      {"eager_two_runs_differ", {Outcome::kFailed, Phase::kEager, Blame::kEager}},
      {"model_fail_to_load", {Outcome::kFailed, Phase::kLoad, Blame::kModel}},
      {"eager_fail_to_run", {Outcome::kFailed, Phase::kLoad, Blame::kModel}},
      // Written by a parent, about a child of which nothing more is known.
      {"timeout", {Outcome::kFailed, Phase::kReport, Blame::kCompiler}},
      {"infra_error", {Outcome::kLost, Phase::kReport, Blame::kInfrastructure}},
      {"worker_fail", {Outcome::kFailed, Phase::kReport, Blame::kCompiler}},
  };
  const auto found = meanings->find(word);
  if (found != meanings->end()) return found->second;
  if (StartsWith(word, "fail_batch_invariance_at_")) {
    return StatusMeaning{Outcome::kFailed, Phase::kVerify, Blame::kCompiler};
  }
  if (StartsWith(word, "fail_to_run_at_batch_")) {
    return StatusMeaning{Outcome::kFailed, Phase::kCompile, Blame::kCompiler};
  }
  return std::nullopt;
}

}  // namespace dynbench::formats
