// Who has had how much: slot-seconds per submitter, used and promised. Submitters of equal priority
// are served in the order of their score, the lowest first, so that over time they get equal shares
// of the slots, whoever submitted more and whoever came first. What was used fades (half of it
// counts after `half_life_ns`): a share is of the present, not of the year. Private to the
// scheduler. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/time.h"

namespace dynbench::scheduler {

class FairShare {
 public:
  explicit FairShare(int64_t half_life_ns) : half_life_ns_(half_life_ns) {}

  // An experiment was leased: what it is expected to take counts at once, else all slots that are
  // free at one moment would go to one submitter.
  void Promise(const std::string& user, double expected_s);
  // It is leased no longer; `used_s` of slot time were spent on it.
  void Settle(const std::string& user, double expected_s, double used_s, MonotonicTime now);

  // Slot-seconds, promised and used (faded).
  double Score(const std::string& user, MonotonicTime now) const;

 private:
  struct Account {
    double promised_s = 0;
    int64_t promises = 0;
    double used_s = 0;  // as of `faded_at`
    MonotonicTime faded_at;
  };
  double Faded(const Account& account, MonotonicTime now) const;

  const int64_t half_life_ns_;
  std::map<std::string, Account> accounts_;
};

}  // namespace dynbench::scheduler
