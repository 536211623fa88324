// CHECK: what must hold or the program is wrong. Prints file, line, condition and message, then
// aborts, in every build. Operating errors are absl::Status, never CHECK; a failed model is data.
//
// Own code since Debian 12's Abseil (20220623) has no absl/log.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace dynbench::internal {

// Collects the streamed message and aborts when it is destroyed.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    stream_ << file << ':' << line << ": CHECK failed: " << condition << ' ';
  }
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure() {
    std::fputs((stream_.str() + "\n").c_str(), stderr);
    std::fflush(stderr);
    std::abort();
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace dynbench::internal

#define CHECK(condition)                                   \
  if (__builtin_expect(static_cast<bool>(condition), 1)) { \
  } else /* NOLINT */                                      \
    ::dynbench::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()
#define CHECK_EQ(a, b) CHECK((a) == (b))
#define CHECK_NE(a, b) CHECK((a) != (b))
#define CHECK_GE(a, b) CHECK((a) >= (b))
#define CHECK_GT(a, b) CHECK((a) > (b))
#define CHECK_LE(a, b) CHECK((a) <= (b))
#define CHECK_LT(a, b) CHECK((a) < (b))
