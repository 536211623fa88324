#include "coordinator/web/pages.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace dynbench::web {
namespace {

constexpr char kHead[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>dynbench</title>"
    "<meta http-equiv=\"refresh\" content=\"5\"><style>"
    "body{font:15px/1.4 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid #ddd}"
    "th:nth-child(-n+4),td:nth-child(-n+4){text-align:left}"
    ".bad{color:#b00020;font-weight:600}footer{margin-top:2rem;color:#666}"
    "</style></head><body><h1>Jobs</h1>";

std::string Number(int64_t value, bool bad = false) {
  return absl::StrCat(bad && value > 0 ? "<td class=\"bad\">" : "<td>", value, "</td>");
}

std::string Row(const store::JobRow& job) {
  const store::Coverage& c = job.coverage;
  std::string name = job.suite;
  if (!job.label.empty()) absl::StrAppend(&name, " (", job.label, ")");
  return absl::StrCat(
      "<tr><td><a href=\"/api/v1/jobs/", job.id.value, "/results\">", job.id.value, "</a></td><td>",
      EscapeHtml(name), "</td><td>", EscapeHtml(job.user), "</td><td>", EscapeHtml(job.state),
      "</td>", Number(c.planned), Number(c.passed), Number(c.failed, true), Number(c.skipped),
      Number(c.lost, true), Number(c.cancelled), Number(c.running), Number(c.waiting), "</tr>");
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string JobsPage(const std::vector<formats::JobProgress>& jobs, const std::string& version) {
  std::string page = kHead;
  if (jobs.empty()) {
    page += "<p>Nothing was submitted yet: <code>dynbenchctl submit --suite timm</code></p>";
  } else {
    page +=
        "<table><thead><tr><th>job</th><th>suite</th><th>user</th><th>state</th><th>planned</th>"
        "<th>passed</th><th>failed</th><th>skipped</th><th>lost</th><th>cancelled</th>"
        "<th>running</th><th>waiting</th></tr></thead><tbody>";
    for (const formats::JobProgress& progress : jobs) page += Row(progress.job);
    page += "</tbody></table>";
  }
  absl::StrAppend(&page, "<footer>dynbench ", EscapeHtml(version),
                  " &middot; <a href=\"/api/v1/status\">status</a> &middot; "
                  "<a href=\"/metrics\">metrics</a></footer></body></html>\n");
  return page;
}

std::string ErrorJson(const std::string& message) {
  return formats::JsonText({{"error", message}});
}

}  // namespace dynbench::web
