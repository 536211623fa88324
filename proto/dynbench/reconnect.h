// How a worker comes back to a coordinator that it lost: of the worker and of the bench that stands
// in for thousands of them. docs/protocol.md explains it.
#pragma once

#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cstdint>

#include "proto/dynbench/keepalive.h"

namespace dynbench::proto {

inline constexpr int kFirstReconnectDelayMs = 100;
// Short, since a coordinator that is back must be dispatching within 2 s.
inline constexpr int kLastReconnectDelayMs = 1'000;
// gRPC calls it a back-off, but it is the limit of one attempt to connect (a refusal ends it at
// once). When a whole fleet comes back together, a handshake waits for its turn, and one that is
// given up before has cost both sides their time for nothing: with less than the fleet needs, the
// attempts that are given up keep the others from ever being done.
inline constexpr int kConnectLimitMs = 20'000;
// A coordinator that misses this many beats is not there, whatever TCP says.
inline constexpr int64_t kMissedBeats = 4;
// Until Welcome: the coordinator may wait for the end of this worker's former stream.
inline constexpr int64_t kWelcomeLimitMs = 30'000;

static_assert(kWelcomeLimitMs > kConnectLimitMs, "a stream waits for its connection");

// How long to wait before the next try: doubles from 100 ms to 1 s, half of it drawn by `random`
// (0 … 1), so that a fleet does not return in step. A restarted coordinator is found within 1 s.
inline int64_t ReconnectDelayMs(int failures, double random) {
  const int64_t whole =
      std::min(kLastReconnectDelayMs, kFirstReconnectDelayMs << std::min(failures, 10));
  return whole / 2 + static_cast<int64_t>(random * static_cast<double>(whole) / 2);
}

// What concerns connecting, and keeping alive, in a worker's channel.
inline void SetReconnect(grpc::ChannelArguments* arguments) {
  arguments->SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kWorkerKeepaliveTimeMs);
  arguments->SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments->SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectDelayMs);
  arguments->SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectLimitMs);
  arguments->SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectDelayMs);
  // A proxy of the environment is for the outside; the coordinator is ours.
  arguments->SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
}

}  // namespace dynbench::proto
