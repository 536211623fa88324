// Environments of the fleet, as a simulated worker makes, installs and sends them.
#include <set>
#include <string>
#include <vector>

#include "common/base/sha256.h"
#include "tests/simulation/worker.h"

namespace dynbench::simulation {
namespace {

constexpr int64_t kSendObjectNs = 40 * kNsPerMs;

// The manifest first.
std::vector<std::string> ObjectsOf(const std::string& environment) {
  return {Sha256Hex(environment + " manifest"), Sha256Hex(environment + " one"),
          Sha256Hex(environment + " two")};
}

}  // namespace

// Made and installed at once: this is about the messages. An environment is a manifest and two
// objects.
void Worker::OnEnvironment(const v1::EnvironmentOrder& order) {
  v1::EnvironmentReport report;
  report.set_id(order.id());
  std::set<std::string>& objects = *coordinator_->objects();
  if (order.action() == "send") return SendObjects(order);
  if (order.action() == "remove") {
    made_.erase(order.id());
    report.set_state("removed");
    return TellEnvironment(std::move(report));
  }
  if (order.action() == "install" && made_.count(order.id()) == 0) {
    if (!coordinator_->up()) return;  // it is told again
    for (const std::string& object : ObjectsOf(order.id())) {
      if (objects.count(object) == 0) report.add_missing(object);
    }
    if (report.missing_size() > 0) {
      report.set_state("lacking");
      return TellEnvironment(std::move(report));
    }
  }
  if (order.action() == "build" && !coordinator_->up()) return;
  const std::string manifest = ObjectsOf(order.id()).front();
  if (order.action() == "build") objects.insert(manifest);
  made_[order.id()] = order.name();
  report.set_state("ready");
  report.set_manifest_sha256(manifest);
  report.set_hash(order.id());
  TellEnvironment(std::move(report));
}

// One object at a time, and again while the coordinator is away.
void Worker::SendObjects(const v1::EnvironmentOrder& order) {
  After(kSendObjectNs, [this, order] {
    v1::EnvironmentReport report;
    report.set_id(order.id());
    report.set_ask(order.ask());
    report.set_state(made_.count(order.id()) > 0 ? "sent" : "unable");
    if (!coordinator_->up()) return SendObjects(order);
    for (const std::string& object : order.sha256()) {
      if (report.state() == "sent" && coordinator_->objects()->insert(object).second) {
        return SendObjects(order);
      }
    }
    TellEnvironment(std::move(report));
  });
}

void Worker::TellEnvironment(v1::EnvironmentReport report) {
  v1::WorkerMessage message;
  *message.mutable_environment() = std::move(report);
  Send(std::move(message));
  TellEnvironments();
}

}  // namespace dynbench::simulation
