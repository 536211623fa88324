// Proof that no tensor operation ran: a count of the operator calls of this process.
//
// One parallel operation in a zygote and the first one of a child hangs (libgomp does not survive a
// fork), so the zygote counts and asserts zero before it forks. Thread-safe.
#pragma once

#include <cstdint>

namespace dynbench::runner {

// Starts counting every operator that goes through torch's dispatcher.
void CountTensorOperations();
int64_t TensorOperations();
void ResetTensorOperations();
// In a child: no operator pays for the counting any more.
void StopCountingTensorOperations();

}  // namespace dynbench::runner
