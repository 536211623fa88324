// Reading what a suite file says of one model, or in `defaults` of all. Private to suite.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/plan/suite.h"
#include "common/plan/yaml_reader.h"

namespace dynbench::plan {

// What has been read so far, before divisors and fallbacks are applied.
struct Draft {
  ModelRules rules;
  int divisor = 1;
  std::optional<double> tolerance_freezing;
};

// Reads the keys that a model and `defaults` share; lists are added to, values replaced. Errors are
// recorded in `reader`. `object` says whose rules they are, for messages.
void ReadRules(MapReader& reader, const std::string& object, Draft* draft);

// Divisors applied (not below 1, as upstream), and what nobody said filled in.
ModelRules Settle(Draft draft, const std::string& loader);

// Whether a model has what its loader needs and nothing that belongs to another.
absl::Status CheckLoaderKeys(const YamlNode& node, const std::string& object,
                             const std::string& loader, const ModelRules& rules,
                             std::string_view file);

}  // namespace dynbench::plan
