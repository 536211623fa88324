// Ten nights of one suite on three hosts alike, for the verbs that look over nights.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace dynbench::golden {

// Jobs 1 to 10 with label "nightly", 16 models each, spread over hosts bench-1, bench-2 and
// bench-3:
//   - bench-3 is twice as slow as the others in latency and compile time, and five of its attempts
//     in the last nights were infrastructure failures;
//   - in the last night vit_small compiles four minutes longer and resnet18 was tried twice;
//   - the accuracy of ghostnet_100 passes in every other night, in the last it does not; that of
//     resnet18 fails in the last night for the first time.
absl::Status SeedNights(const std::string& path);

}  // namespace dynbench::golden
