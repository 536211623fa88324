#include "worker/process/log_capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"

namespace dynbench::worker {
namespace {

constexpr size_t kNoteRoomBytes = 80;
// Reads per wake-up: a flood must not keep the loop from its other work.
constexpr int kReadsPerWake = 4;
// A pipe holds at most 1 MiB; what a living escapee adds meanwhile is not waited for.
constexpr int kDrainReads = 32;

}  // namespace

LogCapture::LogCapture(size_t cap_bytes) {
  const size_t room = cap_bytes > kNoteRoomBytes ? cap_bytes - kNoteRoomBytes : 0;
  head_cap_ = room / 2;
  tail_cap_ = room - head_cap_;
}

void LogCapture::Append(std::string_view bytes) {
  total_ += static_cast<int64_t>(bytes.size());
  const size_t to_head = std::min(bytes.size(), head_cap_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() > tail_cap_) bytes.remove_prefix(bytes.size() - tail_cap_);
  tail_.append(bytes);
  if (tail_.size() > 2 * tail_cap_) tail_.erase(0, tail_.size() - tail_cap_);
}

bool LogCapture::cut() const { return total_ > static_cast<int64_t>(head_cap_ + tail_cap_); }

std::string LogCapture::Text() const {
  if (!cut()) return head_ + tail_;
  const std::string_view tail =
      std::string_view(tail_).substr(tail_.size() > tail_cap_ ? tail_.size() - tail_cap_ : 0);
  const int64_t missing = total_ - static_cast<int64_t>(head_.size() + tail.size());
  return absl::StrCat(head_, "\n[dynbench: ", missing, " bytes were cut here]\n",
                      std::string(tail));
}

LogPump::LogPump(EventLoop* loop, size_t cap_bytes, Sink sink)
    : loop_(loop), capture_(cap_bytes), sink_(std::move(sink)) {}

LogPump::~LogPump() { Finish(); }

UniqueFd LogPump::Open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  read_end_.reset(ends[0]);
  UniqueFd write_end(ends[1]);
  // Only our end: the child expects blocking writes.
  fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
  loop_->Watch(read_end_.get(), [this] {
    for (int i = 0; i < kReadsPerWake && ReadOnce(); ++i) {
    }
  });
  return write_end;
}

bool LogPump::ReadOnce() {
  char buffer[65536];
  ssize_t n;
  do {
    n = read(read_end_.get(), buffer, sizeof buffer);
  } while (n < 0 && errno == EINTR);
  if (n > 0) {
    const std::string_view bytes(buffer, static_cast<size_t>(n));
    const int64_t offset = capture_.total_bytes();
    capture_.Append(bytes);
    if (sink_) sink_(offset, bytes);
    return true;
  }
  if (n == 0) loop_->Unwatch(read_end_.get());  // else the loop would spin at end of file
  return false;
}

void LogPump::Finish() {
  if (!read_end_) return;
  for (int i = 0; i < kDrainReads && ReadOnce(); ++i) {
  }
  loop_->Unwatch(read_end_.get());
  read_end_.reset();
}

void LogPump::Note(std::string_view line) {
  const std::string text = absl::StrCat("[dynbench: ", std::string(line), "]\n");
  const int64_t offset = capture_.total_bytes();
  capture_.Append(text);
  if (sink_) sink_(offset, text);
}

}  // namespace dynbench::worker
