// Step 7 of the schema: why an attempt went back, where it counts for what becomes of its
// experiment, so that a restart of the coordinator forgives nothing twice.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV7[] = R"sql(
ALTER TABLE attempt ADD COLUMN cause TEXT NOT NULL DEFAULT ''
  CHECK (cause IN ('', 'crash', 'infrastructure', 'phase_limit'));
CREATE INDEX attempt_that_counts ON attempt(experiment) WHERE cause <> '';
)sql";

}  // namespace dynbench::store
