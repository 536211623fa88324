// Host tuning as guards (--tune): what is changed is written down before it is changed, and put
// back at the worker's end, or at its next start when it was killed.
//
// Thread-compatible. One worker of a host may tune it at a time: the caller holds the claim "tune".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/host/knobs.h"

namespace dynbench::worker {

// One KEY=VALUE of --tune.
struct TuneWish {
  std::string knob;
  std::string value;

  bool operator==(const TuneWish&) const = default;
};

// "governor=performance,turbo=off,gpu-clocks=1410". InvalidArgument names the word that is wrong
// and what may stand there.
absl::StatusOr<std::vector<TuneWish>> ParseTuning(const std::string& text);

// As ParseTuning reads it, sorted.
std::string ToText(const std::vector<TuneWish>& wishes);

class Tuning {
 public:
  // `journal`: a file of the state folder. `boot`: which boot this is; what another one changed is
  // gone with it. `knobs` outlives this.
  Tuning(Knobs* knobs, std::string journal, std::string boot);
  // Undoes what is in force; what cannot be is logged and stays in the journal.
  ~Tuning();
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  // Whether a former process left something to undo.
  static bool LeftSomething(const std::string& journal);

  // All of it or, with the error, none. What has the wanted value already is not touched, now or
  // at the end.
  absl::Status Apply(const std::vector<TuneWish>& wishes);

  // Puts everything in the journal back, what a former process left as well; a place that has been
  // changed since by somebody else is left alone. Twice is the same as once. What failed stays in
  // the journal, and the first error is returned.
  absl::Status Undo();

 private:
  struct Change {
    std::string place, before, set;
  };
  absl::StatusOr<std::vector<Change>> ReadJournal() const;
  absl::Status WriteJournal(const std::vector<Change>& changes) const;
  absl::Status UndoOne(const Change& change);
  absl::StatusOr<std::vector<Change>> Needed(const std::vector<TuneWish>& wishes);

  Knobs* const knobs_;
  const std::string journal_;
  const std::string boot_;
};

// Of this boot of the host; empty where the kernel does not say. `root` as in HostKnobs.
std::string BootId(const std::string& root);

}  // namespace dynbench::worker
