#include "tools/dynbenchctl/job_view.h"

#include <time.h>

#include <cmath>
#include <utility>

#include "tools/dynbenchctl/text_table.h"

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

std::string Duration(double seconds) {
  if (seconds < 0) return "";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  const int64_t minutes = (whole + 30) / 60;
  if (minutes < 60) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
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
  std::string line = "job " + std::to_string(job.row.id.value) + " (" + job.row.suite;
  if (!job.row.label.empty()) line += ", " + OneLine(job.row.label);
  line += ") " + job.row.state + ": " + CountsLine(job.row.coverage);
  if (job.row.state == "running" && job.eta_s >= 0) {
    line += ", about " + Duration(job.eta_s) + " left";
  }
  if (!job.row.cancel_reason.empty()) {
    line += "; cancelled: " + OneLine(job.row.cancel_reason);
  }
  return line;
}

Json CoverageJson(const store::Coverage& c) {
  return {{"planned", c.planned},     {"passed", c.passed},   {"failed", c.failed},
          {"skipped", c.skipped},     {"lost", c.lost},       {"cancelled", c.cancelled},
          {"waiting", c.waiting},     {"running", c.running}};
}

Json JobJson(const JobView& job) {
  Json json = {{"id", job.row.id.value}, {"state", job.row.state}};
  json.update(CoverageJson(job.row.coverage));
  json["eta_s"] = job.eta_s < 0 ? Json(nullptr) : Json(job.eta_s);
  json["suite"] = job.row.suite;
  json["label"] = job.row.label;
  json["user"] = job.row.user;
  json["cancel_reason"] = job.row.cancel_reason;
  json["retries"] = job.row.retries ? Json(job.row.retries.value) : Json(nullptr);
  json["submitted_unix_ms"] = job.row.submitted_at.ms;
  json["finished_unix_ms"] =
      job.row.finished_at.ms == 0 ? Json(nullptr) : Json(job.row.finished_at.ms);
  json["waiting_reasons"] = job.waiting_reasons;
  return json;
}

std::string StatusText(const std::vector<JobView>& jobs) {
  std::string text;
  for (const JobView& job : jobs) {
    text += StatusLine(job) + "\n";
    for (const std::string& reason : job.waiting_reasons) {
      text += "  waiting: " + OneLine(reason) + "\n";
    }
  }
  return text;
}

}  // namespace dynbench::cli
