// Helpers around absl::Status. An operating error says what failed, the rule it broke and the next
// step; the code decides the exit code of dynbenchctl (tools/dynbenchctl/exit_code.h).
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#define DYNBENCH_CONCAT_(a, b) a##b
#define DYNBENCH_CONCAT(a, b) DYNBENCH_CONCAT_(a, b)

// Returns from the enclosing function when `expression` is not ok.
#define RETURN_IF_ERROR(expression)                    \
  do {                                                 \
    ::absl::Status dynbench_status = (expression);     \
    if (!dynbench_status.ok()) return dynbench_status; \
  } while (false)

// ASSIGN_OR_RETURN(auto x, Compute()): declares x, or returns the error.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_(DYNBENCH_CONCAT(dynbench_or_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(holder, declaration, expression) \
  auto holder = (expression);                              \
  if (!holder.ok()) return std::move(holder).status();     \
  declaration = *std::move(holder)

namespace dynbench {

// The same error with `context` and a colon put before its message.
inline absl::Status Annotate(const absl::Status& status, const std::string& context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", std::string(status.message())));
}

}  // namespace dynbench
