#include "common/base/object_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "common/base/durable_file.h"
#include "common/base/sha256.h"
#include "common/base/status.h"

namespace dynbench {
namespace {

namespace fs = std::filesystem;

constexpr char kUnfinished[] = ".part";

}  // namespace

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError(path);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, " is no file"));
  }
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    close(fd);
    return Sha256Hex("");
  }
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return FileError(path);
  std::string hex = Sha256Hex({static_cast<const char*>(bytes), size});
  munmap(bytes, size);
  return hex;
}

std::string ObjectFolder::PathOf(std::string_view sha256, std::string_view variant) const {
  CHECK(IsSha256Hex(sha256));
  return absl::StrCat(folder_, "/", std::string(sha256.substr(0, 2)), "/", std::string(sha256),
                      std::string(variant));
}

bool ObjectFolder::Has(std::string_view sha256, std::string_view variant) const {
  struct stat info {};
  return stat(PathOf(sha256, variant).c_str(), &info) == 0 && info.st_size > 0;
}

absl::Status ObjectFolder::MakeFolderOf(std::string_view sha256) const {
  const fs::path path = fs::path(PathOf(sha256)).parent_path();
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return absl::OkStatus();
  errno = error.value();
  return FileError(path.string());
}

absl::Status ObjectFolder::Put(std::string_view sha256, std::string_view bytes) const {
  if (!IsSha256Hex(sha256)) return absl::InvalidArgumentError("no content address");
  if (Has(sha256)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto writer, ObjectWriter::Begin(*this, std::string(sha256)));
  RETURN_IF_ERROR(writer->Add(bytes));
  return writer->Finish();
}

void ObjectFolder::ForEach(const std::function<void(const Object&)>& visit) const {
  std::error_code error;
  for (const auto& group : fs::directory_iterator(folder_, error)) {
    std::error_code inner;
    for (const auto& entry : fs::directory_iterator(group.path(), inner)) {
      const std::string name = entry.path().filename().string();
      if (name.size() < 64 || !IsSha256Hex(std::string_view(name).substr(0, 64))) continue;
      visit({name.substr(0, 64), name.substr(64), entry.path().string()});
    }
  }
}

void ObjectFolder::SweepUnfinished(int64_t age_s) const {
  std::error_code error;
  const time_t before = time(nullptr) - age_s;
  for (const auto& group : fs::directory_iterator(folder_, error)) {
    std::error_code inner;
    for (const auto& entry : fs::directory_iterator(group.path(), inner)) {
      struct stat info {};
      if (entry.path().filename().string().rfind(kUnfinished, 0) != 0) continue;
      if (lstat(entry.path().c_str(), &info) == 0 && info.st_mtime <= before) {
        unlink(entry.path().c_str());
      }
    }
  }
}

struct ObjectWriter::Parts {
  std::string sha256, final_path, temporary;
  unsigned mode = 0444;
  int fd = -1;
  Sha256 hash;
};

ObjectWriter::ObjectWriter(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ObjectWriter::~ObjectWriter() {
  if (parts_->fd < 0) return;
  close(parts_->fd);
  unlink(parts_->temporary.c_str());
}

absl::StatusOr<std::unique_ptr<ObjectWriter>> ObjectWriter::Begin(const ObjectFolder& folder,
                                                                  const std::string& sha256,
                                                                  const std::string& variant,
                                                                  unsigned mode) {
  if (!IsSha256Hex(sha256)) {
    return absl::InvalidArgumentError(absl::StrCat("no content address: ", sha256));
  }
  RETURN_IF_ERROR(folder.MakeFolderOf(sha256));
  static std::atomic<int64_t> next{0};
  auto parts = std::make_unique<Parts>();
  parts->sha256 = sha256;
  parts->final_path = folder.PathOf(sha256, variant);
  parts->mode = mode;
  parts->temporary = absl::StrCat(fs::path(parts->final_path).parent_path().string(), "/",
                                  kUnfinished, "-", getpid(), "-", next.fetch_add(1));
  parts->fd = open(parts->temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (parts->fd < 0) return FileError(parts->temporary);
  return std::unique_ptr<ObjectWriter>(new ObjectWriter(std::move(parts)));
}

absl::Status ObjectWriter::Add(std::string_view bytes) {
  parts_->hash.Add(bytes);
  while (!bytes.empty()) {
    const ssize_t written = write(parts_->fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(parts_->temporary);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ObjectWriter::Finish() {
  if (parts_->hash.Hex() != parts_->sha256) {
    return absl::DataLossError(absl::StrCat("object ", parts_->sha256, " came with other content"));
  }
  if (fchmod(parts_->fd, parts_->mode) != 0 ||
      rename(parts_->temporary.c_str(), parts_->final_path.c_str()) != 0) {
    return FileError(parts_->final_path);
  }
  close(std::exchange(parts_->fd, -1));
  return absl::OkStatus();
}

}  // namespace dynbench
