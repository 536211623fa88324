#include "worker/agent/spool_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/status.h"
#include "worker/host/durable_file.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

constexpr char kTemporary[] = ".new";  // swept by Spool::Open

absl::Status WriteAndSync(int fd, const std::string& text, const std::string& path) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(path);
    written += static_cast<size_t>(n);
  }
  return fsync(fd) == 0 ? absl::OkStatus() : FileError(path);
}

absl::Status WriteOne(const SpoolFile& file) {
  const std::string temporary = file.path + kTemporary;
  const UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return FileError(file.path);
  absl::Status status = WriteAndSync(fd.get(), file.text, file.path);
  if (status.ok() && rename(temporary.c_str(), file.path.c_str()) != 0) {
    status = FileError(file.path);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace

std::vector<absl::Status> WriteSpoolFiles(const std::vector<SpoolFile>& files) {
  std::vector<absl::Status> statuses;
  for (const SpoolFile& file : files) statuses.push_back(WriteOne(file));
  if (files.empty()) return statuses;
  const absl::Status synced =
      SyncFolder(std::filesystem::path(files.front().path).parent_path().string());
  for (absl::Status& status : statuses) {
    if (status.ok()) status = synced;
  }
  return statuses;
}

struct SpoolWriter::Shared {
  using Done = std::function<void(const absl::Status&)>;
  Mutex mu;
  std::vector<SpoolFile> files GUARDED_BY(mu);
  std::vector<Done> done GUARDED_BY(mu);
};

SpoolWriter::SpoolWriter(EventLoop* loop, EventLoop* disk)
    : loop_(loop), disk_(disk), shared_(std::make_shared<Shared>()) {}

void SpoolWriter::Write(SpoolFile file, std::function<void(const absl::Status&)> done) {
  ++pending_;
  {
    MutexLock lock(shared_->mu);
    shared_->files.push_back(std::move(file));
    shared_->done.push_back([this, done = std::move(done)](const absl::Status& status) {
      --pending_;
      done(status);
    });
  }
  disk_->Post([loop = loop_, shared = shared_, alive = std::weak_ptr<bool>(alive_)] {
    std::vector<SpoolFile> files;
    std::vector<Shared::Done> done;
    {
      MutexLock lock(shared->mu);
      files.swap(shared->files);
      done.swap(shared->done);
    }
    if (files.empty()) return;  // an earlier turn took it along
    loop->Post([alive, done = std::move(done), statuses = WriteSpoolFiles(files)] {
      if (alive.expired()) return;
      for (size_t i = 0; i < done.size(); ++i) done[i](statuses[i]);
    });
  });
}

}  // namespace dynbench::worker
