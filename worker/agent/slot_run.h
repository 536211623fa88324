// One attempt on a slot, from its place in the queue to its report. Private to the slot.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/plan/experiment.h"
#include "worker/agent/slot.h"

namespace dynbench::worker {

struct Slot::Run {
  Planned planned;
  plan::Experiment experiment;
  Environment environment;
  UnixTimeMs started_at;
  WorkFolder work;
  std::string cache_key;
  std::string shared_dir;  // start shared
  std::string model_file;
  bool preparing = false;      // a preparation of the warm cache runs
  bool prepared_here = false;  // one has run for this attempt
  bool in_engine = false;
  std::vector<int> lanes;    // whose cores it has
  bool owns_slot = false;    // nothing runs beside it
  bool had_company = false;  // something ran beside it
  plan::Phase phase = plan::Phase::kPrepare;
  std::optional<GpuState> gpu_state;  // when its last measuring window ended
  bool dropped = false;               // revoked: nothing is reported
  std::string give_back;              // draining: why it is returned
  Activity activity = Activity::kPreparing;
  std::function<void(int64_t flags)> window_granted;
  DeviceUse use = DeviceUse::kMeasure;  // what it asked the window for last
  bool off_device = false;              // computes on its cores only, but in windows
  std::vector<std::string> notes;
  std::shared_ptr<LiveLog> log = std::make_shared<LiveLog>();
  std::map<std::string, std::string> host_settings;  // when it was launched
  // What was wrong with its windows as they were given: of the compiler's own, all together, and of
  // the last one for measuring (one that began badly may be taken again).
  int64_t compile_window_flags = 0, window_flags = 0;
  int64_t later_window_flags = 0;  // what became wrong with one after that
  bool asks = false;               // for the window, and has not got it
  // With the other side of its round (slot_companions.cc).
  int window_blocks = 1;  // windows that it was told to take its samples in
  bool parked = false;    // is ready, and stands still until the other side is
  bool parted = false;    // measures for itself: the other side is gone, or both are through
  std::shared_ptr<BlockOrder> blocks;  // of both, while they alternate
  std::string block_order;             // in which they did
};

}  // namespace dynbench::worker
