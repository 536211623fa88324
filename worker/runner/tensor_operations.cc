#include "worker/runner/tensor_operations.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <optional>

namespace dynbench::runner {
namespace {

std::atomic<int64_t> g_operations{0};
std::optional<at::CallbackHandle> g_handle;

std::unique_ptr<at::ObserverContext> Count(const at::RecordFunction&) {
  ++g_operations;
  return nullptr;
}

}  // namespace

void CountTensorOperations() {
  g_handle =
      at::addGlobalCallback(at::RecordFunctionCallback(&Count).scopes({at::RecordScope::FUNCTION}));
}

int64_t TensorOperations() { return g_operations; }
void ResetTensorOperations() { g_operations = 0; }

void StopCountingTensorOperations() {
  if (g_handle) at::removeCallback(*g_handle);
  g_handle.reset();
}

}  // namespace dynbench::runner
