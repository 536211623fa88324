// The texts of a job's plans, one after another, compared member by member: neighbours differ in
// few fields (mostly the model), and what is equal costs a comparison of bytes.
//
// Thread-compatible.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dynbench::plan {

// `"key":value` of an object's text, as places in it.
struct PlanMember {
  size_t begin = 0, key_size = 0, end = 0;

  std::string_view key(std::string_view text) const { return text.substr(begin + 1, key_size); }
  std::string_view value(std::string_view text) const {
    return text.substr(begin + key_size + 3, end - begin - key_size - 3);
  }
  std::string_view whole(std::string_view text) const { return text.substr(begin, end - begin); }
};

// The members of an object as nlohmann-json writes it: sorted, each key once, without blanks. None
// when it is not of this kind. Values are not checked.
std::optional<std::vector<PlanMember>> CutMembers(std::string_view text);

class PlanText {
 public:
  // True: it has the keys of the text before, and `changed` says which members differ. False: it is
  // the first one or of another kind, so all of it is new.
  bool Next(std::string_view text);
  // The next text is compared with nothing.
  void Forget() { members_.clear(); }

  const std::vector<size_t>& changed() const { return changed_; }
  const PlanMember& member(size_t index) const { return members_[index]; }
  std::string_view text() const { return text_; }

 private:
  bool Follow(std::string_view text);

  std::string text_;
  std::vector<PlanMember> members_;  // of text_; empty: it is of another kind
  std::vector<size_t> changed_;
};

// The texts of a job's plans as what ExperimentReader::ReadChanges reads.
class PlanChanges {
 public:
  // A JSON object of the members that differ from those of the text before, less `source`, which no
  // table shows. None: the whole text is needed.
  std::optional<std::string> Next(std::string_view text);

 private:
  PlanText plan_;
};

}  // namespace dynbench::plan
