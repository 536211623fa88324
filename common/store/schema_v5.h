// Step 5 of the schema: what the window of a measurement was like.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV5[] = R"sql(
ALTER TABLE result ADD COLUMN launch_canary_us REAL;
ALTER TABLE result ADD COLUMN host_canary_us REAL;
ALTER TABLE result ADD COLUMN canary_spread REAL;
ALTER TABLE result ADD COLUMN canary_waits INTEGER;
ALTER TABLE result ADD COLUMN eager_device_busy_ms REAL;
ALTER TABLE result ADD COLUMN compiled_device_busy_ms REAL;
ALTER TABLE result ADD COLUMN window_wait_s REAL;
ALTER TABLE result ADD COLUMN autotune_windows INTEGER;
ALTER TABLE result ADD COLUMN autotune_s REAL;
ALTER TABLE result ADD COLUMN window_foreign_load REAL;
ALTER TABLE result ADD COLUMN window_repeats INTEGER;
ALTER TABLE result ADD COLUMN device_clock_mhz REAL;
ALTER TABLE result ADD COLUMN device_throttle_reasons INTEGER;

CREATE VIEW v_windows AS
SELECT e.job, e.id AS experiment, e.suite, e.model, e.mode, e.test, e.configuration, e.precision,
       e.device, e.series, r.outcome, r.status, r.cores, r.threads,
       r.launch_canary_us, r.host_canary_us, r.canary_spread, r.canary_waits,
       r.eager_device_busy_ms, r.compiled_device_busy_ms, r.window_wait_s, r.autotune_windows, r.autotune_s,
       r.window_foreign_load, r.window_repeats, r.device_clock_mhz, r.device_throttle_reasons,
       r.eager_spread, r.compiled_spread, r.notes, l.worker, l.slot
FROM experiment e
JOIN result r ON r.experiment = e.id
LEFT JOIN lease l ON l.epoch = coalesce(r.lease, e.lease)
WHERE e.test = 'performance';
)sql";

}  // namespace dynbench::store
