// Who keeps the write-ahead log from being emptied: a process that reads an old state of the
// database holds a lock on a byte of the log's index (dynbench.db-shm), which the kernel lists.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dynbench::store {

struct WalReader {
  pid_t pid = 0;
  std::string name;  // of its program; empty: another user's, or of another container
};

// "process 123 (sqlite3), process 9 (python3)"; empty for none.
std::string Describe(const std::vector<WalReader>& readers);

// Those that read `database` now, this process among them when it does. Empty when nobody does, or
// where the kernel does not say.
std::vector<WalReader> WalReaders(const std::string& database);

// The processes that hold a read lock on the file with this inode in the text of /proc/locks. Pure.
std::vector<pid_t> ReadersIn(std::string_view locks, uint64_t inode);

// Bytes of the log; 0 when there is none.
int64_t WalBytes(const std::string& database);

}  // namespace dynbench::store
