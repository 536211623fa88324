#include "common/plan/yaml_reader.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "common/base/status.h"
#include "common/plan/nearest.h"

namespace dynbench::plan {
namespace {

absl::Status ErrorAt(std::string_view file, int line, int column, const std::string& message) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(file), ":", line, ":", column, ": ", message));
}

// Builds the tree from the parser's events. After the first error the rest is ignored.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Add(At(YamlNode::Kind::kNull, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "an alias (*name) is not allowed; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    if (tag != "?" && tag != "!") RefuseTag(mark, tag);
    if (tag == "!" && !QuoteIsClosed(static_cast<size_t>(mark.pos))) {
      Fail(mark, "not valid YAML: this quote is never closed");
    }
    YamlNode node = At(YamlNode::Kind::kText, mark);
    node.text = value;
    node.quoted = tag == "!";
    Add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

  absl::StatusOr<YamlNode> Take() {
    if (!status_.ok()) return status_;
    return std::move(root_);
  }

 private:
  // A collection under construction. `key` is set between a key and its value.
  struct Frame {
    YamlNode node;
    bool has_key = false;
    YamlEntry key;
  };

  static YamlNode At(YamlNode::Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  // yaml-cpp takes the rest of the file for the text when the closing quote is missing.
  bool QuoteIsClosed(size_t begin) const {
    if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return true;
    const char quote = text_[begin];
    for (size_t i = begin + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        if (quote == '"' || i + 1 == text_.size() || text_[i + 1] != quote) return true;
        ++i;  // '' is a quote inside
      }
    }
    return false;
  }

  void Fail(const YAML::Mark& mark, const std::string& message) {
    if (status_.ok()) status_ = ErrorAt(file_, mark.line + 1, mark.column + 1, message);
  }
  void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) Fail(mark, "an anchor (&name) is not allowed; write the value out");
  }
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    Fail(mark, absl::StrCat("the tag ", tag, " is not allowed; write the plain value"));
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    RefuseAnchor(mark, anchor);
    if (tag != "?" && tag != "!" && !tag.empty()) RefuseTag(mark, tag);
    Frame frame;
    frame.node = At(kind, mark);
    stack_.push_back(std::move(frame));
  }
  void Close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    Add(std::move(node));
  }

  void Add(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == YamlNode::Kind::kList) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.has_key) {
      BeginEntry(frame, node);
    } else {
      frame.key.value = std::move(node);
      frame.node.entries.push_back(std::move(frame.key));
      frame.has_key = false;
    }
  }

  void BeginEntry(Frame& frame, const YamlNode& key) {
    frame.has_key = true;
    frame.key = YamlEntry{key.text, key.line, key.column, {}};
    const auto fail = [&](const std::string& message) {
      if (status_.ok()) status_ = ErrorAt(file_, key.line, key.column, message);
    };
    if (key.kind != YamlNode::Kind::kText) {
      fail("a key must be plain text");
    } else if (key.text == "<<" && !key.quoted) {
      fail("a merge key (<<) is not allowed; write the values out");
    }
    for (const YamlEntry& entry : frame.node.entries) {
      if (entry.key == key.text) {
        fail(absl::StrCat("the key \"", key.text, "\" is given twice, in line ", entry.line,
                          " and in line ", key.line, "; keep one of them"));
      }
    }
  }

  std::string file_;
  std::string_view text_;
  YamlNode root_;
  std::vector<Frame> stack_;
  absl::Status status_;
};

// yaml-cpp takes some tabs for blanks and reports others far from where they are.
absl::Status RefuseTabs(std::string_view text, std::string_view file) {
  int line = 1;
  bool indentation = true;
  int column = 1;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      column = 0;
      indentation = true;
    } else if (c == '\t' && indentation) {
      return ErrorAt(file, line, column,
                     "a tab in the indentation; YAML is indented with blanks only");
    } else if (c != ' ') {
      indentation = false;
    }
    ++column;
  }
  return absl::OkStatus();
}

std::string_view KindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kText:
      return "a plain value";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a mapping";
  }
  return "";
}

}  // namespace

absl::Status YamlError(std::string_view file_name, const YamlNode& at, const std::string& message) {
  return ErrorAt(file_name, at.line, at.column, message);
}

absl::StatusOr<YamlNode> ParseYaml(std::string_view text, std::string_view file_name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  RETURN_IF_ERROR(RefuseTabs(text, file_name));
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(file_name, text);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      return ErrorAt(file_name, 1, 1, "the file is empty; docs/suites.md shows what belongs here");
    }
    TreeBuilder second(file_name, text);
    if (parser.HandleNextDocument(second)) {
      return absl::InvalidArgumentError(absl::StrCat(
          std::string(file_name), ": has a second document (---); keep one document per file"));
    }
  } catch (const YAML::Exception& e) {
    return ErrorAt(file_name, e.mark.line + 1, e.mark.column + 1,
                   absl::StrCat("not valid YAML: ", e.msg));
  }
  return builder.Take();
}

MapReader::MapReader(const YamlNode& node, std::string object, std::string_view file_name)
    : node_(node), object_(std::move(object)), file_name_(file_name) {
  if (node_.kind != YamlNode::Kind::kMap) {
    Fail(node_, absl::StrCat(object_, ": a mapping (key: value) is wanted here, not ",
                             std::string(KindName(node_))));
  }
}

void MapReader::Fail(const YamlNode& at, const std::string& message) {
  Fail(YamlError(file_name_, at, message));
}

void MapReader::Fail(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

const YamlNode* MapReader::Peek(const std::string& key) const {
  for (const YamlEntry& entry : node_.entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const YamlNode* MapReader::Take(const std::string& key, Need need) {
  known_.push_back(key);
  for (const YamlEntry& entry : node_.entries) {
    if (entry.key != key) continue;
    if (entry.value.kind != YamlNode::Kind::kNull) return &entry.value;
    Fail(
        ErrorAt(file_name_, entry.line, entry.column,
                absl::StrCat(object_, ": \"", key, "\" has no value; give one or remove the key")));
    return nullptr;
  }
  if (need == kRequired) {
    // A misspelt key explains a missing one better than its absence does.
    for (const YamlEntry& entry : node_.entries) {
      if (!Nearest(entry.key, {key}).empty() &&
          std::find(known_.begin(), known_.end(), entry.key) == known_.end()) {
        Fail(ErrorAt(file_name_, entry.line, entry.column,
                     absl::StrCat(object_, ": unknown key \"", entry.key, "\" (did you mean \"",
                                  key, "\"?)")));
        return nullptr;
      }
    }
    Fail(node_, absl::StrCat(object_, ": the key \"", key, "\" is missing; add it"));
  }
  return nullptr;
}

const YamlNode* MapReader::TakeText(const std::string& key, Need need, const char* wanted) {
  const YamlNode* node = Take(key, need);
  if (node == nullptr || node->kind == YamlNode::Kind::kText) return node;
  Fail(*node, absl::StrCat(object_, ": \"", key, "\" wants ", wanted, ", not ",
                           std::string(KindName(*node))));
  return nullptr;
}

void MapReader::Text(const std::string& key, std::string* value, Need need) {
  const YamlNode* node = TakeText(key, need, "a text");
  if (node == nullptr) return;
  if (node->text.empty()) {
    Fail(*node, absl::StrCat(object_, ": \"", key, "\" is empty; give a text or remove the key"));
    return;
  }
  *value = node->text;
}

void MapReader::Integer(const std::string& key, int low, int high, int* value, Need need) {
  const YamlNode* node = TakeText(key, need, "a whole number");
  if (node == nullptr) return;
  int number = 0;
  const char* end = node->text.data() + node->text.size();
  const auto [stopped, error] = std::from_chars(node->text.data(), end, number);
  if (error != std::errc() || stopped != end || number < low || number > high) {
    Fail(*node, absl::StrCat(object_, ": \"", key, "\" wants a whole number from ", low, " to ",
                             high, ", not \"", node->text, "\""));
    return;
  }
  *value = number;
}

void MapReader::Positive(const std::string& key, double* value, Need need) {
  const YamlNode* node = TakeText(key, need, "a number");
  if (node == nullptr) return;
  double number = 0;
  const char* end = node->text.data() + node->text.size();
  const auto [stopped, error] = std::from_chars(node->text.data(), end, number);
  if (error != std::errc() || stopped != end || !std::isfinite(number) || number <= 0) {
    Fail(*node, absl::StrCat(object_, ": \"", key, "\" wants a number greater than 0, not \"",
                             node->text, "\""));
    return;
  }
  *value = number;
}

void MapReader::Bool(const std::string& key, bool* value, Need need) {
  const YamlNode* node = TakeText(key, need, "true or false");
  if (node == nullptr) return;
  if (node->quoted || (node->text != "true" && node->text != "false")) {
    Fail(*node,
         absl::StrCat(object_, ": \"", key, "\" wants true or false, not \"", node->text, "\""));
    return;
  }
  *value = node->text == "true";
}

void MapReader::TextMap(const std::string& key, std::map<std::string, std::string>* value) {
  const YamlNode* node = Take(key);
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kMap) {
    Fail(*node, absl::StrCat(object_, ": \"", key, "\" wants a mapping (name: value), not ",
                             std::string(KindName(*node))));
    return;
  }
  for (const YamlEntry& entry : node->entries) {
    if (entry.value.kind != YamlNode::Kind::kText) {
      Fail(entry.value,
           absl::StrCat(object_, ": \"", key, ".", entry.key, "\" wants a plain value, not ",
                        std::string(KindName(entry.value))));
      return;
    }
    (*value)[entry.key] = entry.value.text;
  }
}

void MapReader::TextList(const std::string& key, std::vector<std::string>* value) {
  const YamlNode* node = Take(key);
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kList) {
    Fail(*node, absl::StrCat(object_, ": \"", key, "\" wants a list ([a, b]), not ",
                             std::string(KindName(*node))));
    return;
  }
  for (const YamlNode& item : node->items) {
    if (item.kind != YamlNode::Kind::kText || item.text.empty()) {
      Fail(item, absl::StrCat(object_, ": each item of \"", key, "\" must be a text"));
      return;
    }
    value->push_back(item.text);
  }
}

bool MapReader::IsWord(const std::string& key, const std::vector<std::string>& words,
                       const YamlNode& node) {
  if (std::find(words.begin(), words.end(), node.text) != words.end()) return true;
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  Fail(node, absl::StrCat(object_, ": \"", key, "\" wants one of ", all, ", not \"", node.text,
                          "\"", DidYouMean(node.text, words)));
  return false;
}

void MapReader::Word(const std::string& key, const std::vector<std::string>& words,
                     std::string* value, Need need) {
  const YamlNode* node = TakeText(key, need, "a text");
  if (node != nullptr && IsWord(key, words, *node)) *value = node->text;
}

void MapReader::Words(const std::string& key, const std::vector<std::string>& words,
                      std::vector<std::string>* value) {
  const YamlNode* node = Take(key);
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::kText) {
    if (IsWord(key, words, *node)) value->push_back(node->text);
    return;
  }
  if (node->kind != YamlNode::Kind::kList || node->items.empty()) {
    Fail(*node, absl::StrCat(object_, ": \"", key, "\" wants a word or a list ([a, b]), not ",
                             std::string(KindName(*node))));
    return;
  }
  for (const YamlNode& item : node->items) {
    if (!IsWord(key, words, item)) return;
    value->push_back(item.text);
  }
}

absl::Status MapReader::Finish() {
  if (!status_.ok()) return status_;
  for (const YamlEntry& entry : node_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string hint = DidYouMean(entry.key, known_);
    std::string all;
    for (const std::string& key : known_) all += (all.empty() ? "" : ", ") + key;
    return ErrorAt(file_name_, entry.line, entry.column,
                   absl::StrCat(object_, ": unknown key \"", entry.key, "\"",
                                hint.empty() ? absl::StrCat("; known here: ", all) : hint));
  }
  return absl::OkStatus();
}

}  // namespace dynbench::plan
