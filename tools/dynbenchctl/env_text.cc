#include "tools/dynbenchctl/env_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/dynbenchctl/table.h"

namespace dynbench::cli {
namespace {

std::string Size(int64_t bytes) {
  if (bytes == 0) return "";
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// "2 ready, 1 unfit"
std::string Where(const v1::FleetEnvironment& environment) {
  std::map<std::string, int> counts;
  for (const v1::EnvironmentPlace& place : environment.places()) ++counts[place.state()];
  std::string text;
  for (const auto& [state, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", state);
  }
  return text;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string FleetEnvironmentsText(const std::vector<v1::FleetEnvironment>& environments,
                                  const formats::TableStyle& style) {
  if (environments.empty()) return "";
  formats::TextTable table({{"made for the fleet"},
                            {"id"},
                            {"kind"},
                            {"state"},
                            {"torch"},
                            {"hash"},
                            {"size"},
                            {"workers"},
                            {"note"}});
  for (const v1::FleetEnvironment& e : environments) {
    std::string note = FirstLine(e.reason());
    for (const v1::EnvironmentPlace& place : e.places()) {
      const bool bad = place.state() == "unfit" || place.state() == "failed" ||
                       place.state() == "lacking" || place.state() == "changed";
      if (note.empty() && bad) {
        note = absl::StrCat(place.host(), ": ", FirstLine(place.reason()));
      }
    }
    AddTextRow(table, {e.name(), e.id().substr(0, 12), e.kind(), e.state(), e.torch_version(),
                       e.hash().substr(0, 12), Size(e.size_bytes()), Where(e), note});
  }
  return table.Render(style);
}

std::string FleetEnvironmentText(const v1::FleetEnvironment& e) {
  std::string text =
      absl::StrCat(e.name(), "  ", e.kind(), "  ", e.state(), "\n  id:     ", e.id(), "\n");
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&text, "  ", what, value, "\n");
  };
  line("hash:   ", e.hash());
  line("torch:  ", e.torch_version());
  if (e.files() > 0)
    line("size:   ", absl::StrCat(Size(e.size_bytes()), " in ", e.files(), " files"));
  line("made by ", e.builder());
  line("note:   ", e.reason());
  const Json origin = Json::parse(e.origin_json(), nullptr, /*allow_exceptions=*/false);
  if (origin.is_object()) {
    for (const auto& [key, value] : origin.items()) {
      if (key == "schema" || value.is_null() || value.empty()) continue;
      line(absl::StrCat(key, ": ").c_str(),
           value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  for (const v1::EnvironmentPlace& place : e.places()) {
    absl::StrAppend(&text, "  on ", place.host(), " (", place.worker(), "): ", place.state(),
                    place.reason().empty() ? "" : ": ", place.reason(), "\n");
  }
  return text;
}

Json FleetEnvironmentJson(const v1::FleetEnvironment& e) {
  Json places = Json::array();
  for (const v1::EnvironmentPlace& place : e.places()) {
    places.push_back({{"worker", place.worker()},
                      {"host", place.host()},
                      {"state", place.state()},
                      {"reason", place.reason()}});
  }
  return {{"id", e.id()},
          {"name", e.name()},
          {"kind", e.kind()},
          {"state", e.state()},
          {"reason", e.reason()},
          {"builder", e.builder()},
          {"origin", Json::parse(e.origin_json(), nullptr, /*allow_exceptions=*/false)},
          {"hash", e.hash()},
          {"torch_version", e.torch_version()},
          {"files", e.files()},
          {"size_bytes", e.size_bytes()},
          {"created_unix_ms", e.created_unix_ms()},
          {"finished_unix_ms", e.finished_unix_ms()},
          {"workers", places}};
}

Json FleetEnvironmentsJson(const std::vector<v1::FleetEnvironment>& environments) {
  Json list = Json::array();
  for (const v1::FleetEnvironment& e : environments) list.push_back(FleetEnvironmentJson(e));
  return list;
}

bool IsSettled(const v1::FleetEnvironment& environment) {
  if (environment.state() == "making") return false;
  return std::none_of(environment.places().begin(), environment.places().end(),
                      [](const v1::EnvironmentPlace& place) {
                        return place.state() == "waiting" || place.state() == "making" ||
                               place.state() == "fetching";
                      });
}

}  // namespace dynbench::cli
