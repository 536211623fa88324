// Warns in the log, at once and then once a day, while a --tls folder's certificate ends within
// kWarnDays or is over. Reads the files each time, so that a renewed one ends the warnings.
#pragma once

#include <string>
#include <thread>

#include "common/base/mutex.h"
#include "common/base/time.h"

namespace dynbench::tls {

// What there is to say of the folder's certificates at `now`; empty: nothing.
std::string ExpiryText(const std::string& folder, UnixTimeMs now);

// One thread, which sleeps. With an empty folder none.
class ExpiryWatch {
 public:
  explicit ExpiryWatch(std::string folder);
  ~ExpiryWatch();
  ExpiryWatch(const ExpiryWatch&) = delete;
  ExpiryWatch& operator=(const ExpiryWatch&) = delete;

 private:
  void Run();

  const std::string folder_;
  Mutex mu_;
  CondVar stop_;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace dynbench::tls
