// Replacing a file as a whole, so that it survives a crash of the process or of the machine.
//
// Thread-safe: no state.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace dynbench {

inline constexpr mode_t kPrivateFile = 0600;
inline constexpr mode_t kReadableByAll = 0666;  // less the caller's umask, as any other output

// `path` holds `bytes` afterwards, or what it held before: a temporary file beside it, fsync,
// rename, fsync of the folder. After OK the bytes are on disk. Errors name the path and the
// system's reason: NotFound (no such folder), ResourceExhausted (disk or limit full),
// PermissionDenied, else Unavailable.
absl::Status WriteFileDurably(const std::string& path, std::string_view bytes,
                              mode_t mode = kPrivateFile);

// Makes what was done to the entries of `folder` durable.
absl::Status SyncFolder(const std::string& folder);

// Status of the system's last error (errno) about `path`, with the codes above.
absl::Status FileError(const std::string& path);

}  // namespace dynbench
