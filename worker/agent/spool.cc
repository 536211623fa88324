#include "worker/agent/spool.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "proto/dynbench/convert.h"
#include "proto/dynbench/spool_file.h"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".result";

}  // namespace

absl::StatusOr<Spool> Spool::Open(const std::string& folder) {
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  Spool spool(folder);
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path();
    if (!entry.is_regular_file()) continue;
    if (absl::EndsWith(path, kSuffix)) {
      paths.push_back(path);
    } else {
      fs::remove(path, error);  // the temporary file of a write that was cut short
    }
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  for (const std::string& path : paths) spool.Load(path);
  return spool;
}

void Spool::Load(const std::string& path) {
  const auto text = ReadWholeFile(path);
  auto finished = text.ok() ? proto::DecodeSpoolFile(*text) : std::nullopt;
  if (finished) {
    const AttemptId attempt = proto::FromProto(finished->attempt());
    if (PathOf(attempt) == path) {
      entries_[attempt] = {*std::move(finished), true};
      return;
    }
  }
  ++torn_;
  const std::string aside = folder_ + "/torn";
  const absl::Status made = MakePrivateFolder(aside);
  std::error_code error;
  if (made.ok()) fs::rename(path, aside + "/" + fs::path(path).filename().string(), error);
  spdlog::error("{} is not a whole result; it is kept in {}", path, aside);
}

std::string Spool::PathOf(const AttemptId& attempt) const {
  return absl::StrCat(folder_, "/", attempt.experiment.value, ".", attempt.lease.value, kSuffix);
}

SpoolFile Spool::FileOf(const AttemptId& attempt, const Entry& entry) const {
  return {attempt, PathOf(attempt), proto::EncodeSpoolFile(entry.finished)};
}

absl::Status Spool::Write(const AttemptId& attempt, Entry& entry) {
  RETURN_IF_ERROR(WriteSpoolFiles({FileOf(attempt, entry)}).front());
  entry.durable = true;
  return absl::OkStatus();
}

absl::Status Spool::Put(const v1::AttemptFinished& finished) {
  const AttemptId attempt = proto::FromProto(finished.attempt());
  const auto [it, added] = entries_.try_emplace(attempt);
  if (!added) return absl::OkStatus();
  it->second.finished = finished;
  absl::Status written = Write(attempt, it->second);
  if (!written.ok()) ++not_written_;
  return written;
}

std::optional<SpoolFile> Spool::Hold(const v1::AttemptFinished& finished) {
  const AttemptId attempt = proto::FromProto(finished.attempt());
  const auto [it, added] = entries_.try_emplace(attempt);
  if (!added) return std::nullopt;
  it->second.finished = finished;
  it->second.writing = true;
  return FileOf(attempt, it->second);
}

void Spool::Written(const AttemptId& attempt, const absl::Status& written) {
  const auto it = entries_.find(attempt);
  if (it == entries_.end()) return;
  it->second.writing = false;
  it->second.durable = written.ok();
  if (!written.ok()) ++not_written_;
}

absl::Status Spool::Retry() {
  for (auto& [attempt, entry] : entries_) {
    if (entry.durable || entry.writing) continue;
    RETURN_IF_ERROR(Write(attempt, entry));
    --not_written_;
  }
  return absl::OkStatus();
}

void Spool::Remove(const AttemptId& attempt) {
  const auto it = entries_.find(attempt);
  if (it == entries_.end()) return;
  if (!it->second.durable && !it->second.writing) --not_written_;
  entries_.erase(it);
  const std::string path = PathOf(attempt);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    spdlog::warn("{}", FileError(path).ToString());
  }
}

std::vector<AttemptId> Spool::Attempts() const {
  std::vector<AttemptId> all;
  for (const auto& [attempt, entry] : entries_) all.push_back(attempt);
  return all;
}

std::vector<const v1::AttemptFinished*> Spool::Results() const {
  std::vector<const v1::AttemptFinished*> all;
  for (const auto& [attempt, entry] : entries_) {
    if (!entry.writing) all.push_back(&entry.finished);
  }
  return all;
}

}  // namespace dynbench::worker
