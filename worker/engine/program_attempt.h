// One attempt of the engines `script` and `command`, on a lane for programs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "worker/engine/attempt.h"
#include "worker/engine/command_report.h"
#include "worker/engine/program.h"
#include "worker/runner/path_aliases.h"

namespace dynbench::worker {

// Belongs to its event loop's thread. A performance test has the slot's window for its whole run:
// nobody can say which part of a foreign program measures.
class ProgramAttempt : public Attempt {
 public:
  // `aliases` are links that the program's folders are reached by; they go with the attempt.
  ProgramAttempt(EventLoop* loop, AttemptSpec spec, AttemptObserver observer,
                 MonotonicTime asked_at, Program program,
                 std::unique_ptr<runner::PathAliases> aliases);

 protected:
  nlohmann::json RunMessage() const override;
  bool MayStart() override;
  void OnSpawned() override;
  void OnOutput(std::string_view bytes) override;
  plan::Result MakeResult(const Ending& ending, std::optional<plan::Result> reported,
                          const std::string& log) override;

 private:
  void ReadLine(std::string_view line);
  void ReadConsole(std::string_view line);
  plan::Result ScriptResult(const Ending& ending, const std::string& log) const;

  const Program program_;
  const std::unique_ptr<runner::PathAliases> aliases_;
  const int64_t cache_files_before_;
  std::string line_;  // the last one, as far as it came
  bool line_too_long_ = false;
  bool loaded_ = false;  // upstream's console line of the model was seen
  bool window_asked_ = false, window_granted_ = false;
  CommandReport report_;
};

}  // namespace dynbench::worker
