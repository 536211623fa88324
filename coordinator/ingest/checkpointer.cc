#include "coordinator/ingest/checkpointer.h"

#include <sqlite3.h>

#include <utility>

namespace dynbench::ingest {
namespace {

constexpr int64_t kPageBytes = 4096;

}  // namespace

Checkpointer::Checkpointer(std::string path) : path_(std::move(path)), thread_([this] { Run(); }) {}

Checkpointer::~Checkpointer() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
  if (handle_ != nullptr) sqlite3_close(handle_);
}

void Checkpointer::Begin() {
  MutexLock lock(mu_);
  wanted_ = true;
  wake_.NotifyAll();
}

bool Checkpointer::busy() const {
  MutexLock lock(mu_);
  return wanted_;
}

int64_t Checkpointer::left_bytes() const {
  MutexLock lock(mu_);
  return left_bytes_;
}

void Checkpointer::Run() {
  while (true) {
    {
      MutexLock lock(mu_);
      while (!wanted_ && !stopping_) wake_.Wait(mu_);
      if (stopping_) return;
    }
    const int64_t left = Pass();
    MutexLock lock(mu_);
    left_bytes_ = left;
    wanted_ = false;
  }
}

// An error is no harm: the log stays, and the next pass comes.
int64_t Checkpointer::Pass() {
  if (handle_ == nullptr) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr) != SQLITE_OK ||
        sqlite3_exec(handle_, "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0", nullptr,
                     nullptr, nullptr) != SQLITE_OK) {
      sqlite3_close(handle_);
      handle_ = nullptr;
      return -1;
    }
  }
  int log_frames = 0;
  int done_frames = 0;
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             &log_frames, &done_frames);
  if (code != SQLITE_OK) return -1;
  return (log_frames - done_frames) * kPageBytes;
}

}  // namespace dynbench::ingest
