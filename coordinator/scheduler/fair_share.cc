#include "coordinator/scheduler/fair_share.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace dynbench::scheduler {

double FairShare::Faded(const Account& account, MonotonicTime now) const {
  const double half_lives =
      static_cast<double>(now - account.faded_at) / static_cast<double>(half_life_ns_);
  return account.used_s * std::exp2(-std::max(0.0, half_lives));
}

void FairShare::Promise(const std::string& user, double expected_s) {
  Account& account = accounts_[user];
  account.promised_s += expected_s;
  ++account.promises;
}

void FairShare::Settle(const std::string& user, double expected_s, double used_s,
                       MonotonicTime now) {
  Account& account = accounts_[user];
  CHECK_GT(account.promises, 0) << "nothing was promised to \"" << user << "\"";
  // Rounding must not leave a rest when nothing is promised.
  account.promised_s = --account.promises == 0 ? 0 : account.promised_s - expected_s;
  account.used_s = Faded(account, now) + used_s;
  account.faded_at = now;
}

double FairShare::Score(const std::string& user, MonotonicTime now) const {
  const auto it = accounts_.find(user);
  return it == accounts_.end() ? 0 : it->second.promised_s + Faded(it->second, now);
}

}  // namespace dynbench::scheduler
