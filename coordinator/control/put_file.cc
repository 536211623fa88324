#include "coordinator/control/put_file.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/store/writes.h"
#include "coordinator/session/rpc_status.h"

namespace dynbench::control {
namespace {

using session::ToGrpc;

class PutFile : public grpc::ServerReadReactor<v1::PutFileChunk> {
 public:
  PutFile(ingest::Ingest* ingest, v1::PutFileReply* reply) : ingest_(ingest), reply_(reply) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Store();
    if (name_.empty()) name_ = chunk_.name();
    if (bytes_.size() + chunk_.data().size() > kFileLimitBytes) {
      return Finish(ToGrpc(absl::InvalidArgumentError(
          absl::StrCat("the file ", name_, " is larger than ", kFileLimitBytes >> 20,
                       " MiB, the limit for a model file; keep weights out of it"))));
    }
    bytes_ += chunk_.data();
    StartRead(&chunk_);
  }

  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  void Store() {
    if (cancelled_) return Finish(grpc::Status::CANCELLED);
    if (bytes_.empty()) {
      return Finish(ToGrpc(absl::InvalidArgumentError("the file is empty")));
    }
    const std::string sha256 = Sha256Hex(bytes_);
    auto bytes = std::make_shared<std::string>(std::move(bytes_));
    ingest_->Apply(
        [sha256, name = name_, bytes](store::Database& db) {
          return store::PutFile(db, sha256, name, *bytes, UnixNow());
        },
        [this, sha256](const absl::Status& status) {
          if (status.ok()) reply_->set_sha256(sha256);
          Finish(ToGrpc(status));
        });
  }

  ingest::Ingest* const ingest_;
  v1::PutFileReply* const reply_;
  v1::PutFileChunk chunk_;
  std::string name_;
  std::string bytes_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace

grpc::ServerReadReactor<v1::PutFileChunk>* NewPutFile(ingest::Ingest* ingest,
                                                      v1::PutFileReply* reply) {
  return new PutFile(ingest, reply);
}

}  // namespace dynbench::control
