// Upstream's status words, and what each says of an experiment. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "common/plan/words.h"

namespace dynbench::formats {

struct StatusMeaning {
  plan::Outcome outcome = plan::Outcome::kFailed;
  plan::Phase phase = plan::Phase::kReport;  // where it ended
  plan::Blame blame = plan::Blame::kNone;
};

// Nothing for a word that upstream does not write. Words with a number in them
// ("fail_batch_invariance_at_4") and words of its past ("eager_variation", "infra_error") count.
std::optional<StatusMeaning> MeaningOfStatus(std::string_view word);

}  // namespace dynbench::formats
