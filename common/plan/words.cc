#include "common/plan/words.h"

#include <array>
#include <cstddef>

namespace dynbench::plan {
namespace {

// The spellings of each enumeration, in the order of its values.
constexpr std::array<std::string_view, 2> kModes = {"inference", "training"};
constexpr std::array<std::string_view, 4> kTests = {"performance", "accuracy", "tolerance",
                                                    "batch_size"};
constexpr std::array<std::string_view, 4> kPrecisions = {"float32", "bfloat16", "float16", "amp"};
constexpr std::array<std::string_view, 3> kStarts = {"cold", "warm", "shared"};
constexpr std::array<std::string_view, 3> kWeights = {"auto", "pretrained", "random"};
constexpr std::array<std::string_view, 5> kOutcomes = {"passed", "failed", "skipped", "lost",
                                                       "cancelled"};
constexpr std::array<std::string_view, 5> kBlames = {"none", "model", "eager", "compiler",
                                                     "infrastructure"};
constexpr std::array<std::string_view, 9> kPhases = {
    "prepare", "load", "eager", "reference", "compile", "ready", "measure", "verify", "report"};
constexpr std::array<std::string_view, 3> kPolicies = {"dynamic", "balanced", "static"};

template <typename Word, size_t N>
std::optional<Word> Parse(const std::array<std::string_view, N>& words, std::string_view text) {
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Word>(i);
  }
  return std::nullopt;
}

template <typename Word, size_t N>
std::string_view Spell(const std::array<std::string_view, N>& words, Word word) {
  return words[static_cast<size_t>(word)];
}

}  // namespace

std::string_view ToString(Mode mode) { return Spell(kModes, mode); }
std::string_view ToString(Test test) { return Spell(kTests, test); }
std::string_view ToString(Precision precision) { return Spell(kPrecisions, precision); }
std::string_view ToString(Start start) { return Spell(kStarts, start); }
std::string_view ToString(Weights weights) { return Spell(kWeights, weights); }
std::string_view ToString(Outcome outcome) { return Spell(kOutcomes, outcome); }
std::string_view ToString(Blame blame) { return Spell(kBlames, blame); }
std::string_view ToString(Phase phase) { return Spell(kPhases, phase); }
std::string_view ToString(PartitionPolicy policy) { return Spell(kPolicies, policy); }

std::optional<Mode> ParseMode(std::string_view text) { return Parse<Mode>(kModes, text); }
std::optional<Test> ParseTest(std::string_view text) { return Parse<Test>(kTests, text); }
std::optional<Precision> ParsePrecision(std::string_view text) {
  return Parse<Precision>(kPrecisions, text);
}
std::optional<Start> ParseStart(std::string_view text) { return Parse<Start>(kStarts, text); }
std::optional<Weights> ParseWeights(std::string_view text) {
  return Parse<Weights>(kWeights, text);
}
std::optional<Outcome> ParseOutcome(std::string_view text) {
  return Parse<Outcome>(kOutcomes, text);
}
std::optional<Blame> ParseBlame(std::string_view text) { return Parse<Blame>(kBlames, text); }
std::optional<Phase> ParsePhase(std::string_view text) { return Parse<Phase>(kPhases, text); }
std::optional<PartitionPolicy> ParsePartitionPolicy(std::string_view text) {
  return Parse<PartitionPolicy>(kPolicies, text);
}

bool BlamesDevice(std::string_view status) {
  return status == "device_lost" || status == "gpu_hang";
}

Blame BlameFor(Phase phase) {
  switch (phase) {
    case Phase::kPrepare:
      return Blame::kInfrastructure;
    case Phase::kLoad:
      return Blame::kModel;
    case Phase::kEager:
    case Phase::kReference:
      return Blame::kEager;
    case Phase::kCompile:
    case Phase::kReady:
    case Phase::kMeasure:
    case Phase::kVerify:
    case Phase::kReport:
      return Blame::kCompiler;
  }
  return Blame::kInfrastructure;
}

}  // namespace dynbench::plan
