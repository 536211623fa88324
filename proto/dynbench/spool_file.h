// A result as a file: what a worker keeps in its spool until it is acknowledged, and what
// `dynbenchctl import` delivers by hand. A first line with a magic word, the length and the SHA-256
// of the rest, then the serialised AttemptFinished.
#pragma once

#include <optional>
#include <string>

#include "dynbench/v1/session.pb.h"

namespace dynbench::proto {

std::string EncodeSpoolFile(const v1::AttemptFinished& finished);

// Nothing when the text is not whole: cut short, changed, or of something else.
std::optional<v1::AttemptFinished> DecodeSpoolFile(const std::string& text);

}  // namespace dynbench::proto
