#include "worker/agent/messages.h"

#include "worker/host/core_set.h"

namespace dynbench::worker {

v1::Environment ToProto(const Environment& environment) {
  const EnvironmentFacts& f = environment.facts;
  v1::Environment message;
  message.set_name(environment.name);
  message.set_python(f.python);
  message.set_python_version(f.python_version);
  message.set_torch_version(f.torch_version);
  message.set_torch_git(f.torch_git);
  message.set_hash(environment.hash);
  message.set_id(environment.id);
  message.set_libraries(EnvironmentHash(environment.files));
  for (const auto& [name, version] : f.packages) (*message.mutable_packages())[name] = version;
  for (const std::string& device : f.devices) message.add_devices(device);
  for (const std::string& suite : f.suites) message.add_suites(suite);
  for (const std::string& word : f.capabilities) message.add_capabilities(word);
  return message;
}

v1::Slot ToProto(const SlotShape& shape, const SlotBlock& block) {
  v1::Slot message;
  message.set_index(shape.index);
  message.set_device(shape.device);
  message.set_device_name(shape.device_name);
  message.set_device_uuid(shape.device_uuid);
  message.set_cores(FormatCoreSet(shape.cores));
  message.set_memory_bytes(shape.memory_bytes);
  message.set_accepting(block.state.empty());
  message.set_reason(block.reason);
  message.set_state(block.state);
  message.set_lanes(shape.lanes);
  return message;
}

void TakePhaseLimits(const std::vector<v1::PhaseLimit>& limits, AttemptSpec* spec) {
  for (const v1::PhaseLimit& limit : limits) {
    const auto phase = plan::ParsePhase(limit.phase());
    if (!phase || limit.limit_ms() <= 0) continue;  // of a newer coordinator
    spec->phase_limits_ms[*phase] = limit.limit_ms();
    // Learned from rows of the series without such a target, too.
    if (*phase == plan::Phase::kMeasure) {
      spec->phase_limits_ms[*phase] += spec->experiment.precision_budget_ms;
    }
    spec->phase_limit_origins[*phase] = limit.origin();
  }
}

}  // namespace dynbench::worker
