// Reading and writing plain structs as JSON objects through one list of fields per struct. Private
// to common/plan: a struct's source has a function VisitFields(struct, visitor) that names every
// field once, and both directions follow it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/plan/words.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan::internal {

using Json = nlohmann::json;

// The parser of each enumerated word, found by its type.
inline std::optional<Mode> ParseWord(std::string_view t, Mode*) { return ParseMode(t); }
inline std::optional<Test> ParseWord(std::string_view t, Test*) { return ParseTest(t); }
inline std::optional<Precision> ParseWord(std::string_view t, Precision*) {
  return ParsePrecision(t);
}
inline std::optional<Start> ParseWord(std::string_view t, Start*) { return ParseStart(t); }
inline std::optional<Weights> ParseWord(std::string_view t, Weights*) { return ParseWeights(t); }
inline std::optional<Outcome> ParseWord(std::string_view t, Outcome*) { return ParseOutcome(t); }
inline std::optional<Blame> ParseWord(std::string_view t, Blame*) { return ParseBlame(t); }
inline std::optional<Phase> ParseWord(std::string_view t, Phase*) { return ParsePhase(t); }
inline std::optional<PartitionPolicy> ParseWord(std::string_view t, PartitionPolicy*) {
  return ParsePartitionPolicy(t);
}

template <typename T>
Json Write(const T& value);
template <typename T>
bool Read(const Json& json, T* value);  // false: wrong type or unknown word

// Whether an integer keeps its value in T; nlohmann-json would wrap it around silently.
template <typename T>
bool Fits(const Json& json) {
  if (json.is_number_unsigned()) return std::in_range<T>(json.get<uint64_t>());
  return std::in_range<T>(json.get<int64_t>());
}

template <typename T>
struct Codec {  // numbers, strings, bools
  static Json Write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return std::string(ToString(value));
    } else {
      return value;
    }
  }
  static bool Read(const Json& json, T* value) {
    if constexpr (std::is_enum_v<T>) {
      if (!json.is_string()) return false;
      const auto word = ParseWord(json.template get_ref<const std::string&>(), value);
      if (word) *value = *word;
      return word.has_value();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return false;
    } else if constexpr (std::is_integral_v<T>) {
      if (!json.is_number_integer() || !Fits<T>(json)) return false;
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) return false;
    } else {
      if (!json.is_string()) return false;
    }
    if constexpr (!std::is_enum_v<T>) *value = json.template get<T>();
    return true;
  }
};
template <typename T>
struct Codec<std::optional<T>> {
  static Json Write(const std::optional<T>& value) {
    return value ? internal::Write(*value) : Json(nullptr);
  }
  static bool Read(const Json& json, std::optional<T>* value) {
    if (json.is_null()) {
      value->reset();
      return true;
    }
    return internal::Read(json, &value->emplace());
  }
};
template <typename T>
struct Codec<std::vector<T>> {
  static Json Write(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(internal::Write(value));
    return array;
  }
  static bool Read(const Json& json, std::vector<T>* values) {
    if (!json.is_array()) return false;
    values->clear();
    for (const Json& item : json) {
      T value{};
      if (!internal::Read(item, &value)) return false;
      values->push_back(std::move(value));
    }
    return true;
  }
};
template <>
struct Codec<std::set<std::string>> {
  static Json Write(const std::set<std::string>& values) { return values; }
  static bool Read(const Json& json, std::set<std::string>* values) {
    std::vector<std::string> list;
    if (!internal::Read(json, &list)) return false;
    *values = std::set<std::string>(list.begin(), list.end());
    return true;
  }
};
template <typename T>
struct Codec<std::map<std::string, T>> {
  static Json Write(const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = internal::Write(value);
    return object;
  }
  static bool Read(const Json& json, std::map<std::string, T>* values) {
    if (!json.is_object()) return false;
    values->clear();
    for (const auto& [key, item] : json.items()) {
      if (!internal::Read(item, &(*values)[key])) return false;
    }
    return true;
  }
};

template <typename T>
Json Write(const T& value) {
  return Codec<T>::Write(value);
}
template <typename T>
bool Read(const Json& json, T* value) {
  return Codec<T>::Read(json, value);
}

// Writes every field of `object` (VisitFields found by argument type).
template <typename Struct>
Json WriteFields(const Struct& object) {
  Json json = Json::object();
  VisitFields(object, [&](const char* name, const auto& field) { json[name] = Write(field); });
  return json;
}

enum class Missing { kIsError, kKeepsDefault };

// Reads every field; InvalidArgument names the first key that is missing, unknown or wrong.
template <typename Struct>
absl::Status ReadFields(const Json& json, Missing missing, std::string_view what, Struct* object) {
  if (!json.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(what), " is not a JSON object"));
  }
  absl::Status status;
  std::set<std::string> known;
  VisitFields(*object, [&](const char* name, auto& field) {
    known.insert(name);
    if (!status.ok()) return;
    const auto it = json.find(name);
    if (it == json.end()) {
      if (missing == Missing::kIsError) {
        status = absl::InvalidArgumentError(
            absl::StrCat(std::string(what), " lacks the key \"", name, "\""));
      }
    } else if (!Read(*it, &field)) {
      status = absl::InvalidArgumentError(
          absl::StrCat(std::string(what), ": \"", name, "\" has a wrong value: ", it->dump()));
    }
  });
  if (!status.ok()) return status;
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) {
      return absl::InvalidArgumentError(
          absl::StrCat(std::string(what), " has an unknown key \"", key, "\""));
    }
  }
  return absl::OkStatus();
}

// Parses text without exceptions.
inline absl::Status ParseJson(std::string_view text, std::string_view what, Json* json) {
  *json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json->is_discarded()) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(what), " is not valid JSON"));
  }
  return absl::OkStatus();
}

}  // namespace dynbench::plan::internal
