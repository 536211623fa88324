// The enumerated words of the glossary, each with its one spelling in code, SQL, protocol, command
// line and JSON. ToString gives the spelling; Parse<Word> reads it back (nullopt when unknown).
#pragma once

#include <optional>
#include <string_view>

namespace dynbench::plan {

enum class Mode { kInference, kTraining };  // "inference", "training"
// "performance", "accuracy", "tolerance" (eager on the CPU against compiled: the distances alone),
// "batch_size" (upstream's --find-batch-sizes: the largest batch that runs eagerly)
enum class Test { kPerformance, kAccuracy, kTolerance, kBatchSize };
enum class Precision { kFp32, kBf16, kFp16, kAmp };  // "float32", "bfloat16", "float16", "amp"
enum class Start { kCold, kWarm, kShared };          // "cold", "warm", "shared"
enum class Weights { kAuto, kPretrained, kRandom };  // "auto", "pretrained", "random"

// How an experiment ended. "waiting" and "running" are states of an experiment without a result, so
// always planned = passed + failed + skipped + lost + cancelled + waiting + running.
enum class Outcome { kPassed, kFailed, kSkipped, kLost, kCancelled };

// Whose fault a failure is.
enum class Blame { kNone, kModel, kEager, kCompiler, kInfrastructure };

// What a child does, in this order. kPrepare is everything before its first phase (fork, cache
// copy).
enum class Phase {
  kPrepare,
  kLoad,
  kEager,
  kReference,
  kCompile,
  kReady,
  kMeasure,
  kVerify,
  kReport
};

enum class PartitionPolicy { kDynamic, kBalanced, kStatic };  // "dynamic", "balanced", "static"

std::string_view ToString(Mode mode);
std::string_view ToString(Test test);
std::string_view ToString(Precision precision);
std::string_view ToString(Start start);
std::string_view ToString(Weights weights);
std::string_view ToString(Outcome outcome);
std::string_view ToString(Blame blame);
std::string_view ToString(Phase phase);
std::string_view ToString(PartitionPolicy policy);

std::optional<Mode> ParseMode(std::string_view text);
std::optional<Test> ParseTest(std::string_view text);
std::optional<Precision> ParsePrecision(std::string_view text);
std::optional<Start> ParseStart(std::string_view text);
std::optional<Weights> ParseWeights(std::string_view text);
std::optional<Outcome> ParseOutcome(std::string_view text);
std::optional<Blame> ParseBlame(std::string_view text);
std::optional<Phase> ParsePhase(std::string_view text);
std::optional<PartitionPolicy> ParsePartitionPolicy(std::string_view text);

// Whether the status of an attempt that infrastructure ended blames the slot's device
// ("device_lost", "gpu_hang"); any other blames the host.
bool BlamesDevice(std::string_view status);
// That of one that found the host's disk full.
inline constexpr std::string_view kNoSpace = "no_space";

// Whom a failure in `phase` is to blame on (design: load -> model, eager and reference -> eager,
// compile and later -> compiler; prepare -> infrastructure).
Blame BlameFor(Phase phase);

}  // namespace dynbench::plan
