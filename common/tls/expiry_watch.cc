#include "common/tls/expiry_watch.h"

#include <chrono>
#include <utility>

#include "common/tls/folder.h"
#include "spdlog/spdlog.h"

namespace dynbench::tls {
namespace {

constexpr std::chrono::hours kEvery{24};

}  // namespace

std::string ExpiryText(const std::string& folder, UnixTimeMs now) {
  for (const std::string& path : {CertificateFile(folder), AuthorityFile(folder)}) {
    const auto certificate = ReadCertificate(path);
    if (!certificate.ok()) return std::string(certificate.status().message());
    if (std::string text = ValidityText(*certificate, path, now); !text.empty()) return text;
  }
  return "";
}

ExpiryWatch::ExpiryWatch(std::string folder) : folder_(std::move(folder)) {
  if (!folder_.empty()) thread_ = std::thread([this] { Run(); });
}

ExpiryWatch::~ExpiryWatch() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void ExpiryWatch::Run() {
  const MutexLock lock(mu_);
  while (!stopping_) {
    if (const std::string text = ExpiryText(folder_, UnixNow()); !text.empty()) {
      spdlog::warn("TLS: {}", text);
    }
    stop_.WaitFor(mu_, kEvery);
  }
}

}  // namespace dynbench::tls
