// What every verb of the control API works with. All pointers outlive the service.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/object_folder.h"
#include "common/plan/catalog.h"
#include "coordinator/control/staged_requests.h"
#include "coordinator/ingest/ingest.h"
#include "coordinator/session/change_feed.h"
#include "coordinator/session/dispatcher.h"
#include "coordinator/session/predictions.h"
#include "coordinator/session/query_pool.h"

namespace dynbench::control {

struct Context {
  session::Dispatcher* dispatcher = nullptr;
  ingest::Ingest* ingest = nullptr;
  session::QueryPool* pool = nullptr;
  session::ChangeFeed* feed = nullptr;
  session::Predictions* predictions = nullptr;
  const plan::Catalog* catalog = nullptr;
  const ObjectFolder* objects = nullptr;  // content of environments
  std::string database;                   // path
  std::string http_address;               // host:port
  int64_t started_unix_ms = 0;
  std::shared_ptr<StagedRequests> staged = std::make_shared<StagedRequests>();
};

// Rows of one message of a streamed list.
inline constexpr int64_t kPageRows = 200;
// A page is also cut at about this size, so that rows with samples stay far below gRPC's 4 MB.
inline constexpr size_t kPageBytes = 1 << 20;

}  // namespace dynbench::control
