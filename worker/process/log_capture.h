// What a process wrote, as bytes, with a cap: the head and the tail are kept and the place between
// them says how much was cut.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "worker/process/event_loop.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// Thread-compatible.
class LogCapture {
 public:
  // Keeps at most `cap_bytes`, note included: the first half of what came and the last.
  explicit LogCapture(size_t cap_bytes);

  void Append(std::string_view bytes);
  int64_t total_bytes() const { return total_; }
  bool cut() const;
  std::string Text() const;

 private:
  size_t head_cap_, tail_cap_;
  int64_t total_ = 0;
  std::string head_;
  std::string tail_;  // at most twice tail_cap_, so that trimming is rare
};

// Reads a pipe into a LogCapture on an event loop. It never makes the writer wait, and it ends when
// its owner says so (the process tree is gone), not at the pipe's end: a process that escaped may
// hold the other end for ever.
class LogPump {
 public:
  using Sink = std::function<void(int64_t offset, std::string_view bytes)>;

  // `loop` outlives the pump. `sink` gets everything, also what the capture cuts.
  LogPump(EventLoop* loop, size_t cap_bytes, Sink sink);
  ~LogPump();
  LogPump(const LogPump&) = delete;
  LogPump& operator=(const LogPump&) = delete;

  // Starts and returns the end that the child writes to; the caller closes its copy once the child
  // has it. Empty on failure.
  UniqueFd Open();

  // Takes what is in the pipe now (at most its capacity) and closes it.
  void Finish();

  const LogCapture& capture() const { return capture_; }
  // Adds a line of the worker's own.
  void Note(std::string_view line);

 private:
  bool ReadOnce();  // false: nothing there now, or the end

  EventLoop* loop_;
  LogCapture capture_;
  Sink sink_;
  UniqueFd read_end_;
};

}  // namespace dynbench::worker
