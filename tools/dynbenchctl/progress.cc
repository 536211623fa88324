#include "tools/dynbenchctl/progress.h"

#include <algorithm>

#include "tools/dynbenchctl/row_line.h"

namespace dynbench::cli {

Progress::Progress(std::ostream* live, std::ostream* lines, int width, int height)
    : live_(live), lines_(lines), width_(width), height_(height) {}

void Progress::Update(const JobView& job, const std::vector<RowView>& changed) {
  picture_.job = job;
  std::vector<const RowView*> landed;
  for (const RowView& row : changed) {
    const auto known = picture_.rows.find(row.row.id);
    const bool was_done = known != picture_.rows.end() && known->second.row.result;
    picture_.rows[row.row.id] = row;
    if (!row.row.result || was_done) continue;
    if (row.row.unneeded_round()) continue;  // the summary tells them
    picture_.ended.push_back(row.row.id);
    landed.push_back(&row);
  }
  if (lines_ != nullptr) {
    std::stable_partition(landed.begin(), landed.end(),
                          [](const RowView* row) { return IsFailure(*row); });
    for (const RowView* row : landed) *lines_ << RowLine(*row) << "\n";
    lines_->flush();
  }
  Redraw();
}

void Progress::Redraw() {
  if (live_ == nullptr) return;
  Clear();
  const auto lines = LiveLines(picture_, width_ - 1, height_ - 1);
  for (const std::string& line : lines) *live_ << line << "\n";
  drawn_ = lines.size();
  live_->flush();
}

void Progress::Clear() {
  if (live_ == nullptr || drawn_ == 0) return;
  *live_ << "\x1b[" << drawn_ << "A\r\x1b[J";  // up, to the first column, wipe to the end
  live_->flush();
  drawn_ = 0;
}

Progress WaitProgress(Context& context, bool rows) {
  const Globals& globals = context.globals;
  Terminal& terminal = context.terminal;
  const bool live = terminal.err_is_terminal && !globals.quiet;
  const bool lines = rows && !live && !globals.quiet && !globals.json;
  return Progress(live ? &terminal.err : nullptr, lines ? &terminal.out : nullptr, terminal.width,
                  terminal.height);
}

}  // namespace dynbench::cli
