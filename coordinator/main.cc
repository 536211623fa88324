// dynbench-coordinator: plans, schedules, stores, and serves workers, dynbenchctl and browsers.
//
// Exit codes: 0 stopped on request, 2 usage, 3 it cannot run here (the message says why).
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <string>
#include <tuple>

#include "CLI/CLI.hpp"
#include "common/base/durations.h"
#include "common/base/version.h"
#include "coordinator/acceptor.h"
#include "coordinator/server.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace dynbench {
namespace {

constexpr int kUsage = 2;
constexpr int kInfrastructure = 3;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultStateDir() {
  if (std::string dir = Variable("DYNBENCH_STATE_DIR"); !dir.empty()) return dir;
  std::string base = Variable("XDG_STATE_HOME");
  if (base.empty() && !Variable("HOME").empty()) base = Variable("HOME") + "/.local/state";
  return base.empty() ? "" : base + "/dynbench/coordinator";
}

// Blocked in every thread; main waits for them.
sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

int Main(int argc, char** argv) {
  ServerOptions options;
  options.state_dir = DefaultStateDir();
  double lease_ttl_s = 120, beat_s = 5;
  CLI::App app("Plans, schedules and stores the benchmarks of compiled PyTorch.",
               "dynbench-coordinator");
  app.add_option("--listen", options.listen, "HOST:PORT for workers and dynbenchctl; port 0: any")
      ->capture_default_str();
  app.add_option("--http", options.http,
                 "HOST:PORT for browsers and metrics (default: same host, next port)");
  app.add_option("--state-dir", options.state_dir,
                 "what must not be lost (default: $DYNBENCH_STATE_DIR, else the XDG state folder)");
  options.tls = Variable("DYNBENCH_TLS");
  app.add_option("--tls", options.tls,
                 "folder with ca.crt, tls.crt and tls.key: TLS, and only for those whom ca.crt "
                 "signed (default: $DYNBENCH_TLS, else no TLS)")
      ->type_name("DIR");
  app.add_flag("--insecure", options.insecure,
               "listen beyond this machine without TLS: whoever reaches the port can run code");
  app.add_option("--lease-ttl", lease_ttl_s, "seconds that a lease lives past the last beat")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  app.add_option("--beat", beat_s, "seconds between beats")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  double unplaceable_grace_s = 600;
  app.add_option("--unplaceable-grace", unplaceable_grace_s,
                 "seconds that experiments wait for a worker that could run them to become known")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  std::string retain_samples, retain_logs, retain_activity;
  app.add_option("--retain-samples", retain_samples,
                 "drop samples of results older than this (90d); results and figures stay")
      ->type_name("TIME");
  app.add_option("--retain-logs", retain_logs, "drop logs of attempts older than this")
      ->type_name("TIME");
  app.add_option("--retain-activity", retain_activity, "drop slot time and events older than this")
      ->type_name("TIME");
  app.set_version_flag("--version", std::string("dynbench-coordinator ") + kVersion);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt("coordinator"));
  if (lease_ttl_s < 3 * beat_s) {
    spdlog::error(
        "--lease-ttl {} is shorter than three beats of {} s: leases would end while "
        "their workers live; make it longer",
        lease_ttl_s, beat_s);
    return kUsage;
  }
  options.dispatcher.lease_ttl_ns = static_cast<int64_t>(lease_ttl_s * kNsPerSecond);
  options.dispatcher.unplaceable_grace_ns =
      static_cast<int64_t>(unplaceable_grace_s * kNsPerSecond);
  options.dispatcher.beat_interval_ns = static_cast<int64_t>(beat_s * kNsPerSecond);

  RaiseDescriptorLimit();
  for (const auto& [text, flag, kept_ms] :
       {std::tuple(&retain_samples, "--retain-samples", &options.retention.samples_ms),
        std::tuple(&retain_logs, "--retain-logs", &options.retention.logs_ms),
        std::tuple(&retain_activity, "--retain-activity", &options.retention.activity_ms)}) {
    if (text->empty()) continue;
    const auto parsed = ParseDurationMs(*text, flag);
    if (!parsed.ok() || *parsed == 0) {
      spdlog::error("{}", parsed.ok() ? std::string(flag) + ": 0 would drop everything"
                                      : std::string(parsed.status().message()));
      return kUsage;
    }
    *kept_ms = *parsed;
  }

  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // what matters is said in our own words
  auto server = Server::Start(options);
  if (!server.ok()) {
    spdlog::error("{}", std::string(server.status().message()));
    return absl::IsInvalidArgument(server.status()) ? kUsage : kInfrastructure;
  }
  int signal_number = 0;
  sigwait(&signals, &signal_number);
  spdlog::info("stops on {}", signal_number == SIGTERM ? "SIGTERM" : "SIGINT");
  server->reset();
  return 0;
}

}  // namespace
}  // namespace dynbench

int main(int argc, char** argv) { return dynbench::Main(argc, argv); }
