#include "common/store/wal_readers.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace dynbench::store {
namespace {

// Bytes of the index that readers lock: WAL_READ_LOCK(0) to (4) of SQLite's WAL-index format
// (https://www.sqlite.org/walformat.html, "Locks"): 120 + 3 and the four after it.
constexpr int64_t kFirstReadLock = 123;
constexpr int64_t kLastReadLock = 127;

std::string NameOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

std::string Describe(const std::vector<WalReader>& readers) {
  std::string text;
  for (const WalReader& reader : readers) {
    text += (text.empty() ? "" : ", ") + std::string("process ") + std::to_string(reader.pid);
    if (!reader.name.empty()) text += " (" + reader.name + ")";
  }
  return text;
}

// "1: POSIX  ADVISORY  READ  1234 08:01:5678 123 123"; a waiter has "->" after its number.
std::vector<pid_t> ReadersIn(std::string_view locks, uint64_t inode) {
  std::vector<pid_t> pids;
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, file, first, last;
    pid_t pid = 0;
    if (!(words >> number >> kind >> mode >> access >> pid >> file >> first >> last)) continue;
    const size_t colon = file.rfind(':');
    if (colon == std::string::npos || access != "READ" || last == "EOF" || pid <= 0) continue;
    if (std::strtoull(file.c_str() + colon + 1, nullptr, 10) != inode) continue;
    const int64_t from = std::strtoll(first.c_str(), nullptr, 10);
    const int64_t to = std::strtoll(last.c_str(), nullptr, 10);
    if (to < kFirstReadLock || from > kLastReadLock) continue;
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
  }
  return pids;
}

std::vector<WalReader> WalReaders(const std::string& database) {
  struct stat info {};
  if (stat((database + "-shm").c_str(), &info) != 0) return {};
  std::ifstream file("/proc/locks");
  const std::string locks{std::istreambuf_iterator<char>(file), {}};
  std::vector<WalReader> readers;
  for (const pid_t pid : ReadersIn(locks, info.st_ino)) readers.push_back({pid, NameOf(pid)});
  return readers;
}

int64_t WalBytes(const std::string& database) {
  struct stat info {};
  return stat((database + "-wal").c_str(), &info) == 0 ? info.st_size : 0;
}

}  // namespace dynbench::store
