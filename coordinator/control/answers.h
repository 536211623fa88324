// How the verbs of the control API answer: on the query pool, never on a thread of gRPC. Private to
// the service.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "coordinator/control/context.h"
#include "coordinator/session/page_stream.h"
#include "coordinator/session/rpc_status.h"

namespace dynbench::control {

// A unary verb that only asks: runs on the query pool and finishes the call with its status.
inline grpc::ServerUnaryReactor* Answer(const Context& context, grpc::CallbackServerContext* call,
                                        std::function<absl::Status(store::Database&)> verb) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  const absl::Status queued =
      context.pool->Run([reactor, verb = std::move(verb)](store::Database& db) {
        reactor->Finish(session::ToGrpc(verb(db)));
      });
  if (!queued.ok()) reactor->Finish(session::ToGrpc(queued));
  return reactor;
}

// A unary verb that changes something: finishes the call itself.
inline grpc::ServerUnaryReactor* Change(
    const Context& context, grpc::CallbackServerContext* call,
    std::function<void(store::Database&, grpc::ServerUnaryReactor*)> verb) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  const absl::Status queued = context.pool->Run(
      [reactor, verb = std::move(verb)](store::Database& db) { verb(db, reactor); });
  if (!queued.ok()) reactor->Finish(session::ToGrpc(queued));
  return reactor;
}

// Streams what `load` answers, a message each.
template <typename Message>
grpc::ServerWriteReactor<Message>* Stream(
    const Context& context,
    std::function<absl::StatusOr<std::vector<Message>>(store::Database&)> load) {
  struct State {
    std::vector<Message> messages;
    size_t next = 0;
    bool loaded = false;
  };
  auto state = std::make_shared<State>();
  return new session::PageStream<Message>(
      context.pool,
      [state, load = std::move(load)](store::Database& db,
                                      Message* out) -> absl::StatusOr<session::Page> {
        if (!std::exchange(state->loaded, true)) {
          ASSIGN_OR_RETURN(state->messages, load(db));
        }
        if (state->next == state->messages.size()) return session::Page::kNone;
        *out = std::move(state->messages[state->next++]);
        return state->next == state->messages.size() ? session::Page::kLast : session::Page::kMore;
      });
}

}  // namespace dynbench::control
