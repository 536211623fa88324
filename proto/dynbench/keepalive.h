// The keepalive settings of both ends of a worker's stream. They are a pair: a client that pings
// more often than the server permits is cut off with GOAWAY "too_many_pings", so both are here and
// checked against each other when this is compiled. docs/protocol.md explains them.
#pragma once

namespace dynbench::proto {

// Worker: a ping after this long without data from the coordinator (beats normally come sooner).
inline constexpr int kWorkerKeepaliveTimeMs = 20'000;
// Coordinator: likewise in the other direction.
inline constexpr int kCoordinatorKeepaliveTimeMs = 30'000;
// Either end: the connection is dead when a ping is not answered within this time.
inline constexpr int kKeepaliveTimeoutMs = 10'000;
// Coordinator: pings that come sooner than this after one another count as strikes.
inline constexpr int kLeastPingIntervalMs = 10'000;

static_assert(kWorkerKeepaliveTimeMs > kLeastPingIntervalMs,
              "a worker would be cut off with too_many_pings");

// Chunks of files and logs, and the receive limit: one result with its log (1 MiB), samples and
// detail fits with room to spare; everything larger is paged.
inline constexpr int kChunkBytes = 256 << 10;
inline constexpr int kReceiveLimitBytes = 8 << 20;

}  // namespace dynbench::proto
