// Room on the file system of a path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace dynbench::worker {

// Bytes that a process without privileges may still write there; -1: not known (no such path).
inline int64_t FreeBytes(const std::string& path) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(path, error);
  return error ? -1 : static_cast<int64_t>(space.available);
}

}  // namespace dynbench::worker
