#include "tools/dynbenchctl/output_flags.h"

#include <fstream>
#include <iterator>

#include "common/base/status.h"

namespace dynbench::cli {

void AddOutputFlags(CLI::App* verb, OutputFlags* flags) {
  verb->add_option("--tag", flags->tag, "one more column `tag` with this text")
      ->type_name("TEXT")
      ->group("flags");
  verb->add_option("--baseline", flags->baseline,
                   "columns baseline and speedup_vs_baseline from that CSV's speedups, by model")
      ->type_name("CSV")
      ->group("flags");
  verb->add_flag("--dump-raw-metrics", flags->raw_timings,
                 "each model's timings as .npy beside the CSV")
      ->group("flags");
}

absl::Status SetOutput(const Context& context, const OutputFlags& flags, OutputFiles* output) {
  output->options.tag = flags.tag;
  output->beside.stats = true;
  output->beside.raw_timings = flags.raw_timings;
  if (!flags.baseline) return absl::OkStatus();
  const std::string path = AbsolutePath(context, *flags.baseline);
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError("--baseline " + path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSIGN_OR_RETURN(output->options.baseline, formats::ReadBaseline(text, "--baseline " + path));
  return absl::OkStatus();
}

}  // namespace dynbench::cli
