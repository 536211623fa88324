// Step 6 of the schema: what A/A runs have shown of the noise of a series on a host.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV6[] = R"sql(
CREATE TABLE noise_floor (
  series TEXT NOT NULL,              -- as in experiment.series
  worker_host TEXT NOT NULL,         -- the machine that it holds for
  metric TEXT NOT NULL,              -- as in compare --metric
  between_variance REAL NOT NULL,    -- of the logarithm of a process's figure, between processes
  degrees_of_freedom REAL NOT NULL,
  within_variance REAL NOT NULL,     -- of that logarithm, from one process's own samples
  processes INTEGER NOT NULL,
  job INTEGER NOT NULL REFERENCES job(id),  -- the A/A run
  measured_unix_ms INTEGER NOT NULL,
  PRIMARY KEY (series, worker_host, metric)
) STRICT;
)sql";

}  // namespace dynbench::store
