// The connection to a coordinator's control API (proto/dynbench/v1/control.proto).
//
// Thread-compatible. Every call has a deadline or is a stream that the server ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dynbench/v1/control.grpc.pb.h"

namespace dynbench::cli {

// How long dynbenchctl looks for a coordinator before it says that none is there. Below the three
// seconds that docs/cli.md promises, with time for the process itself.
inline constexpr int64_t kConnectTimeoutMs = 2000;
// And how long it then looks for the cause.
inline constexpr int64_t kDiagnoseTimeoutMs = 600;
// A unary call on a loaded coordinator; streams have no limit but the caller's.
inline constexpr int64_t kCallTimeoutMs = 30'000;
// A request of more than kLargeRequestBytes goes in chunks before its call, and what the call does
// with so many experiments takes its time, on a loaded machine minutes.
inline constexpr size_t kLargeRequestBytes = 1 << 20;
inline constexpr int64_t kLargeCallTimeoutMs = 600'000;

class Client {
 public:
  // `tls`: folder with certificates (common/tls/folder.h); empty: no TLS. InvalidArgument: not
  // HOST:PORT, a folder that cannot be used. Unavailable: nothing answers there within
  // kConnectTimeoutMs, or what TLS is not content with, in words.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& address,
                                                         const std::string& tls);

  v1::Control::Stub& stub() { return *stub_; }
  const std::string& address() const { return address_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // A context with a deadline from now; 0: none.
  static std::unique_ptr<grpc::ClientContext> NewCall(int64_t timeout_ms = kCallTimeoutMs);

  // Puts a request's JSON into `message` (SubmitRequest, SimulateRequest), or sends it before and
  // puts its name. Returns how long the call may take.
  template <typename Message>
  absl::StatusOr<int64_t> SetRequest(std::string json, Message* message) {
    if (json.size() <= kLargeRequestBytes) {
      message->set_request_json(std::move(json));
      return kCallTimeoutMs;
    }
    auto sha256 = PutRequest(json);
    if (!sha256.ok()) return sha256.status();
    message->set_request_sha256(*std::move(sha256));
    return kLargeCallTimeoutMs;
  }

  // The same code and message; Unavailable says what to do.
  absl::Status FromGrpc(const grpc::Status& status) const;

  // Runs a unary method: Call(&Stub::GetInfo, request) -> reply.
  template <typename Request, typename Reply>
  absl::StatusOr<Reply> Call(grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*,
                                                                       const Request&, Reply*),
                             const Request& request, int64_t timeout_ms = kCallTimeoutMs) {
    const auto context = NewCall(timeout_ms);
    Reply reply;
    const grpc::Status status = (stub_.get()->*method)(context.get(), request, &reply);
    if (!status.ok()) return FromGrpc(status);
    return reply;
  }

 private:
  // In chunks; its SHA-256.
  absl::StatusOr<std::string> PutRequest(const std::string& json);

  Client(std::string address, std::string tls, std::shared_ptr<grpc::Channel> channel);

  std::string address_;
  std::string tls_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Control::Stub> stub_;
};

// OK when `address` is HOST:PORT with a port from 1 to 65535; `source` names the flag in messages.
absl::Status CheckAddress(const std::string& address, const std::string& source);

}  // namespace dynbench::cli
