// Step 1 of the schema. Frozen with the first release; docs/schema.md explains it.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV1[] = R"sql(
PRAGMA application_id = 1685679714;

CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  applied_unix_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  idempotency_key TEXT UNIQUE CHECK (idempotency_key <> ''),
  suite TEXT NOT NULL,
  label TEXT NOT NULL,
  user TEXT NOT NULL,
  request TEXT NOT NULL,
  policy TEXT NOT NULL CHECK (policy IN ('dynamic', 'balanced', 'static')),
  priority INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled')),
  cancel_requested_unix_ms INTEGER,
  cancel_reason TEXT NOT NULL DEFAULT '',
  retries INTEGER REFERENCES job(id),
  planned INTEGER NOT NULL CHECK (planned >= 0),
  passed INTEGER NOT NULL DEFAULT 0 CHECK (passed >= 0),
  failed INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
  skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped >= 0),
  lost INTEGER NOT NULL DEFAULT 0 CHECK (lost >= 0),
  cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
  running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
  submitted_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER,
  CHECK (passed + failed + skipped + lost + cancelled + running <= planned),
  CHECK ((state = 'running') = (finished_unix_ms IS NULL)),
  CHECK (state = 'running' OR passed + failed + skipped + lost + cancelled = planned)
) STRICT;
CREATE INDEX job_open ON job(id) WHERE state = 'running';

CREATE TABLE partition (
  job INTEGER NOT NULL REFERENCES job(id),
  number INTEGER NOT NULL CHECK (number >= 0),
  experiments INTEGER NOT NULL CHECK (experiments > 0),
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE fingerprint (
  hash TEXT PRIMARY KEY,
  inventory TEXT NOT NULL,
  first_seen_unix_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE worker (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  host TEXT NOT NULL,
  version TEXT NOT NULL,
  fingerprint TEXT NOT NULL REFERENCES fingerprint(hash),
  environments TEXT NOT NULL,
  first_seen_unix_ms INTEGER NOT NULL,
  last_seen_unix_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE slot (
  worker TEXT NOT NULL REFERENCES worker(id),
  number INTEGER NOT NULL CHECK (number >= 0),
  device TEXT NOT NULL,
  PRIMARY KEY (worker, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  hash TEXT PRIMARY KEY CHECK (hash <> ''),
  torch_version TEXT NOT NULL,
  details TEXT NOT NULL,
  first_seen_unix_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE worker_environment (
  worker TEXT NOT NULL REFERENCES worker(id),
  name TEXT NOT NULL,
  environment TEXT NOT NULL REFERENCES environment(hash),
  PRIMARY KEY (worker, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
  epoch INTEGER PRIMARY KEY AUTOINCREMENT CHECK (epoch > 0),
  worker TEXT NOT NULL REFERENCES worker(id),
  slot INTEGER NOT NULL CHECK (slot >= 0),
  fingerprint TEXT NOT NULL REFERENCES fingerprint(hash),
  state TEXT NOT NULL CHECK (state IN ('live', 'closed')),
  granted_unix_ms INTEGER NOT NULL,
  closed_unix_ms INTEGER,
  CHECK ((state = 'live') = (closed_unix_ms IS NULL))
) STRICT;
CREATE UNIQUE INDEX lease_one_live_a_slot ON lease(worker, slot) WHERE state = 'live';
CREATE TRIGGER lease_epochs_increase BEFORE INSERT ON lease
WHEN NEW.epoch <= coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'lease'), 0)
BEGIN
  SELECT raise(ABORT, 'lease epochs strictly increase');
END;
CREATE TRIGGER lease_epoch_is_fixed BEFORE UPDATE OF epoch, worker, slot ON lease
BEGIN
  SELECT raise(ABORT, 'a lease keeps its epoch and its slot');
END;

CREATE TABLE experiment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL REFERENCES job(id),
  suite TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('inference', 'training')),
  test TEXT NOT NULL CHECK (test IN ('performance', 'accuracy')),
  configuration TEXT NOT NULL,
  precision TEXT NOT NULL CHECK (precision IN ('float32', 'bfloat16', 'float16', 'amp')),
  device TEXT NOT NULL,
  environment TEXT NOT NULL,
  profile TEXT NOT NULL,
  start TEXT NOT NULL CHECK (start IN ('cold', 'warm', 'shared')),
  series TEXT NOT NULL,
  partition INTEGER NOT NULL,
  plan TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done')),
  lease INTEGER REFERENCES lease(epoch),
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  retries INTEGER REFERENCES experiment(id),
  CHECK (state <> 'done' OR lease IS NULL),
  CHECK (state <> 'running' OR lease IS NOT NULL),
  FOREIGN KEY (job, partition) REFERENCES partition(job, number)
) STRICT;
CREATE INDEX experiment_of_job ON experiment(job);
CREATE INDEX experiment_of_series ON experiment(series);
CREATE INDEX experiment_of_model ON experiment(suite, model);
CREATE INDEX experiment_open ON experiment(job) WHERE state <> 'done';
CREATE INDEX experiment_of_lease ON experiment(lease) WHERE lease IS NOT NULL;

CREATE TABLE attempt (
  experiment INTEGER NOT NULL REFERENCES experiment(id),
  lease INTEGER NOT NULL REFERENCES lease(epoch),
  environment TEXT REFERENCES environment(hash),
  state TEXT NOT NULL CHECK (state IN ('leased', 'running', 'done', 'superseded', 'requeued')),
  reason TEXT NOT NULL DEFAULT '',
  started_unix_ms INTEGER,
  finished_unix_ms INTEGER,
  received_unix_ms INTEGER,
  evidence TEXT,
  PRIMARY KEY (experiment, lease)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_of_lease ON attempt(lease);

CREATE TABLE result (
  experiment INTEGER PRIMARY KEY REFERENCES experiment(id),
  lease INTEGER,
  outcome TEXT NOT NULL CHECK (outcome IN ('passed', 'failed', 'skipped', 'lost', 'cancelled')),
  status TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('prepare', 'load', 'eager', 'reference', 'compile', 'ready',
                                       'measure', 'verify', 'report')),
  blame TEXT NOT NULL CHECK (blame IN ('none', 'model', 'eager', 'compiler', 'infrastructure')),
  error TEXT NOT NULL,
  detail TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  exit_signal INTEGER NOT NULL,
  batch_size INTEGER NOT NULL,
  weights TEXT NOT NULL,
  threads INTEGER NOT NULL,
  cores TEXT NOT NULL,
  accuracy_rule TEXT NOT NULL,
  accuracy_function_hash TEXT NOT NULL,
  speedup REAL,
  abs_latency_ms REAL,
  eager_latency_ms REAL,
  compilation_latency_s REAL,
  compile_synchronized_s REAL,
  compression_ratio REAL,
  eager_peak_memory_bytes REAL,
  compiled_peak_memory_bytes REAL,
  eager_phase_peak_bytes REAL,
  compiled_phase_peak_bytes REAL,
  eager_spread REAL,
  compiled_spread REAL,
  calls_captured INTEGER,
  unique_graphs INTEGER,
  fallbacks_to_eager INTEGER,
  graph_breaks INTEGER,
  unique_graph_breaks INTEGER,
  autograd_captures INTEGER,
  autograd_compiles INTEGER,
  cudagraph_skips INTEGER,
  accuracy_distance REAL,
  accuracy_tolerance REAL,
  accuracy_multiplier REAL,
  phases BLOB NOT NULL CHECK (length(phases) % 24 = 0),
  cache_files_before INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL,
  cache_misses INTEGER NOT NULL,
  start_proven INTEGER NOT NULL CHECK (start_proven IN (0, 1)),
  in_force TEXT NOT NULL,
  notes TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER NOT NULL,
  received_unix_ms INTEGER NOT NULL,
  FOREIGN KEY (experiment, lease) REFERENCES attempt(experiment, lease)
) STRICT;

CREATE TABLE sample (
  experiment INTEGER PRIMARY KEY REFERENCES result(experiment),
  eager_ns BLOB NOT NULL CHECK (length(eager_ns) % 8 = 0),
  compiled_ns BLOB NOT NULL CHECK (length(compiled_ns) % 8 = 0)
) STRICT;

CREATE TABLE artifact (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('log', 'file')),
  experiment INTEGER REFERENCES experiment(id),
  lease INTEGER,
  sha256 TEXT,
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes = length(bytes)),
  bytes BLOB NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  FOREIGN KEY (experiment, lease) REFERENCES attempt(experiment, lease),
  CHECK (kind <> 'log' OR (experiment IS NOT NULL AND lease IS NOT NULL)),
  CHECK (kind <> 'file' OR length(sha256) = 64)
) STRICT;
CREATE UNIQUE INDEX artifact_log_of_attempt ON artifact(experiment, lease) WHERE kind = 'log';
CREATE UNIQUE INDEX artifact_file ON artifact(sha256) WHERE kind = 'file';

CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind <> ''),
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  at_unix_ms INTEGER NOT NULL
) STRICT;

-- The counters of a job follow its experiments whoever writes them, so that the coverage equation
-- is a constraint (job's CHECKs) and a job's status costs one row.
CREATE TRIGGER experiment_starts_or_waits AFTER UPDATE OF state ON experiment
WHEN NEW.state <> 'done' AND NEW.state <> OLD.state
BEGIN
  UPDATE job SET running = running + (NEW.state = 'running') - (OLD.state = 'running')
  WHERE id = NEW.job;
END;
CREATE TRIGGER experiment_stays_done BEFORE UPDATE OF state ON experiment
WHEN OLD.state = 'done' AND NEW.state <> 'done'
BEGIN
  SELECT raise(ABORT, 'an experiment with a result stays done');
END;
CREATE TRIGGER experiment_done_needs_result BEFORE UPDATE OF state ON experiment
WHEN NEW.state = 'done' AND OLD.state <> 'done'
  AND NOT EXISTS (SELECT 1 FROM result WHERE experiment = NEW.id)
BEGIN
  SELECT raise(ABORT, 'an experiment is done only by its result');
END;
CREATE TRIGGER result_ends_experiment AFTER INSERT ON result
BEGIN
  UPDATE job SET
    passed = passed + (NEW.outcome = 'passed'),
    failed = failed + (NEW.outcome = 'failed'),
    skipped = skipped + (NEW.outcome = 'skipped'),
    lost = lost + (NEW.outcome = 'lost'),
    cancelled = cancelled + (NEW.outcome = 'cancelled'),
    running = running - (SELECT state = 'running' FROM experiment WHERE id = NEW.experiment),
    state = CASE
      WHEN passed + failed + skipped + lost + cancelled + 1 < planned THEN 'running'
      WHEN cancel_requested_unix_ms IS NOT NULL THEN 'cancelled'
      ELSE 'finished' END,
    finished_unix_ms = CASE
      WHEN passed + failed + skipped + lost + cancelled + 1 < planned THEN NULL
      ELSE NEW.received_unix_ms END
  WHERE id = (SELECT job FROM experiment WHERE id = NEW.experiment);
  UPDATE experiment SET state = 'done', lease = NULL WHERE id = NEW.experiment;
END;
CREATE TRIGGER result_is_terminal BEFORE UPDATE ON result
BEGIN
  SELECT raise(ABORT, 'a result is never changed');
END;

CREATE VIEW v_coverage AS
SELECT id AS job, suite, label, state, planned, passed, failed, skipped, lost, cancelled,
       planned - passed - failed - skipped - lost - cancelled - running AS waiting, running
FROM job;

CREATE VIEW v_results AS
SELECT e.job, e.id AS experiment, e.suite, e.model, e.mode, e.test, e.configuration, e.precision,
       e.device, e.environment, e.profile, e.start, e.series, e.partition, e.state, e.attempts,
       r.outcome, r.status, r.phase, r.blame, r.error, r.batch_size, r.weights, r.threads, r.cores,
       r.speedup, r.abs_latency_ms, r.eager_latency_ms, r.compilation_latency_s,
       r.compile_synchronized_s, r.compression_ratio, r.eager_peak_memory_bytes,
       r.compiled_peak_memory_bytes, r.eager_phase_peak_bytes, r.compiled_phase_peak_bytes,
       r.eager_spread, r.compiled_spread, r.calls_captured, r.unique_graphs, r.fallbacks_to_eager,
       r.graph_breaks, r.unique_graph_breaks, r.autograd_captures, r.autograd_compiles,
       r.cudagraph_skips, r.accuracy_distance, r.accuracy_tolerance, r.accuracy_multiplier,
       r.accuracy_rule, r.start_proven, r.notes, w.id AS worker, w.host AS worker_host, l.slot,
       l.epoch AS lease, l.fingerprint, a.environment AS environment_hash, v.torch_version,
       r.started_unix_ms, r.finished_unix_ms, r.received_unix_ms
FROM experiment e
LEFT JOIN result r ON r.experiment = e.id
LEFT JOIN lease l ON l.epoch = coalesce(r.lease, e.lease)
LEFT JOIN worker w ON w.id = l.worker
LEFT JOIN attempt a ON a.experiment = e.id AND a.lease = l.epoch
LEFT JOIN environment v ON v.hash = a.environment;

CREATE VIEW v_join AS
SELECT p.job, p.suite, p.model, p.mode, p.configuration, p.precision, p.device, p.environment,
       p.start, p.outcome, p.status, a.outcome AS accuracy_outcome, a.status AS accuracy,
       p.batch_size, p.speedup, p.abs_latency_ms, p.eager_latency_ms, p.compilation_latency_s,
       p.compression_ratio
FROM v_results p
LEFT JOIN v_results a ON a.job = p.job AND a.test = 'accuracy' AND a.suite = p.suite
  AND a.model = p.model AND a.mode = p.mode AND a.configuration = p.configuration
  AND a.precision = p.precision AND a.device = p.device AND a.environment = p.environment
  AND a.profile = p.profile AND a.start = p.start
WHERE p.test = 'performance';

CREATE VIEW v_history AS
SELECT series, suite, model, mode, test, configuration, precision, device, start, job, experiment,
       environment, environment_hash, torch_version, worker, worker_host, outcome, status, speedup,
       abs_latency_ms, eager_latency_ms, compilation_latency_s, compile_synchronized_s,
       compression_ratio, finished_unix_ms
FROM v_results
WHERE outcome IS NOT NULL;
)sql";

}  // namespace dynbench::store
