#include "tools/dynbenchctl/client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "absl/strings/numbers.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/tls/credentials.h"
#include "common/tls/diagnosis.h"
#include "common/tls/folder.h"
#include "proto/dynbench/keepalive.h"

namespace dynbench::cli {
namespace {

std::chrono::system_clock::time_point In(int64_t ms) {
  return std::chrono::system_clock::now() + std::chrono::milliseconds(ms);
}

absl::Status NotThere(const std::string& address, const std::string& tls) {
  if (const std::string cause = tls::Diagnose(address, tls, kDiagnoseTimeoutMs).cause;
      !cause.empty()) {
    return absl::UnavailableError(cause);
  }
  return absl::UnavailableError("no coordinator answers at " + address +
                                ": is it running? dynbenchctl local up");
}

}  // namespace

absl::Status CheckAddress(const std::string& address, const std::string& source) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 || port > 65535) {
    return absl::InvalidArgumentError(source + " '" + address +
                                      "': wants HOST:PORT with a port from 1 to 65535, e.g. "
                                      "127.0.0.1:7411");
  }
  return absl::OkStatus();
}

Client::Client(std::string address, std::string tls, std::shared_ptr<grpc::Channel> channel)
    : address_(std::move(address)),
      tls_(std::move(tls)),
      channel_(std::move(channel)),
      stub_(v1::Control::NewStub(channel_)) {}

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const std::string& address,
                                                        const std::string& tls) {
  RETURN_IF_ERROR(CheckAddress(address, "--coordinator"));
  if (!tls.empty()) RETURN_IF_ERROR(tls::CheckFolder(tls, UnixNow()));
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // a proxy has no way to a loopback address
  // Notices a coordinator that vanished without a word.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, proto::kWorkerKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, proto::kKeepaliveTimeoutMs);
  arguments.SetMaxReceiveMessageSize(proto::kReceiveLimitBytes);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  auto channel = grpc::CreateCustomChannel(address, tls::ChannelCredentials(tls), arguments);
  const auto deadline = In(kConnectTimeoutMs);
  grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
  while (state != GRPC_CHANNEL_READY) {
    // A refused connection is an answer: nobody listens, and waiting longer says nothing new.
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN ||
        !channel->WaitForStateChange(state, deadline)) {
      return NotThere(address, tls);
    }
    state = channel->GetState(true);
  }
  return std::unique_ptr<Client>(new Client(address, tls, std::move(channel)));
}

absl::StatusOr<std::string> Client::PutRequest(const std::string& json) {
  const auto call = NewCall(kLargeCallTimeoutMs);
  v1::PutRequestReply reply;
  const auto writer = stub_->PutRequest(call.get(), &reply);
  for (size_t sent = 0; sent < json.size(); sent += proto::kChunkBytes) {
    v1::PutRequestChunk chunk;
    chunk.set_data(json.substr(sent, proto::kChunkBytes));
    if (!writer->Write(chunk)) break;
  }
  writer->WritesDone();
  RETURN_IF_ERROR(Annotate(FromGrpc(writer->Finish()), "sending the request"));
  return reply.sha256();
}

std::unique_ptr<grpc::ClientContext> Client::NewCall(int64_t timeout_ms) {
  auto context = std::make_unique<grpc::ClientContext>();
  if (timeout_ms > 0) context->set_deadline(In(timeout_ms));
  return context;
}

absl::Status Client::FromGrpc(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) return NotThere(address_, tls_);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::DeadlineExceededError("the coordinator at " + address_ +
                                       " did not answer in time; see dynbenchctl doctor");
  }
  const std::string message = status.error_message();
  if (message.find("http2 header with status") != std::string::npos) {
    return absl::UnavailableError("what answers at " + address_ +
                                  " is no coordinator of dynbench; check --coordinator (the web "
                                  "page has another port)");
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), message);
}

}  // namespace dynbench::cli
