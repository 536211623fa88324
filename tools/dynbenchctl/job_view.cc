#include "tools/dynbenchctl/job_view.h"

#include <time.h>

#include <utility>

#include "common/base/durations.h"
#include "common/formats/format_number.h"
#include "common/formats/text_table.h"

namespace dynbench::cli {

std::string CountsLine(const store::Coverage& c) {
  const int64_t done = c.passed + c.failed + c.skipped + c.lost + c.cancelled;
  std::string parts;
  auto add = [](std::string& text, int64_t count, const char* word) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + word;
  };
  add(parts, c.passed, "passed");
  add(parts, c.failed, "failed");
  add(parts, c.skipped, "skipped");
  add(parts, c.lost, "lost");
  add(parts, c.cancelled, "cancelled");
  std::string line = std::to_string(done) + " done";
  if (!parts.empty()) line += " (" + parts + ")";
  add(line, c.running, "running");
  add(line, c.waiting, "waiting");
  return line;
}

std::string DateTime(UnixTimeMs time) {
  if (time.ms == 0) return "";
  const time_t seconds = time.ms / 1000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string StatusLine(const JobView& job) {
  std::string line = "job " + std::to_string(job.job.id.value) + " (" + job.job.suite;
  if (!job.job.label.empty()) line += ", " + formats::Printable(job.job.label);
  line += ") " + job.job.state + ": " + CountsLine(job.job.coverage);
  if (job.job.state == "running" && job.eta_s) {
    line += ", about " + FormatSeconds(*job.eta_s) + " left";
    if (job.eta_p90_s && *job.eta_p90_s > *job.eta_s) {
      line += " (nine times in ten at most " + FormatSeconds(*job.eta_p90_s) + ")";
    }
  }
  if (!job.job.cancel_reason.empty()) {
    line += "; cancelled: " + formats::Printable(job.job.cancel_reason);
  }
  return line;
}

std::string StatusText(const std::vector<JobView>& jobs) {
  std::string text;
  for (const JobView& job : jobs) {
    text += StatusLine(job) + "\n";
    for (const std::string& reason : job.waiting_reasons) {
      text += "  waiting: " + formats::Printable(reason) + "\n";
    }
  }
  return text;
}

}  // namespace dynbench::cli
