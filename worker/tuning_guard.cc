#include "worker/tuning_guard.h"

#include <utility>

#include "common/base/status.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

// Of a host: two workers that tune would undo each other's settings.
constexpr char kClaim[] = "tune";

}  // namespace

absl::StatusOr<std::unique_ptr<TuningGuard>> TuningGuard::Make(const TuningRequest& request,
                                                               Claims* claims) {
  std::unique_ptr<TuningGuard> guard(new TuningGuard());
  std::vector<TuneWish> wishes;
  if (!request.text.empty()) {
    ASSIGN_OR_RETURN(wishes, ParseTuning(request.text));
  }
  const std::string journal = request.state_dir + "/tuning.json";
  if (wishes.empty() && !Tuning::LeftSomething(journal)) return guard;
  const absl::Status claimed = claims->Claim(kClaim);
  if (!claimed.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        wishes.empty() ? "what a killed worker changed on this host cannot be put back now: "
                       : "--tune: one worker of a host tunes it: ",
        std::string(claimed.message()), wishes.empty() ? "; stop that worker first" : ""));
  }
  RETURN_IF_ERROR(MakePrivateFolder(request.state_dir));
  guard->clocks_ = MakeNvmlClocks();
  guard->knobs_ =
      std::make_unique<HostKnobs>(request.root, request.cpus, request.gpus, guard->clocks_.get());
  guard->tuning_ = std::make_unique<Tuning>(guard->knobs_.get(), journal, BootId(request.root));
  RETURN_IF_ERROR(Annotate(guard->tuning_->Undo(), "what a killed worker changed on this host"));
  RETURN_IF_ERROR(guard->tuning_->Apply(wishes));
  guard->text_ = ToText(wishes);
  guard->wishes_ = std::move(wishes);
  return guard;
}

}  // namespace dynbench::worker
