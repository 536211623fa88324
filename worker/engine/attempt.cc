#include "worker/engine/attempt.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "spdlog/spdlog.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {
namespace {

// Between TERM and KILL: long enough for a Python handler, short for who waits for the slot.
constexpr int64_t kGraceMs = 3'000;
// A lane that has not reported the end by then (after the grace) is killed itself.
constexpr int64_t kLaneAnswerMs = 15'000;
// A child that has reported has nothing left to do but to exit.
constexpr int64_t kExitAfterResultMs = 10'000;
// In a tree that is ended at a limit: from the word to its lane to the last line of the stacks.
constexpr int64_t kStacksMs = 400;
// For the rest of a tree to end when another one's window begins.
constexpr int64_t kEndNowMs = 2'000;
// What a child does not read is offered again.
constexpr int64_t kSendAgainMs = 20;
// 64 KiB each: more than any result, and an end should somebody hold the socket's other end.
constexpr int kMostLastReads = 1'024;

bool SendOnlyKill(const ProcessStat& process, int signal) {
  return signal == SIGKILL && SignalProcess(process, signal);
}

DeviceUse UseOf(const nlohmann::json& window) {
  const std::string use = window.value("use", "measure");
  if (use == "benchmark") return DeviceUse::kBenchmark;
  return use == "return" ? DeviceUse::kReturn : DeviceUse::kMeasure;
}

}  // namespace

std::string Attempt::IdText(const AttemptId& id) {
  return absl::StrCat(id.experiment.value, ".", id.lease.value);
}

Attempt::Attempt(EventLoop* loop, AttemptSpec spec, AttemptObserver observer,
                 MonotonicTime asked_at)
    : loop_(loop),
      spec_(std::move(spec)),
      observer_(std::move(observer)),
      pump_(loop, spec_.log_cap_bytes,
            [this](int64_t offset, std::string_view bytes) {
              if (observer_.log) observer_.log(offset, bytes);
              OnOutput(bytes);
            }),
      asked_ns_(asked_at.ns) {}

Attempt::~Attempt() {
  loop_->Cancel(deadline_timer_);
  loop_->Cancel(kill_timer_);
  CloseControl();
}

// A child that hangs or stands still does not read, and the loop is that of all slots: nobody waits
// for it.
void Attempt::Say(const nlohmann::json& message) {
  control_.Queue(message.dump());
  SendKept();
}

void Attempt::SendKept() {
  loop_->Cancel(send_timer_);
  if (control_.Flush()) return;
  send_timer_ = loop_->After(kSendAgainMs, [this] { SendKept(); });
}

void Attempt::Run(std::unique_ptr<Lane> lane, Ended ended) {
  lane_ = std::move(lane);
  ended_ = std::move(ended);
  lane_->Listen([this](const nlohmann::json& message) { HearLane(message); },
                [this] { LaneLost(); });
  Launch();
}

void Attempt::Launch() {
  if (!sent_ && !held_ && lane_ && MayStart()) SendRun();
}

void Attempt::SendRun() {
  sent_ = true;
  auto [ours, theirs] = SocketPair();
  const UniqueFd output = pump_.Open();
  if (!ours || !output) {
    spawn_error_ = "no descriptors left";
    return Conclude();
  }
  fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  control_ = LineChannel(std::move(ours));
  loop_->Watch(control_.fd(), [this] { ReadControl(); });
  started_ns_ = MonotonicNow().ns;
  CheckDeadline();
  // stdout and stderr are one pipe, so that the log keeps their order. A lane that is gone shows at
  // its own socket.
  lane_->Send(RunMessage(), {theirs.get(), output.get(), output.get()});
}

nlohmann::json Attempt::RunMessage() const {
  return {{"type", "run"},
          {"attempt", IdText(spec_.id)},
          {"experiment", nlohmann::json::parse(spec_.experiment_json, nullptr, false)},
          {"work_dir", spec_.work_dir},
          {"cache_dir", spec_.cache_dir},
          {"model_file", spec_.model_file},
          {"cores", spec_.cores},
          {"lanes", spec_.lanes},
          {"cores_shared", spec_.cores_shared},
          {"window_blocks", spec_.window_blocks},
          {"prepare", spec_.prepare},
          {"memory_limit_bytes", spec_.memory_limit_bytes},
          {"precompiled_headers_dir", spec_.precompiled_headers_dir},
          {"device_index", spec_.device_index},
          {"time_limit_ms", spec_.experiment.timeout_ms}};
}

void Attempt::HearLane(const nlohmann::json& message) {
  const std::string type = message.value("type", "");
  const std::string attempt = message.value("attempt", "");
  // A refusal of a line that the lane could not read names no attempt.
  if (attempt != IdText(spec_.id) && !(type == "refused" && attempt.empty())) return;
  if (type == "spawned") {
    lane_->freezer().Adopt(message.value("pid", 0));
    // The tree had nobody yet when it was frozen.
    if (frozen_since_ns_ != 0 && !lane_->freezer().Freeze()) {
      spdlog::warn("attempt {} was forked in another one's window and runs", IdText(spec_.id));
      Thaw();
      if (observer_.runs_on) observer_.runs_on();
    }
    OnSpawned();
  } else if (type == "refused") {
    spawn_error_ = message.value("error", "the lane could not fork");
    Conclude();
  } else if (type == "exited") {
    Exited(message);
  }
}

void Attempt::ReadControl() {
  const bool open = control_.Receive();
  while (auto line = control_.TakeLine()) {
    const auto message = nlohmann::json::parse(*line, nullptr, false);
    if (message.is_object()) HearChild(message);
  }
  if (!open) CloseControl();
}

void Attempt::HearChild(const nlohmann::json& message) {
  const std::string type = message.value("type", "");
  // Nothing counts after the result, nor what a killed child still says.
  if (result_ || killing_) return;
  if (type == "phase") {
    HearPhase(message);
  } else if (type == "window") {
    if (!observer_.window) return GiveWindow(0);
    waiting_since_ns_ = MonotonicNow().ns;
    // May be called from any thread, and after this attempt's end.
    observer_.window(UseOf(message),
                     [loop = loop_, alive = std::weak_ptr<bool>(alive_), this](int64_t flags) {
                       loop->Post([alive, this, flags] {
                         if (!alive.expired()) GiveWindow(flags);
                       });
                     });
  } else if (type == "off_device") {
    if (observer_.off_device) observer_.off_device();
  } else if (type == "look") {
    Look();
  } else if (type == "window_done") {
    if (observer_.window_done) observer_.window_done();
  } else if (type == "result") {
    auto result = plan::ResultFromRunnerJson(message);
    if (!result.ok()) {
      pump_.Note(absl::StrCat("the runner's result cannot be read: ",
                              std::string(result.status().message())));
      return;  // so its exit is one without a result
    }
    result_ = *std::move(result);
    result_ns_ = MonotonicNow().ns;
    CheckDeadline();
  }
}

// The child waits for the answer, so there always is one.
void Attempt::Look() {
  const auto answer = [this](const WindowState& state) {
    nlohmann::json message = {{"type", "state"}, {"flags", state.flags}};
    if (state.device_clock_mhz) message["device_clock_mhz"] = *state.device_clock_mhz;
    if (state.device_throttle_reasons) {
      message["device_throttle_reasons"] = *state.device_throttle_reasons;
    }
    if (state.device_foreign_processes) {
      message["device_foreign_processes"] = *state.device_foreign_processes;
    }
    Say(message);
  };
  if (!observer_.look) return answer({});
  observer_.look(
      [loop = loop_, alive = std::weak_ptr<bool>(alive_), answer](const WindowState& state) {
        loop->Post([alive, answer, state] {
          if (!alive.expired()) answer(state);
        });
      });
}

void Attempt::GiveWindow(int64_t flags) {
  // What it waited for others counts for no limit and is in no phase.
  if (const int64_t since = std::exchange(waiting_since_ns_, 0); since != 0) {
    frozen_.push_back({since, MonotonicNow().ns});
  }
  nlohmann::json frozen = nlohmann::json::array();
  for (const Span& span : std::exchange(untold_, {})) {
    frozen.push_back(nlohmann::json::array({span.begin_ns, span.end_ns}));
  }
  Say({{"type", "go"}, {"flags", flags}, {"frozen", std::move(frozen)}});
}

void Attempt::HearPhase(const nlohmann::json& message) {
  const std::string name = message.value("phase", "");
  const auto phase = plan::ParsePhase(name);
  if (phase) BeginPhase(*phase, message.value("t_ns", MonotonicNow().ns));
}

void Attempt::BeginPhase(plan::Phase phase, int64_t begin_ns) {
  phases_.push_back({phase, begin_ns});
  ending_.phase = phase;
  if (concluding_) return;
  CheckDeadline();
  if (observer_.phase) observer_.phase(phase);
}

// Kills what is over its time and sets the timer for the next moment when something can be. Frozen
// time counts for nobody.
void Attempt::CheckDeadline() {
  loop_->Cancel(deadline_timer_);
  if (killing_) return;
  const int64_t now = MonotonicNow().ns;
  const auto left_ms = [&](int64_t begin_ns, int64_t limit_ms) {
    return limit_ms - (now - begin_ns - FrozenNs(begin_ns, now)) / kNsPerMs;
  };
  int64_t left = left_ms(started_ns_, spec_.experiment.timeout_ms);
  int64_t limit = spec_.experiment.timeout_ms;
  bool whole = true;
  const auto phase_limit = spec_.phase_limits_ms.find(ending_.phase);
  if (!phases_.empty() && phase_limit != spec_.phase_limits_ms.end()) {
    const int64_t phase_left = left_ms(phases_.back().begin_ns, phase_limit->second);
    if (phase_left < left) {
      left = phase_left;
      limit = phase_limit->second;
      whole = false;
    }
  }
  if (result_) {
    left = left_ms(result_ns_, kExitAfterResultMs);
    limit = kExitAfterResultMs;
  }
  if (left <= 0) {
    ending_.timed_out = true;
    ending_.limit_ms = limit;
    ending_.whole_timeout = whole;
    pump_.Note(absl::StrFormat("time limit of %d ms passed; the process tree is ended", limit));
    Kill(kGraceMs);
    return;
  }
  deadline_timer_ = loop_->After(left, [this] { CheckDeadline(); });
}

void Attempt::Cancel(const std::string& reason) {
  if (killing_) return;
  ending_.cancelled = true;
  ending_.cancel_reason = reason;
  if (!sent_) return Conclude();  // the lane knows nothing of it
  Kill(kGraceMs);
}

void Attempt::Kill(int64_t grace_ms) {
  killing_ = true;
  killed_ns_ = MonotonicNow().ns;
  loop_->Cancel(deadline_timer_);
  // What stands still for another one's window is not thawed for its TERM.
  if (frozen_since_ns_ != 0) grace_ms = 0;
  lane_->Send({{"type", "kill"}, {"attempt", IdText(spec_.id)}, {"grace_ms", grace_ms}});
  kill_timer_ = loop_->After(grace_ms + kLaneAnswerMs, [this] {
    spdlog::error("lane {} did not end attempt {}; it is killed", lane_->pid(), IdText(spec_.id));
    lane_->Destroy();  // its end of file then comes through LaneLost
  });
}

TreeFreezer* Attempt::TreeToFreeze(bool* still) {
  *still = true;
  if (!sent_) {
    held_ = true;  // nothing runs yet, and nothing shall until the thaw
    return nullptr;
  }
  if (frozen_since_ns_ != 0 || !lane_) return nullptr;
  if (killing_) {
    *still = EndNow();
    return nullptr;
  }
  return &lane_->freezer();
}

bool Attempt::Freeze(const std::vector<Attempt*>& attempts) {
  bool all = true;
  std::vector<Attempt*> stopping;
  std::vector<TreeFreezer*> trees;
  for (Attempt* attempt : attempts) {
    bool still = true;
    if (TreeFreezer* tree = attempt->TreeToFreeze(&still)) {
      stopping.push_back(attempt);
      trees.push_back(tree);
    }
    all = all && still;
  }
  // Only now: what is being ended may have taken seconds, and these ran.
  for (Attempt* attempt : stopping) attempt->frozen_since_ns_ = MonotonicNow().ns;
  const std::vector<bool> frozen = TreeFreezer::FreezeAll(trees);
  for (size_t i = 0; i < stopping.size(); ++i) {
    if (frozen[i]) continue;
    stopping[i]->Thaw();
    all = false;
  }
  return all;
}

// Another one's window begins, and its lane would leave it up to its grace: that is over. Stopping
// it would not do, for the lane's TERM comes with a CONT. The stacks of one that hangs are waited
// for. False when somebody is left.
bool Attempt::EndNow() {
  const int64_t waited_ms = (MonotonicNow().ns - killed_ns_) / kNsPerMs;
  return KillTree({.root = lane_->pid(),
                   .grace_ms = ending_.timed_out ? kStacksMs - waited_ms : 0,
                   .give_up_ms = kEndNowMs,
                   .uninterruptible_ms = kEndNowMs,
                   .signal = SendOnlyKill})
      .gone;
}

void Attempt::Thaw() {
  if (std::exchange(held_, false)) return Launch();
  if (frozen_since_ns_ == 0 || !lane_) return;
  lane_->freezer().Thaw();
  const Span span = {std::exchange(frozen_since_ns_, 0), MonotonicNow().ns};
  frozen_.push_back(span);
  untold_.push_back(span);
  CheckDeadline();
}

void Attempt::Exited(const nlohmann::json& message) {
  ending_.exit = {message.value("code", 0), message.value("signal", 0)};
  if (ending_.exit.signal != 0) ending_.exit.code = -1;
  ending_.descendants_killed = message.value("descendants_killed", 0);
  ending_.max_rss_bytes = message.value("max_rss_bytes", int64_t{0});
  for (const auto& left : message.value("left", nlohmann::json::array())) {
    StuckProcess stuck;
    stuck.process.pid = left.value("pid", 0);
    stuck.process.start_ticks = left.value("start_ticks", uint64_t{0});
    stuck.command = CommandOf(stuck.process.pid);
    ending_.stuck.push_back(std::move(stuck));
  }
  // What it said before it ended: up to the end of file, since the tree is gone.
  for (int i = 0; i < kMostLastReads && control_.open(); ++i) ReadControl();
  Conclude();
}

void Attempt::LaneLost() {
  // We are in its own call, so it goes later. Its descendants are now below the worker (a
  // subreaper); the engine sweeps them.
  loop_->Post([lane = std::shared_ptr<Lane>(std::move(lane_))] {});
  if (ending_.timed_out || ending_.cancelled) {
    ending_.exit = {-1, 9};
    return Conclude();
  }
  spawn_error_ = "its lane ended unexpectedly";
  Conclude();
}

void Attempt::Conclude() {
  concluding_ = true;
  loop_->Cancel(deadline_timer_);
  loop_->Cancel(kill_timer_);
  CloseControl();
  pump_.Finish();
  if (lane_) lane_->Listen(nullptr, nullptr);
  // It ended while it stood still, or just before: whoever has the lane next must not.
  if (lane_ && frozen_since_ns_ != 0) lane_->freezer().Thaw();
  const AttemptObserver observer = std::move(observer_);
  const Ended ended = std::move(ended_);
  std::unique_ptr<Lane> lane = std::move(lane_);
  if (!ending_.stuck.empty()) {
    // Whatever this lane would run next had them below it. We may be in its own call.
    loop_->Post([unusable = std::shared_ptr<Lane>(std::move(lane))] {});
    if (observer.stuck) observer.stuck(ending_.stuck);
  }
  const std::string log = pump_.capture().Text();
  if (!result_ && !spawn_error_.empty()) {
    const std::string reason = spawn_error_;
    ended(std::move(lane));  // may destroy this
    if (observer.returned) observer.returned(reason);
    return;
  }
  if (!result_ && ending_.timed_out && !ending_.whole_timeout && observer.phase_limit) {
    const auto origin = spec_.phase_limit_origins.find(ending_.phase);
    const std::string reason =
        PhaseLimitText(ending_, origin == spec_.phase_limit_origins.end() ? "" : origin->second,
                       spec_.experiment.timeout_ms);
    ended(std::move(lane));  // may destroy this
    observer.phase_limit(reason, log);
    return;
  }
  plan::Result result = MakeResult(ending_, std::move(result_), log);
  TakeOutFrozenSpans(&result);
  MakeValidUtf8(&result);
  ended(std::move(lane));
  if (observer.finished) observer.finished(std::move(result), log);
}

plan::Result Attempt::MakeResult(const Ending& ending, std::optional<plan::Result> reported,
                                 const std::string& log) {
  if (!reported || ending.cancelled) return ResultWithoutReport(ending, log);
  AddEnding(ending, &*reported);
  return *std::move(reported);
}

int64_t Attempt::FrozenNs(int64_t begin_ns, int64_t end_ns) const {
  std::vector<Span> spans = frozen_;
  if (frozen_since_ns_ != 0) spans.push_back({frozen_since_ns_, end_ns});
  if (waiting_since_ns_ != 0) spans.push_back({waiting_since_ns_, end_ns});
  // Who waits for a window may be frozen for another one's: what overlaps counts once.
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  int64_t sum = 0, counted_to_ns = begin_ns;
  for (const Span& span : spans) {
    const int64_t from_ns = std::max(span.begin_ns, counted_to_ns);
    const int64_t to_ns = std::min(span.end_ns, end_ns);
    if (to_ns <= from_ns) continue;
    sum += to_ns - from_ns;
    counted_to_ns = to_ns;
  }
  return sum;
}

void Attempt::TakeOutFrozenSpans(plan::Result* result) const {
  const int64_t end_ns = result_ns_ != 0 ? result_ns_ : MonotonicNow().ns;
  // Without a report there are no spans from the child: the phase messages give them.
  if (result->phases.empty()) {
    for (size_t i = 0; i < phases_.size(); ++i) {
      const int64_t next = i + 1 < phases_.size() ? phases_[i + 1].begin_ns : end_ns;
      result->phases.push_back({phases_[i].phase, next - phases_[i].begin_ns, 0});
    }
  }
  int64_t compile_frozen_ns = 0;
  for (size_t i = 0; i < phases_.size(); ++i) {
    const int64_t next = i + 1 < phases_.size() ? phases_[i + 1].begin_ns : end_ns;
    const int64_t frozen_ns = FrozenNs(phases_[i].begin_ns, next);
    if (frozen_ns == 0) continue;
    if (phases_[i].phase == plan::Phase::kCompile) compile_frozen_ns += frozen_ns;
    for (plan::PhaseSpan& span : result->phases) {
      if (span.phase != phases_[i].phase) continue;
      span.frozen_ns += frozen_ns;
      span.duration_ns = std::max<int64_t>(0, span.duration_ns - frozen_ns);
      break;
    }
  }
  // What came before the child's first word is preparation as well.
  const int64_t first_ns = phases_.empty() ? end_ns : phases_[0].begin_ns;
  const int64_t before_ns = std::max<int64_t>(0, first_ns - asked_ns_);
  if (result->phases.empty() || result->phases[0].phase != plan::Phase::kPrepare) {
    result->phases.insert(result->phases.begin(), {plan::Phase::kPrepare, 0, 0});
  }
  result->phases[0].duration_ns += before_ns;
  if (compile_frozen_ns > 0) {
    // The child takes the spans out of what it timed itself; dynamo's own clock ran on.
    const bool inside = spec_.experiment.test == plan::Test::kAccuracy;
    result->notes.push_back(absl::StrFormat(
        "stood still for others for %.3f s while compiling; %s", compile_frozen_ns / 1e9,
        inside ? "the compile time contains it" : "taken out of the compile times"));
  }
}

void Attempt::CloseControl() {
  loop_->Cancel(send_timer_);
  if (!control_.open()) return;
  loop_->Unwatch(control_.fd());
  control_.Close();
}

}  // namespace dynbench::worker
