#include "worker/agent/block_order.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include "common/plan/pairs.h"
#include "common/plan/script_command.h"
#include "worker/agent/slot_sharing.h"

namespace dynbench::worker {
namespace {

constexpr int kPairsOfABlock = 5;
constexpr int kMostBlocks = 12;

}  // namespace

int WindowBlocks(const plan::Experiment& e) {
  const bool alternates = e.pair > 0 && e.test == plan::Test::kPerformance &&
                          e.engine == plan::kNativeEngine && e.instances <= 1 &&
                          e.world_size <= 1 && e.target_precision <= 0 && e.diagnostics.empty();
  return alternates ? std::clamp(e.repeat / kPairsOfABlock, 1, kMostBlocks) : 1;
}

bool AreOneRound(const plan::Experiment& a, const plan::Experiment& b) {
  return a.pair > 0 && a.pair == b.pair && a.round == b.round && a.side != b.side;
}

BlockOrder::BlockOrder(JobId job, const plan::Experiment& experiment, int blocks) {
  const auto of_job = static_cast<uint64_t>(job.value);
  std::seed_seq seed{static_cast<uint32_t>(of_job), static_cast<uint32_t>(of_job >> 32),
                     static_cast<uint32_t>(experiment.pair),
                     static_cast<uint32_t>(experiment.round)};
  std::mt19937_64 generator(seed);
  for (int block = 0; block < blocks; ++block) {
    const bool fresh = (generator() >> 63) != 0;
    fresh_.push_back(fresh);
    fresh_.push_back(!fresh);
  }
}

int BlockOrder::Left(bool of_fresh) const {
  return static_cast<int>(
      std::count(fresh_.begin() + static_cast<int64_t>(turn_), fresh_.end(), of_fresh));
}

std::string BlockOrder::ToString() const {
  std::string text;
  for (size_t i = 0; i < fresh_.size(); ++i) {
    if (i > 0) text += i % 2 == 0 ? ", " : " ";
    text += fresh_[i] ? plan::kNewSide : plan::kBaseSide;
  }
  return text;
}

}  // namespace dynbench::worker
