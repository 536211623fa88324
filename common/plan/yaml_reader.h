// Strict YAML: what a person wrote is taken exactly, or refused with the place and the fix.
//
// yaml-cpp scans; the tree and the rules are ours. Refused with file:line:column: broken YAML, a
// tab in the indentation, a key twice in one mapping (both lines are named), anchors, aliases,
// merge keys and explicit tags (values are written out), a second document. Scalars stay text until
// a reader asks for a number, so 1.10 and 0123 keep their digits.
//
// Private to common/plan and whoever reads another YAML file of dynbench. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench::plan {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kText, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0, column = 0;        // counted from 1
  std::string text;                // kText
  bool quoted = false;             // kText: written in quotes
  std::vector<YamlNode> items;     // kList
  std::vector<YamlEntry> entries;  // kMap, in the order of the file; keys are unique
};

struct YamlEntry {
  std::string key;
  int line = 0, column = 0;  // of the key
  YamlNode value;
};

// The one document of `text`. InvalidArgument begins with "file_name:line:column: ".
absl::StatusOr<YamlNode> ParseYaml(std::string_view text, std::string_view file_name);

// "file:line:column: message" as InvalidArgument.
absl::Status YamlError(std::string_view file_name, const YamlNode& at, const std::string& message);

// Reads one mapping. Each getter leaves its target alone when the key is absent and remembers the
// first error; Finish returns that error, or names a key that nobody asked for, with the nearest
// one that is known:
//
//   MapReader reader(node, "model \"resnet50\"", file_name);
//   reader.Text("name", &name, MapReader::kRequired);
//   reader.Integer("batch_size", 1, 1 << 20, &batch_size);
//   RETURN_IF_ERROR(reader.Finish());
class MapReader {
 public:
  enum Need { kOptional, kRequired };

  // `object` says what the mapping describes, for messages. `node` must outlive the reader.
  MapReader(const YamlNode& node, std::string object, std::string_view file_name);

  // The value of `key` without asking for it: nullptr when absent.
  const YamlNode* Peek(const std::string& key) const;
  bool Has(const std::string& key) const { return Peek(key) != nullptr; }

  // The value of `key`, or nullptr when absent (an error if required) or null (always an error).
  const YamlNode* Take(const std::string& key, Need need = kOptional);

  void Text(const std::string& key, std::string* value, Need need = kOptional);
  void Integer(const std::string& key, int low, int high, int* value, Need need = kOptional);
  // A number greater than 0.
  void Positive(const std::string& key, double* value, Need need = kOptional);
  void Bool(const std::string& key, bool* value, Need need = kOptional);  // true or false only
  void TextMap(const std::string& key, std::map<std::string, std::string>* value);
  void TextList(const std::string& key, std::vector<std::string>* value);
  // One of `words`.
  void Word(const std::string& key, const std::vector<std::string>& words, std::string* value,
            Need need = kOptional);
  // A list of some of `words`, or one of them alone.
  void Words(const std::string& key, const std::vector<std::string>& words,
             std::vector<std::string>* value);

  // Records an error of the caller's own at `at`.
  void Fail(const YamlNode& at, const std::string& message);
  void Fail(const absl::Status& status);

  absl::Status Finish();

  const std::string& file_name() const { return file_name_; }

 private:
  const YamlNode* TakeText(const std::string& key, Need need, const char* wanted);
  bool IsWord(const std::string& key, const std::vector<std::string>& words, const YamlNode& node);

  const YamlNode& node_;
  std::string object_;
  std::string file_name_;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace dynbench::plan
