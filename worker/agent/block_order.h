// The two sides of a round that alternate: how many blocks each takes its samples in, and whose
// turn it is. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/experiment.h"

namespace dynbench::worker {

// Windows that each side of a round takes its samples in: 1 for what is measured in one, as ever
// (accuracy, other engines, several processes or copies at once, a target of precision,
// diagnostics, an experiment of no pair). About five samples a block, so 30 pairs in six.
int WindowBlocks(const plan::Experiment& experiment);

// Whether they are base and new of one round of one job.
bool AreOneRound(const plan::Experiment& a, const plan::Experiment& b);

class BlockOrder {
 public:
  // Of each two successive blocks one is of base and one of new; which comes first is drawn from
  // job, pair and round, so that neither a drift nor what one leaves behind favours a side.
  BlockOrder(JobId job, const plan::Experiment& experiment, int blocks);

  bool done() const { return turn_ == fresh_.size(); }
  bool fresh() const { return fresh_.at(turn_); }  // whose turn it is; not when it is done
  void Next() { ++turn_; }
  // Blocks that a side still has before it.
  int Left(bool of_fresh) const;
  // "base new, new base": of the whole order.
  std::string ToString() const;

 private:
  std::vector<bool> fresh_;
  size_t turn_ = 0;
};

}  // namespace dynbench::worker
