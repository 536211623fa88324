#include "coordinator/control/staged_requests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "coordinator/session/rpc_status.h"

namespace dynbench::control {
namespace {

using session::ToGrpc;

class PutRequest : public grpc::ServerReadReactor<v1::PutRequestChunk> {
 public:
  PutRequest(std::shared_ptr<StagedRequests> staged, v1::PutRequestReply* reply)
      : staged_(std::move(staged)), reply_(reply) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Store();
    if (text_.size() + chunk_.data().size() > StagedRequests::kRequestLimitBytes) {
      return Finish(ToGrpc(absl::InvalidArgumentError(
          absl::StrCat("the request is larger than ", StagedRequests::kRequestLimitBytes >> 20,
                       " MiB; submit its models in several jobs (--filter, --models)"))));
    }
    text_ += chunk_.data();
    StartRead(&chunk_);
  }

  void OnDone() override { delete this; }

 private:
  void Store() {
    if (text_.empty()) return Finish(ToGrpc(absl::InvalidArgumentError("the request is empty")));
    reply_->set_sha256(staged_->Put(std::move(text_), MonotonicNow()));
    Finish(grpc::Status::OK);
  }

  const std::shared_ptr<StagedRequests> staged_;
  v1::PutRequestReply* const reply_;
  v1::PutRequestChunk chunk_;
  std::string text_;
};

}  // namespace

void StagedRequests::Forget(MonotonicTime now) {
  size_t total = 0;
  for (auto it = staged_.begin(); it != staged_.end();) {
    if (now - it->second.at > kKeptNs) {
      it = staged_.erase(it);
    } else {
      total += it++->second.text->size();
    }
  }
  while (total > kTotalLimitBytes && staged_.size() > 1) {
    const auto first = std::min_element(
        staged_.begin(), staged_.end(),
        [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
    total -= first->second.text->size();
    staged_.erase(first);
  }
}

std::string StagedRequests::Put(std::string request_json, MonotonicTime now) {
  std::string sha256 = Sha256Hex(request_json);
  MutexLock lock(mu_);
  staged_[sha256] = {std::make_shared<const std::string>(std::move(request_json)), now, next_++};
  Forget(now);
  return sha256;
}

absl::StatusOr<std::shared_ptr<const std::string>> StagedRequests::Get(const std::string& sha256,
                                                                       MonotonicTime now) {
  MutexLock lock(mu_);
  Forget(now);
  const auto found = staged_.find(sha256);
  if (found == staged_.end()) {
    return absl::NotFoundError(absl::StrCat("the request with SHA-256 ", sha256,
                                            " is not here (any more); send it with PutRequest"));
  }
  return found->second.text;
}

absl::StatusOr<std::shared_ptr<const std::string>> StagedRequests::TextOf(
    const std::string& request_json, const std::string& request_sha256) {
  if (request_sha256.empty()) return std::make_shared<const std::string>(request_json);
  if (!request_json.empty()) {
    return absl::InvalidArgumentError("a message holds its request or names it, not both");
  }
  return Get(request_sha256, MonotonicNow());
}

grpc::ServerReadReactor<v1::PutRequestChunk>* NewPutRequest(std::shared_ptr<StagedRequests> staged,
                                                            v1::PutRequestReply* reply) {
  return new PutRequest(std::move(staged), reply);
}

}  // namespace dynbench::control
