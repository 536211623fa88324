// Why processes of one build differ on a CPU, where it is their heaps: glibc gives a call's memory
// back to the kernel and takes it again in the next one. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/judge/pairing.h"
#include "common/judge/verdict.h"

namespace dynbench::judge {

// Names the models with an `unknown` latency or speedup whose calls spend a share of their time in
// page faults that matters (docs/quiet-hosts.md), measured with the default profile, and the
// profile that takes the faults away. Empty: there are none.
std::string PageFaultNote(const Pairing& pairing, const std::vector<Judgement>& judgements);

}  // namespace dynbench::judge
