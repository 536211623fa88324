#include "tools/dynbenchctl/live_view.h"

#include <algorithm>

#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/row_line.h"

namespace dynbench::cli {
namespace {

std::string Bar(const store::Coverage& c, size_t width) {
  if (c.planned == 0) return "";
  const auto share = [&](int64_t count) { return count * static_cast<int64_t>(width) / c.planned; };
  const size_t done = share(c.planned - c.waiting - c.running);
  const size_t running = std::min<size_t>(width - done, share(c.running));
  return "[" + std::string(done, '#') + std::string(running, '+') +
         std::string(width - done - running, '.') + "]";
}

// Appends `lines`, at most `room` of them, the last one saying how many more there are.
void AppendSome(const std::vector<std::string>& lines, size_t room, std::vector<std::string>* out) {
  if (room == 0) return;
  const bool fits = lines.size() <= room;
  const size_t shown = fits ? lines.size() : room - 1;
  out->insert(out->end(), lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown));
  if (!fits) out->push_back("  … and " + std::to_string(lines.size() - shown) + " more");
}

}  // namespace

std::vector<std::string> LiveLines(const LivePicture& picture, int width, int height) {
  std::vector<std::string> lines = {Bar(picture.job.job.coverage, 30) + " " +
                                    StatusLine(picture.job)};
  std::vector<std::string> failures, running, waiting, ended;
  for (const auto& [id, row] : picture.rows) {
    if (IsFailure(row)) failures.push_back("  " + RowLine(row));
    if (row.row.state == "running") running.push_back("  " + RowLine(row));
  }
  for (const std::string& reason : picture.job.waiting_reasons) {
    waiting.push_back("  waiting: " + formats::Printable(reason));
  }
  for (auto id = picture.ended.rbegin(); id != picture.ended.rend(); ++id) {
    const auto row = picture.rows.find(*id);
    if (row != picture.rows.end() && !IsFailure(row->second)) {
      ended.push_back("  " + RowLine(row->second));
    }
  }
  auto room = [&] {
    const auto used = static_cast<int>(lines.size());
    return static_cast<size_t>(std::max(0, height - used));
  };
  AppendSome(failures, std::min(room(), static_cast<size_t>(std::max(1, height / 2))), &lines);
  AppendSome(running, room(), &lines);
  AppendSome(waiting, room(), &lines);
  // What passed is only company: the newest ones that fit, without a count of the others.
  for (const std::string& line : ended) {
    if (room() == 0) break;
    lines.push_back(line);
  }
  for (std::string& line : lines)
    line = formats::Truncate(line, static_cast<size_t>(std::max(1, width)));
  return lines;
}

}  // namespace dynbench::cli
