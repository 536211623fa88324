#include "coordinator/session/object_calls.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "coordinator/session/page_stream.h"
#include "coordinator/session/rpc_status.h"
#include "proto/dynbench/keepalive.h"

namespace dynbench::session {
namespace {

constexpr int kDigestsOfCall = 10'000;

// What the coordinator's own disk says must not look like a coordinator that is away: whoever sends
// would try again for ever.
absl::Status OfThisHost(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::InternalError(absl::StrCat("on the coordinator: ", std::string(status.message())));
}

absl::Status CheckDigests(const google::protobuf::RepeatedPtrField<std::string>& digests) {
  if (digests.size() > kDigestsOfCall) {
    return absl::InvalidArgumentError(
        absl::StrCat(digests.size(), " digests in one call; at most ", kDigestsOfCall));
  }
  for (const std::string& digest : digests) {
    if (!IsSha256Hex(digest)) return absl::InvalidArgumentError("not the SHA-256 of an object");
  }
  return absl::OkStatus();
}

// A write into the page cache and a hash of 256 KiB at a time: short enough for gRPC's thread.
class PutObjects : public grpc::ServerReadReactor<v1::ObjectPieces> {
 public:
  PutObjects(const ObjectFolder* objects, v1::PutObjectsReply* reply)
      : objects_(objects), reply_(reply) {
    StartRead(&pieces_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const bool whole = writer_ == nullptr;
      writer_.reset();
      if (cancelled_) return Finish(grpc::Status::CANCELLED);
      return Finish(whole ? grpc::Status::OK
                          : ToGrpc(absl::DataLossError("the last object was cut off")));
    }
    for (const v1::ObjectPiece& piece : pieces_.pieces()) {
      const absl::Status stored = OfThisHost(Take(piece));
      if (stored.ok()) continue;
      writer_.reset();
      return Finish(ToGrpc(stored));
    }
    StartRead(&pieces_);
  }

  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  absl::Status Take(const v1::ObjectPiece& piece) {
    if (writer_ == nullptr) {
      auto writer = ObjectWriter::Begin(*objects_, piece.sha256());
      if (!writer.ok()) return writer.status();
      writer_ = *std::move(writer);
      sha256_ = piece.sha256();
    } else if (piece.sha256() != sha256_) {
      return absl::InvalidArgumentError("an object begins before the one before it has ended");
    }
    absl::Status status = writer_->Add(piece.data());
    if (!status.ok() || !piece.last()) return status;
    status = writer_->Finish();
    writer_.reset();
    if (status.ok()) reply_->set_stored(reply_->stored() + 1);
    return status;
  }

  const ObjectFolder* const objects_;
  v1::PutObjectsReply* const reply_;
  v1::ObjectPieces pieces_;
  std::string sha256_;
  std::unique_ptr<ObjectWriter> writer_;
  std::atomic<bool> cancelled_{false};
};

// What is left to send of a FetchObjects.
struct Sending {
  std::vector<std::string> digests;
  size_t next = 0;
  std::ifstream file;
  std::unique_ptr<Sha256> hash;  // of the one that is open
};

// An object that a power cut damaged must not stay: it would look as if it were there.
absl::Status CheckWhole(const ObjectFolder& objects, const std::string& digest, Sha256& hash) {
  if (hash.Hex() == digest) return absl::OkStatus();
  unlink(objects.PathOf(digest).c_str());
  return absl::DataLossError(absl::StrCat("object ", digest, " of the coordinator was damaged and ",
                                          "is removed; ask again (dynbenchctl env build, derive)"));
}

absl::StatusOr<Page> FillPage(const ObjectFolder& objects, Sending& sending,
                              v1::ObjectPieces* page) {
  size_t room = proto::kChunkBytes;
  while (sending.next < sending.digests.size() && room > 0) {
    const std::string& digest = sending.digests[sending.next];
    if (sending.hash == nullptr) {
      sending.file = std::ifstream(objects.PathOf(digest), std::ios::binary);
      if (!sending.file) {
        return absl::NotFoundError(absl::StrCat("the coordinator has no object ", digest,
                                                "; build the environment again"));
      }
      sending.hash = std::make_unique<Sha256>();
    }
    v1::ObjectPiece& piece = *page->add_pieces();
    piece.set_sha256(digest);
    std::string& data = *piece.mutable_data();
    data.resize(room);
    sending.file.read(data.data(), static_cast<std::streamsize>(room));
    data.resize(static_cast<size_t>(sending.file.gcount()));
    room -= data.size();
    sending.hash->Add(data);
    if (sending.file.bad()) {
      return absl::InternalError(absl::StrCat("object ", digest, " cannot be read"));
    }
    if (!sending.file.eof() && sending.file.peek() != std::ifstream::traits_type::eof()) continue;
    RETURN_IF_ERROR(CheckWhole(objects, digest, *sending.hash));
    piece.set_last(true);
    sending.hash.reset();
    ++sending.next;
  }
  return sending.next == sending.digests.size() ? Page::kLast : Page::kMore;
}

}  // namespace

grpc::Status FindObjects(const ObjectFolder& objects, const v1::FindObjectsRequest& request,
                         v1::FindObjectsReply* reply) {
  if (const absl::Status good = CheckDigests(request.sha256()); !good.ok()) return ToGrpc(good);
  for (const std::string& digest : request.sha256()) {
    if (!objects.Has(digest)) reply->add_missing(digest);
  }
  return grpc::Status::OK;
}

grpc::ServerReadReactor<v1::ObjectPieces>* NewPutObjects(const ObjectFolder* objects,
                                                         v1::PutObjectsReply* reply) {
  return new PutObjects(objects, reply);
}

grpc::ServerWriteReactor<v1::ObjectPieces>* NewFetchObjects(
    const ObjectFolder* objects, QueryPool* pool, const v1::FetchObjectsRequest& request) {
  auto sending = std::make_shared<Sending>();
  const absl::Status good = CheckDigests(request.sha256());
  sending->digests = {request.sha256().begin(), request.sha256().end()};
  return new PageStream<v1::ObjectPieces>(
      pool,
      [objects, sending, good](store::Database&, v1::ObjectPieces* page) -> absl::StatusOr<Page> {
        if (!good.ok()) return good;
        if (sending->digests.empty()) return Page::kNone;
        return FillPage(*objects, *sending, page);
      });
}

}  // namespace dynbench::session
