#include "common/plan/experiment_reader.h"

#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/plan/experiment_fields.h"
#include "common/plan/json_fields.h"
#include "common/plan/series_key.h"

namespace dynbench::plan {
namespace {

using internal::Json;

// `"key":value` of an object's text.
struct Member {
  std::string_view key, whole;
};

// The end of the value that begins at `at`: the first comma or closing brace at its own depth.
// npos: there is none.
size_t EndOfValue(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) {
          if (text[at] == '\\') ++at;
        }
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case ']':
        --depth;
        break;
      case '}':
        if (depth-- == 0) return at;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default:
        break;
    }
  }
  return std::string_view::npos;
}

// Cuts the text of an object into its members, as nlohmann-json writes it: sorted, each key once,
// without blanks. Members that stand in `before` at the same place are taken from there. False: it
// is not of this kind.
bool Cut(std::string_view text, const std::vector<Member>& before, std::vector<Member>* members) {
  members->clear();
  if (text.size() < 2 || text.front() != '{') return false;
  size_t at = 1;
  while (true) {
    const size_t i = members->size();
    std::string_view whole, key;
    if (i < before.size() && text.compare(at, before[i].whole.size(), before[i].whole) == 0) {
      const size_t end = at + before[i].whole.size();
      if (end < text.size() && (text[end] == ',' || text[end] == '}')) {
        whole = text.substr(at, before[i].whole.size());
        key = whole.substr(1, before[i].key.size());
      }
    }
    if (whole.empty()) {
      if (text[at] != '"') return false;
      const size_t quote = text.find_first_of("\"\\", at + 1);
      if (quote == std::string_view::npos || text[quote] != '"') return false;
      if (quote + 1 >= text.size() || text[quote + 1] != ':') return false;
      const size_t end = EndOfValue(text, quote + 2);
      if (end == std::string_view::npos) return false;
      key = text.substr(at + 1, quote - at - 1);
      whole = text.substr(at, end - at);
    }
    if (!members->empty() && members->back().key >= key) return false;
    members->push_back({key, whole});
    at += whole.size();
    if (text[at] == '}') return at + 1 == text.size();
    ++at;
    if (at >= text.size()) return false;
  }
}

// Of these ToPublicJson shows only `model` and `batch_size`.
bool IsShownSimply(std::string_view key) {
  return key == "model" || key == "source" || key == "batch_size";
}

}  // namespace

struct ExperimentReader::State {
  std::string text;
  std::vector<Member> members, cut;  // of `text`; empty: the next one is read as a whole
  Experiment experiment;
  std::set<std::string, std::less<>> changed_series, changed_public;  // since they were made
  Json series, shown;                                                 // null: to be made anew
  std::string shown_text;

  // Takes over the fields that differ. False: let the whole be read.
  bool ReadChanged(std::string_view next, std::vector<size_t>* changed);
  void Remember(std::string_view next, bool is_cut);
};

ExperimentReader::ExperimentReader() : state_(std::make_unique<State>()) {}
ExperimentReader::~ExperimentReader() = default;

bool ExperimentReader::State::ReadChanged(std::string_view next, std::vector<size_t>* changed) {
  if (members.empty() || !Cut(next, members, &cut) || cut.size() != members.size()) return false;
  std::string partly = "{";
  for (size_t i = 0; i < cut.size(); ++i) {
    if (cut[i].key != members[i].key) return false;
    if (cut[i].whole == members[i].whole) continue;
    if (partly.size() > 1) partly += ',';
    partly += cut[i].whole;
    changed->push_back(i);
  }
  if (changed->empty()) return true;
  Json json;
  if (!internal::ParseJson(partly + "}", "experiment", &json).ok()) return false;
  Experiment copy = experiment;
  bool ok = true;
  VisitFields(copy, [&](const char* name, auto& field) {
    const auto it = json.find(name);
    if (it == json.end()) return;
    std::remove_reference_t<decltype(field)> value{};  // what the text lacks has its default
    ok = ok && internal::Read(*it, &value);
    field = std::move(value);
  });
  if (ok) experiment = std::move(copy);
  return ok;
}

void ExperimentReader::State::Remember(std::string_view next, bool is_cut) {
  if (!is_cut && !Cut(next, {}, &cut)) cut.clear();
  text = std::string(next);
  members.swap(cut);
  for (Member& member : members) {
    for (std::string_view* part : {&member.key, &member.whole}) {
      *part = std::string_view(text).substr(static_cast<size_t>(part->data() - next.data()),
                                            part->size());
    }
  }
}

absl::StatusOr<Experiment> ExperimentReader::Read(std::string_view text) {
  State& s = *state_;
  std::vector<size_t> changed;
  if (s.ReadChanged(text, &changed)) {
    if (changed.empty()) return s.experiment;
    for (const size_t i : changed) {
      s.changed_series.emplace(s.cut[i].key);
      s.changed_public.emplace(s.cut[i].key);
    }
    s.Remember(text, /*is_cut=*/true);
    return s.experiment;
  }
  s.members.clear();
  s.series = s.shown = Json();
  ASSIGN_OR_RETURN(s.experiment, ExperimentFromJson(text));
  s.Remember(text, /*is_cut=*/false);
  return s.experiment;
}

std::string ExperimentReader::SeriesKey() {
  State& s = *state_;
  // The engine decides what else is in the key.
  if (s.series.is_null() || s.changed_series.count("engine") > 0) {
    s.series = internal::SeriesJson(s.experiment);
  } else {
    VisitFields(s.experiment, [&](const char* name, const auto& field) {
      if (s.changed_series.count(name) > 0) {
        internal::SetInSeries(name, internal::Write(field), s.experiment, &s.series);
      }
    });
  }
  s.changed_series.clear();
  return internal::KeyOfSeries(s.series);
}

const std::string& ExperimentReader::PublicJsonText() {
  State& s = *state_;
  bool simply = !s.shown.is_null();
  for (const std::string& key : s.changed_public) simply = simply && IsShownSimply(key);
  if (!simply) {
    s.shown = ToPublicJson(s.experiment);
  } else if (!s.changed_public.empty()) {
    s.shown["model"] = s.experiment.model;
    s.shown["batch_size"] = s.experiment.batch_size;
  }
  if (!simply || !s.changed_public.empty()) {
    s.shown_text = s.shown.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  s.changed_public.clear();
  return s.shown_text;
}

}  // namespace dynbench::plan
