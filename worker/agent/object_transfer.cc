#include "worker/agent/object_transfer.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "proto/dynbench/keepalive.h"

namespace dynbench::worker {
namespace {

constexpr size_t kObjectsOfCall = 500;
constexpr int64_t kBytesOfCall = int64_t{64} << 20;
constexpr size_t kDigestsOfCall = 5'000;
constexpr std::chrono::milliseconds kPause{500};
// A call that lasts so much longer than its bytes on the slowest link that is of use is dead,
// whatever TCP says. An object begins anew with its call, so the limit grows with it.
constexpr std::chrono::minutes kCallLimit{30};
constexpr int64_t kSlowestBytesOfSecond = int64_t{256} << 10;
constexpr int64_t kLargestUnknown = int64_t{4} << 30;  // a wheel

absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

// What this host's own disk says must not be taken for a coordinator that is away: that is waited
// for.
absl::Status OfThisHost(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::InternalError(absl::StrCat("on this host: ", std::string(status.message())));
}

// Where a call ends that begins at `first`.
size_t EndOfBatch(const std::vector<ObjectToMove>& objects, size_t first) {
  int64_t bytes = 0;
  size_t end = first;
  while (end < objects.size() && end - first < kObjectsOfCall && bytes < kBytesOfCall) {
    bytes += std::max<int64_t>(objects[end++].size_bytes, 0);
  }
  return end;
}

int64_t BytesOf(const std::vector<ObjectToMove>& objects, size_t first, size_t end) {
  int64_t bytes = 0;
  for (size_t i = first; i < end; ++i) {
    bytes += objects[i].size_bytes == kAnySize ? kLargestUnknown : objects[i].size_bytes;
  }
  return bytes;
}

}  // namespace

class ObjectTransfer::Call {
 public:
  explicit Call(ObjectTransfer* transfer, int64_t bytes = 0) : transfer_(transfer) {
    context_.set_deadline(std::chrono::system_clock::now() + kCallLimit +
                          std::chrono::seconds(bytes / kSlowestBytesOfSecond));
    MutexLock lock(transfer_->mu_);
    transfer_->context_ = &context_;
    if (transfer_->cancelled_) context_.TryCancel();
  }
  ~Call() {
    MutexLock lock(transfer_->mu_);
    transfer_->context_ = nullptr;
  }
  grpc::ClientContext* context() { return &context_; }

 private:
  ObjectTransfer* const transfer_;
  grpc::ClientContext context_;
};

void ObjectTransfer::Cancel() {
  MutexLock lock(mu_);
  cancelled_ = true;
  if (context_ != nullptr) context_->TryCancel();
  wake_.NotifyAll();
}

absl::Status ObjectTransfer::Again(const std::function<absl::Status()>& once) {
  std::string told;
  while (true) {
    absl::Status status = once();
    if (cancelled_) return absl::CancelledError("the worker is stopping");
    if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status) &&
        !absl::IsCancelled(status)) {
      return status;
    }
    if (again_ != nullptr && told != status.message()) again_(status);
    told = std::string(status.message());
    MutexLock lock(mu_);
    if (!cancelled_) wake_.WaitFor(mu_, kPause);
  }
}

absl::Status ObjectTransfer::FindMissing(const std::vector<ObjectToMove>& objects,
                                         std::vector<ObjectToMove>* missing) {
  missing->clear();
  for (size_t first = 0; first < objects.size(); first += kDigestsOfCall) {
    const size_t end = std::min(objects.size(), first + kDigestsOfCall);
    v1::FindObjectsRequest request;
    v1::FindObjectsReply reply;
    std::map<std::string, const ObjectToMove*> asked;
    for (size_t i = first; i < end; ++i) {
      request.add_sha256(objects[i].sha256);
      asked[objects[i].sha256] = &objects[i];
    }
    Call call(this);
    const grpc::Status status = stub_->FindObjects(call.context(), request, &reply);
    if (!status.ok()) return FromGrpc(status);
    for (const std::string& digest : reply.missing()) {
      const auto found = asked.find(digest);
      if (found == asked.end()) continue;
      missing->push_back(*found->second);
      asked.erase(found);  // one of several files with this content
    }
  }
  return absl::OkStatus();
}

absl::Status ObjectTransfer::Missing(const std::vector<ObjectToMove>& objects,
                                     std::vector<ObjectToMove>* missing) {
  return Again([&] { return FindMissing(objects, missing); });
}

absl::Status ObjectTransfer::SendBatch(const std::vector<ObjectToMove>& objects, size_t first,
                                       size_t end) {
  Call call(this, BytesOf(objects, first, end));
  v1::PutObjectsReply reply;
  const auto writer = stub_->PutObjects(call.context(), &reply);
  v1::ObjectPieces pieces;
  size_t bytes = 0;
  bool open = true;
  const auto flush = [&] {
    if (pieces.pieces_size() > 0) open = writer->Write(pieces);
    pieces.Clear();
    bytes = 0;
  };
  for (size_t i = first; i < end && open; ++i) {
    std::ifstream file(objects[i].path, std::ios::binary);
    if (!file) {
      call.context()->TryCancel();
      writer->Finish();
      return absl::DataLossError(absl::StrCat(objects[i].path, " cannot be read"));
    }
    for (bool last = false; !last && open;) {
      v1::ObjectPiece& piece = *pieces.add_pieces();
      piece.set_sha256(objects[i].sha256);
      std::string& data = *piece.mutable_data();
      data.resize(proto::kChunkBytes - bytes);
      file.read(data.data(), static_cast<std::streamsize>(data.size()));
      data.resize(static_cast<size_t>(file.gcount()));
      bytes += data.size();
      last = file.eof() || file.peek() == std::ifstream::traits_type::eof();
      piece.set_last(last);
      if (bytes >= proto::kChunkBytes || pieces.pieces_size() >= 1'000) flush();
    }
  }
  if (open) flush();
  writer->WritesDone();
  return FromGrpc(writer->Finish());
}

absl::Status ObjectTransfer::Send(const std::vector<ObjectToMove>& objects,
                                  const Progress& progress) {
  std::vector<ObjectToMove> missing;
  int64_t bytes = 0;
  return Again([&]() -> absl::Status {
    RETURN_IF_ERROR(FindMissing(objects, &missing));
    const size_t had = objects.size() - missing.size();
    for (size_t first = 0; first < missing.size();) {
      const size_t end = EndOfBatch(missing, first);
      RETURN_IF_ERROR(SendBatch(missing, first, end));
      for (size_t i = first; i < end; ++i) bytes += std::max<int64_t>(missing[i].size_bytes, 0);
      first = end;
      progress(static_cast<int64_t>(had + end), static_cast<int64_t>(objects.size()), bytes);
    }
    return absl::OkStatus();
  });
}

absl::Status ObjectTransfer::FetchBatch(const std::vector<ObjectToMove>& objects, size_t first,
                                        size_t end) {
  Call call(this, BytesOf(objects, first, end));
  v1::FetchObjectsRequest request;
  std::map<std::string, bool> executable;
  for (size_t i = first; i < end; ++i) {
    request.add_sha256(objects[i].sha256);
    executable[objects[i].sha256] = objects[i].executable;
  }
  const auto reader = stub_->FetchObjects(call.context(), request);
  std::unique_ptr<ObjectWriter> writer;
  absl::Status stored = absl::OkStatus();
  const auto take = [&](const v1::ObjectPiece& piece) -> absl::Status {
    if (writer == nullptr) {
      const auto wanted = executable.find(piece.sha256());
      if (wanted == executable.end()) return absl::DataLossError("another object came");
      ASSIGN_OR_RETURN(writer, ObjectWriter::Begin(store_->folder(), piece.sha256(),
                                                   ObjectStore::Variant(wanted->second),
                                                   wanted->second ? 0555 : 0444));
    }
    RETURN_IF_ERROR(writer->Add(piece.data()));
    if (!piece.last()) return absl::OkStatus();
    const std::unique_ptr<ObjectWriter> whole = std::move(writer);
    return whole->Finish();
  };
  for (v1::ObjectPieces pieces; stored.ok() && reader->Read(&pieces);) {
    for (const v1::ObjectPiece& piece : pieces.pieces()) {
      stored = OfThisHost(take(piece));
      if (!stored.ok()) break;
    }
  }
  if (!stored.ok()) call.context()->TryCancel();
  const grpc::Status status = reader->Finish();
  return stored.ok() ? FromGrpc(status) : stored;
}

absl::Status ObjectTransfer::Fetch(const std::vector<ObjectToMove>& objects,
                                   const Progress& progress) {
  int64_t bytes = 0;
  return Again([&]() -> absl::Status {
    std::vector<ObjectToMove> missing;
    std::map<std::string, bool> seen;
    for (const ObjectToMove& object : objects) {
      const ManifestFile file = {"", object.executable, object.size_bytes, object.sha256};
      if (store_->HasWhole(file) || !seen.emplace(object.sha256, true).second) continue;
      missing.push_back(object);
    }
    const size_t had = objects.size() - missing.size();
    for (size_t first = 0; first < missing.size();) {
      const size_t end = EndOfBatch(missing, first);
      RETURN_IF_ERROR(FetchBatch(missing, first, end));
      for (size_t i = first; i < end; ++i) bytes += std::max<int64_t>(missing[i].size_bytes, 0);
      first = end;
      progress(static_cast<int64_t>(had + end), static_cast<int64_t>(objects.size()), bytes);
    }
    return absl::OkStatus();
  });
}

}  // namespace dynbench::worker
