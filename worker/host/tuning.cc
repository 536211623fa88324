#include "worker/host/tuning.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

using nlohmann::json;

constexpr char kSchema[] = "dynbench.tuning/1";
constexpr int kMhzMost = 100'000;

struct KnownKnob {
  const char* name;
  std::vector<std::string> values;  // empty: see IsValue
  const char* says;
};

const std::vector<KnownKnob>& Known() {
  static const auto* const known = new std::vector<KnownKnob>{
      {"governor", {}, "the name of a governor, such as performance"},
      {"turbo", {"off", "on"}, "off or on"},
      {"numa-balancing", {"off", "on"}, "off or on"},
      {"huge-pages", {"always", "madvise", "never"}, "always, madvise or never"},
      {"gpu-clocks", {}, "MHz such as 1410, a range such as 1200-1410, or max"}};
  return *known;
}

bool IsGovernor(const std::string& value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  });
}

bool IsClocks(const std::string& value) {
  if (value == "max") return true;
  const std::vector<std::string> ends = absl::StrSplit(value, '-');
  int low = 0, high = 0;
  return ends.size() <= 2 && absl::SimpleAtoi(ends.front(), &low) &&
         absl::SimpleAtoi(ends.back(), &high) && low > 0 && low <= high && high <= kMhzMost;
}

bool IsValue(const KnownKnob& knob, const std::string& value) {
  if (!knob.values.empty()) {
    return std::find(knob.values.begin(), knob.values.end(), value) != knob.values.end();
  }
  return knob.name == std::string_view("governor") ? IsGovernor(value) : IsClocks(value);
}

absl::StatusOr<TuneWish> ParseOne(const std::string& word) {
  const std::vector<std::string> sides = absl::StrSplit(word, absl::MaxSplits('=', 1));
  if (sides.size() == 2) {
    for (const KnownKnob& knob : Known()) {
      if (sides[0] != knob.name) continue;
      if (IsValue(knob, sides[1])) return TuneWish{sides[0], sides[1]};
      return absl::InvalidArgumentError(
          absl::StrCat("--tune ", word, ": ", knob.name, " wants ", knob.says));
    }
  }
  const std::string names = absl::StrJoin(
      Known(), ", ", [](std::string* out, const KnownKnob& knob) { out->append(knob.name); });
  return absl::InvalidArgumentError(
      absl::StrCat("--tune '", word, "' is no KEY=VALUE with one of the keys ", names,
                   "; write for example governor=performance,turbo=off"));
}

}  // namespace

absl::StatusOr<std::vector<TuneWish>> ParseTuning(const std::string& text) {
  std::vector<TuneWish> wishes;
  std::set<std::string> seen;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ','))) {
    ASSIGN_OR_RETURN(TuneWish wish, ParseOne(std::string(absl::StripAsciiWhitespace(word))));
    if (!seen.insert(wish.knob).second) {
      return absl::InvalidArgumentError(absl::StrCat("--tune: ", wish.knob, " is given twice"));
    }
    wishes.push_back(std::move(wish));
  }
  return wishes;
}

std::string ToText(const std::vector<TuneWish>& wishes) {
  std::vector<std::string> words;
  for (const TuneWish& wish : wishes) words.push_back(absl::StrCat(wish.knob, "=", wish.value));
  std::sort(words.begin(), words.end());
  return absl::StrJoin(words, ",");
}

Tuning::Tuning(Knobs* knobs, std::string journal, std::string boot)
    : knobs_(knobs), journal_(std::move(journal)), boot_(std::move(boot)) {}

Tuning::~Tuning() {
  const absl::Status undone = Undo();
  if (!undone.ok()) {
    spdlog::error("tuning: {}; the next start of this worker tries again",
                  std::string(undone.message()));
  }
}

bool Tuning::LeftSomething(const std::string& journal) {
  return access(journal.c_str(), F_OK) == 0;
}

absl::StatusOr<std::vector<Tuning::Change>> Tuning::ReadJournal() const {
  const auto text = ReadWholeFile(journal_);
  if (absl::IsNotFound(text.status())) return std::vector<Change>();
  if (!text.ok()) return text.status();
  const json whole = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto damaged = [&] {
    return absl::FailedPreconditionError(
        absl::StrCat(journal_,
                     " is not what a worker wrote; look at the host's settings, set them "
                     "by hand and remove the file"));
  };
  if (!whole.is_object() || whole.value("schema", "") != kSchema || !whole.contains("changes") ||
      !whole["changes"].is_array()) {
    return damaged();
  }
  std::vector<Change> changes;
  // The host has booted since: nothing of it is in force.
  if (whole.value("boot", "") != boot_) return changes;
  for (const json& change : whole["changes"]) {
    if (!change.is_object()) return damaged();
    changes.push_back(
        {change.value("place", ""), change.value("before", ""), change.value("set", "")});
  }
  return changes;
}

absl::Status Tuning::WriteJournal(const std::vector<Change>& changes) const {
  if (changes.empty()) return RemoveFileDurably(journal_);
  json list = json::array();
  for (const Change& change : changes) {
    list.push_back({{"place", change.place}, {"before", change.before}, {"set", change.set}});
  }
  const json whole = {{"schema", kSchema}, {"boot", boot_}, {"changes", std::move(list)}};
  return WriteFileDurably(journal_, whole.dump() + "\n");
}

absl::StatusOr<std::vector<Tuning::Change>> Tuning::Needed(const std::vector<TuneWish>& wishes) {
  std::vector<Change> needed;
  for (const TuneWish& wish : wishes) {
    ASSIGN_OR_RETURN(const std::vector<std::string> places, knobs_->Places(wish.knob));
    for (const std::string& place : places) {
      ASSIGN_OR_RETURN(const std::optional<std::string> now, knobs_->Read(place));
      if (now != wish.value) needed.push_back({place, now.value_or(kUnlocked), wish.value});
    }
  }
  return needed;
}

absl::Status Tuning::Apply(const std::vector<TuneWish>& wishes) {
  ASSIGN_OR_RETURN(const std::vector<Change> needed, Needed(wishes));
  if (needed.empty()) return absl::OkStatus();
  // Before the first change: whenever this process dies, what it may have changed is on disk.
  RETURN_IF_ERROR(WriteJournal(needed));
  for (const Change& change : needed) {
    absl::Status status = knobs_->Write(change.place, change.set);
    if (status.ok()) {
      const auto now = knobs_->Read(change.place);
      status = now.status();
      if (now.ok() && *now && **now != change.set) {
        status = absl::FailedPreconditionError(
            absl::StrCat(change.place, " took '", change.set, "' and is '", **now, "'"));
      }
    }
    if (status.ok()) {
      spdlog::info("tuning: {} is {} until this worker ends (was {})", change.place, change.set,
                   change.before);
      continue;
    }
    const absl::Status undone = Undo();
    return Annotate(undone.ok() ? status
                                : absl::Status(status.code(),
                                               absl::StrCat(std::string(status.message()),
                                                            "; and what was changed before could "
                                                            "not be undone: ",
                                                            std::string(undone.message()))),
                    "--tune");
  }
  return absl::OkStatus();
}

absl::Status Tuning::UndoOne(const Change& change) {
  ASSIGN_OR_RETURN(const std::optional<std::string> now, knobs_->Read(change.place));
  if (now == change.before) return absl::OkStatus();
  if (now && now != change.set) {
    spdlog::warn("tuning: {} is {}, which this worker did not set; it is left", change.place, *now);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(knobs_->Write(change.place, change.before));
  spdlog::info("tuning: {} is {} again", change.place, change.before);
  return absl::OkStatus();
}

absl::Status Tuning::Undo() {
  if (!LeftSomething(journal_)) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<Change> changes, ReadJournal());
  absl::Status first;
  std::vector<Change> left;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const absl::Status undone = UndoOne(*change);
    if (undone.ok()) continue;
    first.Update(undone);
    left.insert(left.begin(), *change);
  }
  const absl::Status written = WriteJournal(left);
  first.Update(written);
  return first;
}

std::string BootId(const std::string& root) {
  std::ifstream in(root + "/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(in, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

}  // namespace dynbench::worker
