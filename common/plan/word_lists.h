// Lists of the glossary's words in a YAML file, as one word or a list. Private to common/plan.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/yaml_reader.h"

namespace dynbench::plan {

// `parse` reads each of `words`; what is no such word is an error of `reader`.
template <typename T>
void ReadWords(MapReader& reader, const std::string& key, const std::vector<std::string>& words,
               std::optional<T> (*parse)(std::string_view), std::vector<T>* values) {
  std::vector<std::string> texts;
  reader.Words(key, words, &texts);
  for (const std::string& text : texts) values->push_back(*parse(text));
}

}  // namespace dynbench::plan
