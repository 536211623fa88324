#include "worker/agent/session_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/mutex.h"
#include "common/base/time.h"
#include "common/tls/credentials.h"
#include "common/tls/diagnosis.h"
#include "proto/dynbench/reconnect.h"
#include "spdlog/spdlog.h"

namespace dynbench::worker {
namespace {

// A coordinator that moved is found under its name that soon, not after gRPC's 30 s.
constexpr int kLookUpAgainMs = 1'000;
// A failure to connect is looked into by a handshake of our own: not with every try, since a whole
// fleet tries.
constexpr int64_t kDiagnoseAgainNs = 30 * kNsPerSecond;
constexpr int64_t kDiagnoseLimitMs = 1'000;
constexpr int kFetchLimitS = 60;
constexpr size_t kLargestFileBytes = 64 << 20;

double Random() {
  static std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& coordinator, const std::string& tls) {
  grpc::ChannelArguments arguments;
  proto::SetReconnect(&arguments);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kLookUpAgainMs);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  return grpc::CreateCustomChannel(coordinator, tls::ChannelCredentials(tls), arguments);
}

}  // namespace

// One stream; calls back on gRPC's threads. Its owner keeps it until on_end has been called, so
// that the last to hold the channel (the stream's context does too) is never a thread of gRPC's,
// which would wait for itself to end.
class SessionClient::Stream
    : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage> {
 public:
  using OnMessage = std::function<void(v1::CoordinatorMessage)>;
  // `answered`: the coordinator has said something on this stream.
  using OnEnd = std::function<void(bool answered, std::string reason)>;

  Stream(OnMessage on_message, OnEnd on_end)
      : on_message_(std::move(on_message)), on_end_(std::move(on_end)) {}

  void Begin(v1::WorkerSession::Stub* stub) {
    stub->async()->Connect(&context_, this);
    StartRead(&incoming_);
    AddHold();  // for writes, which come from outside of reactions
    StartCall();
  }

  void Send(v1::WorkerMessage message) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (ended_) return;
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }

  void Cancel() { context_.TryCancel(); }

  bool flushed() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return outgoing_.empty() || ended_;
  }

  // Returns once no thread of gRPC's has anything of the stream.
  void Wait() { let_go_.wait(); }

  void OnReadDone(bool ok) override EXCLUDES(mu_) {
    if (ok) {
      answered_ = true;
      on_message_(std::move(incoming_));
      incoming_.Clear();
      StartRead(&incoming_);
      return;
    }
    bool release = false;
    {
      MutexLock lock(mu_);
      ended_ = true;
      release = outgoing_.empty();
    }
    context_.TryCancel();  // ends a write under way
    if (release) ReleaseHold();
  }

  void OnWriteDone(bool ok) override EXCLUDES(mu_) {
    bool release = false;
    {
      MutexLock lock(mu_);
      outgoing_.pop_front();
      if (!ok) ended_ = true;
      if (ended_) outgoing_.clear();
      if (!outgoing_.empty()) {
        StartWrite(&outgoing_.front());
        return;
      }
      release = ended_;
    }
    if (!ok) context_.TryCancel();
    if (release) ReleaseHold();
  }

  void OnDone(const grpc::Status& status) override {
    std::promise<void> let_go = std::move(let_go_promise_);  // the owner may be quicker
    const OnEnd on_end = std::move(on_end_);
    on_end(answered_, status.error_message().empty() ? "the coordinator ended the stream"
                                                     : status.error_message());
    let_go.set_value();
  }

 private:
  // Once, after the last write.
  void ReleaseHold() EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      if (released_) return;
      released_ = true;
    }
    RemoveHold();
  }

  const OnMessage on_message_;
  OnEnd on_end_;
  grpc::ClientContext context_;
  v1::CoordinatorMessage incoming_;
  bool answered_ = false;  // by reactions, which come one after the other
  mutable Mutex mu_;
  std::deque<v1::WorkerMessage> outgoing_ GUARDED_BY(mu_);
  bool ended_ GUARDED_BY(mu_) = false;
  bool released_ GUARDED_BY(mu_) = false;
  std::promise<void> let_go_promise_;
  const std::future<void> let_go_ = let_go_promise_.get_future();
};

SessionClient::SessionClient(EventLoop* loop, std::string coordinator, std::string tls,
                             Handlers handlers)
    : loop_(loop),
      coordinator_(std::move(coordinator)),
      tls_(std::move(tls)),
      handlers_(std::move(handlers)),
      channel_(MakeChannel(coordinator_, tls_)),
      stub_(v1::WorkerSession::NewStub(channel_)) {}

SessionClient::~SessionClient() {
  loop_->Cancel(reconnect_timer_);
  loop_->Cancel(silence_timer_);
  if (stream_) {
    stream_->Cancel();
    stream_->Wait();
  }
}

void SessionClient::Start() { Open(); }

void SessionClient::Open() {
  const int64_t generation = ++generation_;
  welcomed_ = false;
  last_heard_ns_ = MonotonicNow().ns;
  const auto post = [loop = loop_,
                     alive = std::weak_ptr<bool>(alive_)](std::function<void()> task) {
    loop->Post([alive, task = std::move(task)] {
      if (!alive.expired()) task();
    });
  };
  stream_ = std::make_unique<Stream>(
      [this, post, generation](v1::CoordinatorMessage message) {
        post([this, generation, message = std::move(message)]() mutable {
          OnMessage(generation, message);
        });
      },
      [this, post, generation](bool answered, std::string reason) {
        if (!answered) reason = LookIntoFailure(std::move(reason));
        post([this, generation, reason = std::move(reason)] { OnDone(generation, reason); });
      });
  stream_->Begin(stub_.get());
  v1::WorkerMessage hello;
  *hello.mutable_hello() = handlers_.hello();
  stream_->Send(std::move(hello));
  CheckSilence();
}

std::string SessionClient::LookIntoFailure(std::string reason) {
  // Nobody listens: no handshake would say more.
  if (reason.find("Connection refused") != std::string::npos) return reason;
  const int64_t now_ns = MonotonicNow().ns;
  if (diagnosed_ns_ != 0 && now_ns - diagnosed_ns_ < kDiagnoseAgainNs) {
    return cause_.empty() ? reason : cause_;
  }
  diagnosed_ns_ = now_ns;
  cause_ = tls::Diagnose(coordinator_, tls_, kDiagnoseLimitMs).cause;
  return cause_.empty() ? reason : cause_;
}

void SessionClient::Send(v1::WorkerMessage message) {
  if (welcomed_) stream_->Send(std::move(message));
}

bool SessionClient::flushed() const { return !welcomed_ || stream_->flushed(); }

void SessionClient::OnMessage(int64_t generation, const v1::CoordinatorMessage& message) {
  if (generation != generation_) return;
  last_heard_ns_ = MonotonicNow().ns;
  if (!message.has_welcome()) {
    if (welcomed_) handlers_.message(message);
    return;
  }
  const v1::Welcome& welcome = message.welcome();
  if (welcome.verdict() != v1::Welcome::REFUSED) {
    welcomed_ = true;
    failures_ = 0;
    if (welcome.beat_interval_ms() > 0) beat_interval_ms_ = welcome.beat_interval_ms();
  }
  handlers_.welcome(welcome);
}

void SessionClient::OnDone(int64_t generation, const std::string& reason) {
  if (generation != generation_) return;
  welcomed_ = false;
  stream_.reset();
  handlers_.lost(reason);
  const int64_t delay_ms = proto::ReconnectDelayMs(failures_++, Random());
  reconnect_timer_ = loop_->After(delay_ms, [this] { Open(); });
}

void SessionClient::CheckSilence() {
  loop_->Cancel(silence_timer_);
  if (!stream_) return;
  const int64_t limit_ms =
      welcomed_ ? proto::kMissedBeats * beat_interval_ms_ : proto::kWelcomeLimitMs;
  const int64_t silent_ms = (MonotonicNow().ns - last_heard_ns_) / kNsPerMs;
  if (silent_ms > limit_ms) {
    spdlog::warn("nothing heard of the coordinator for {} s; the stream is opened again",
                 silent_ms / 1000);
    stream_->Cancel();
    return;
  }
  silence_timer_ = loop_->After(std::max<int64_t>(limit_ms / 4, 100), [this] { CheckSilence(); });
}

absl::StatusOr<std::string> SessionClient::FetchFile(const std::string& sha256) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kFetchLimitS));
  v1::FetchFileRequest request;
  request.set_sha256(sha256);
  const auto reader = stub_->FetchFile(&context, request);
  std::string bytes;
  for (v1::FileChunk chunk; reader->Read(&chunk);) {
    bytes += chunk.data();
    if (bytes.size() > kLargestFileBytes) {
      context.TryCancel();
      return absl::ResourceExhaustedError(absl::StrCat("file ", sha256, " is over 64 MiB"));
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) {
    return absl::UnavailableError(
        absl::StrCat("file ", sha256, " could not be fetched: ", status.error_message()));
  }
  return bytes;
}

}  // namespace dynbench::worker
