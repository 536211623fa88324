// Step 9 of the schema: environments that dynbench makes for the fleet.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV9[] = R"sql(
CREATE TABLE fleet_environment (
  id TEXT PRIMARY KEY CHECK (length(id) = 64),
  name TEXT NOT NULL CHECK (name <> ''),
  kind TEXT NOT NULL CHECK (kind IN ('built', 'derived')),
  state TEXT NOT NULL CHECK (state IN ('making', 'ready', 'failed', 'removed')),
  reason TEXT NOT NULL,                -- why it failed or was removed
  origin TEXT NOT NULL,                -- JSON: the recipe, or the base and the patch
  builder TEXT NOT NULL,               -- the worker that makes or made it
  deaths INTEGER NOT NULL,             -- of that worker, while it made it
  manifest TEXT NOT NULL,              -- SHA-256 of the object that lists its files
  hash TEXT NOT NULL,                  -- as in environment.hash
  libraries TEXT NOT NULL,             -- hash of the torch libraries alone
  torch_version TEXT NOT NULL,
  files INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  log BLOB NOT NULL,                   -- the end of what the build wrote
  created_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER NOT NULL,   -- 0: not yet
  CHECK (state <> 'ready' OR (length(manifest) = 64 AND hash <> ''))
) STRICT;
CREATE UNIQUE INDEX fleet_environment_name ON fleet_environment(name) WHERE state = 'ready';

CREATE TABLE fleet_environment_worker (
  environment TEXT NOT NULL REFERENCES fleet_environment(id),
  worker TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('ready', 'failed', 'unfit')),
  reason TEXT NOT NULL,
  at_unix_ms INTEGER NOT NULL,
  PRIMARY KEY (environment, worker)
) STRICT;
)sql";

}  // namespace dynbench::store
