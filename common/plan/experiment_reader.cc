#include "common/plan/experiment_reader.h"

#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/plan/experiment_fields.h"
#include "common/plan/json_fields.h"
#include "common/plan/plan_text.h"

namespace dynbench::plan {
namespace {

using internal::Json;

// Of these ToPublicJson shows only `model` and `batch_size`.
bool IsShownSimply(std::string_view key) {
  return key == "model" || key == "source" || key == "batch_size";
}

// The text between the quotes of a JSON string without escapes; none: it is something else.
std::optional<std::string_view> PlainString(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return std::nullopt;
  const std::string_view inner = json.substr(1, json.size() - 2);
  for (const char c : inner) {
    if (c < ' ' || c >= 0x7f || c == '"' || c == '\\') return std::nullopt;
  }
  return inner;
}

template <typename T>
bool ReadValue(std::string_view text, T* out);

// An object member by member. False: let the parser of JSON say what it is.
template <typename S>
bool ReadMembers(std::string_view text, S* out) {
  const auto members = CutMembers(text);
  if (!members) return false;
  S value{};  // what the text lacks has its default
  for (const PlanMember& member : *members) {
    bool ok = false;
    VisitFields(value, [&](std::string_view name, auto& field) {
      if (name == member.key(text)) ok = ReadValue(member.value(text), &field);
    });
    if (!ok) return false;
  }
  *out = std::move(value);
  return true;
}

template <typename T>
bool ReadValue(std::string_view text, T* out) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (const auto plain = PlainString(text)) {
      out->assign(*plain);
      return true;
    }
  } else if constexpr (std::is_same_v<T, ModelSource>) {
    if (ReadMembers(text, out)) return true;
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    if (text == "{}") {
      out->clear();
      return true;
    }
  }
  Json json;
  if (!internal::ParseJson(text, "value", &json).ok()) return false;
  T value{};  // what the text lacks has its default
  if (!internal::Read(json, &value)) return false;
  *out = std::move(value);
  return true;
}

bool ReadMember(std::string_view key, std::string_view value, Experiment* experiment) {
  bool ok = false;
  VisitFields(*experiment, [&](std::string_view name, auto& field) {
    if (name == key) ok = ReadValue(value, &field);
  });
  return ok;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

struct ExperimentReader::State {
  PlanText plan;
  bool read = false;  // `experiment` is what was read last
  Experiment experiment;
  std::set<std::string, std::less<>> changed;  // since the public text was made
  // The public text is shown[0] batch_size shown[1] model shown[2]; empty: to be made anew.
  std::string shown[3];

  // Takes over the fields that differ. False: let the whole be read.
  bool ReadChanged();
  void CutPublic();
};

ExperimentReader::ExperimentReader() : state_(std::make_unique<State>()) {}
ExperimentReader::~ExperimentReader() = default;

bool ExperimentReader::State::ReadChanged() {
  if (!read) return false;
  for (const size_t index : plan.changed()) {
    const PlanMember& member = plan.member(index);
    const std::string_view key = member.key(plan.text());
    changed.emplace(key);
    if (!ReadMember(key, member.value(plan.text()), &experiment)) return false;
  }
  return true;
}

absl::Status ExperimentReader::Read(std::string_view text) {
  State& s = *state_;
  if (s.plan.Next(text) && s.ReadChanged()) return absl::OkStatus();
  s.shown[0].clear();
  absl::StatusOr<Experiment> whole = ExperimentFromJson(text);
  s.read = whole.ok();
  if (!s.read) {
    s.plan.Forget();
    return whole.status();
  }
  s.experiment = *std::move(whole);
  return absl::OkStatus();
}

absl::Status ExperimentReader::ReadChanges(std::string_view changes) {
  State& s = *state_;
  if (!s.read) {
    return absl::FailedPreconditionError("changes of an experiment without one before them");
  }
  s.plan.Forget();
  if (changes == "{}") return absl::OkStatus();
  const auto members = CutMembers(changes);
  if (!members) return absl::InvalidArgumentError("changes of an experiment are no JSON object");
  for (const PlanMember& member : *members) {
    const std::string_view key = member.key(changes);
    s.changed.emplace(key);
    if (ReadMember(key, member.value(changes), &s.experiment)) continue;
    s.read = false;
    return absl::InvalidArgumentError(
        absl::StrCat("changes of an experiment: \"", std::string(key),
                     "\" is unknown or has a wrong value: ", std::string(member.value(changes))));
  }
  return absl::OkStatus();
}

const Experiment& ExperimentReader::experiment() const { return state_->experiment; }

void ExperimentReader::State::CutPublic() {
  const std::string text = Dump(ToPublicJson(experiment));
  // Its keys are sorted, so the two are in this order; a model's text is not looked for.
  PlanMember batch_size, model;
  for (const PlanMember& member : CutMembers(text).value_or(std::vector<PlanMember>())) {
    if (member.key(text) == "batch_size") batch_size = member;
    if (member.key(text) == "model") model = member;
  }
  const size_t number = batch_size.begin + batch_size.key_size + 3;
  const size_t name = model.begin + model.key_size + 3;
  shown[0] = text.substr(0, number);
  shown[1] = text.substr(batch_size.end, name - batch_size.end);
  shown[2] = text.substr(model.end);
}

std::string ExperimentReader::PublicJsonText() {
  State& s = *state_;
  bool simply = !s.shown[0].empty();
  for (const std::string& key : s.changed) simply = simply && IsShownSimply(key);
  if (!simply) s.CutPublic();
  s.changed.clear();
  return absl::StrCat(s.shown[0], s.experiment.batch_size, s.shown[1], Dump(s.experiment.model),
                      s.shown[2]);
}

}  // namespace dynbench::plan
