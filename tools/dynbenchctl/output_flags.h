// Flags of the verbs that write upstream's files of a finished job: `results` and `export`.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/dynbenchctl/command_tree.h"
#include "tools/dynbenchctl/csv_output.h"

namespace dynbench::cli {

struct OutputFlags {
  std::optional<std::string> tag, baseline;
  bool raw_timings = false;
};

// Adds --tag, --baseline and --dump-raw-metrics to `verb`; `flags` must outlive the parse.
void AddOutputFlags(CLI::App* verb, OutputFlags* flags);

// Fills options and files beside; reads the baseline. Errors name the flag and the file.
absl::Status SetOutput(const Context& context, const OutputFlags& flags, OutputFiles* output);

}  // namespace dynbench::cli
