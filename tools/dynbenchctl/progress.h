// Shows a job while it runs: redrawn in place on a terminal, one line for each row that ends
// elsewhere, or nothing. Thread-compatible.
#pragma once

#include <ostream>
#include <vector>

#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/live_view.h"

namespace dynbench::cli {

class Progress {
 public:
  // `live`: where to redraw; nullptr: not at all. `lines`: where rows go as they land; likewise.
  // Both must outlive this object.
  Progress(std::ostream* live, std::ostream* lines, int width, int height);

  // The job's state and the rows that changed since the last call.
  void Update(const JobView& job, const std::vector<RowView>& changed);

  // Wipes the live picture, so that what follows starts on a clean line.
  void Clear();

 private:
  void Redraw();

  std::ostream* live_;
  std::ostream* lines_;
  int width_, height_;
  LivePicture picture_;
  size_t drawn_ = 0;  // lines of the picture that are on the terminal
};

// Progress for verbs whose answer comes at the end (submit --wait, wait, retry --wait): live on err
// when that is a terminal; else rows on out when `rows` and the answer is text; else nothing.
Progress WaitProgress(Context& context, bool rows);

}  // namespace dynbench::cli
