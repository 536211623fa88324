// Workers as people and programs read them.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// A clock that differs by more than this is told: times of different hosts no longer sort.
inline constexpr int64_t kClockSkewWarnMs = 2'000;

std::string WorkersText(const std::vector<WorkerView>& workers, const formats::TableStyle& style);
Json WorkersJson(const std::vector<WorkerView>& workers);

}  // namespace dynbench::cli
