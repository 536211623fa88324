// Step 3 of the schema: deadlines of jobs, labels and clocks of workers, what an operator decided
// about workers and slots, and where slot time went.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV3[] = R"sql(
ALTER TABLE job ADD COLUMN deadline_unix_ms INTEGER;
ALTER TABLE worker ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
ALTER TABLE worker ADD COLUMN clock_skew_ms INTEGER NOT NULL DEFAULT 0;

CREATE TABLE drain (
  worker TEXT PRIMARY KEY REFERENCES worker(id),
  reason TEXT NOT NULL CHECK (reason <> ''),
  deadline_unix_ms INTEGER NOT NULL,
  at_unix_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE quarantine (
  worker TEXT NOT NULL REFERENCES worker(id),
  slot INTEGER NOT NULL CHECK (slot >= 0),
  reason TEXT NOT NULL CHECK (reason <> ''),
  source TEXT NOT NULL CHECK (source IN ('operator', 'failures')),
  at_unix_ms INTEGER NOT NULL,
  PRIMARY KEY (worker, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE slot_span (
  worker TEXT NOT NULL REFERENCES worker(id),
  slot INTEGER NOT NULL CHECK (slot >= 0),
  since_unix_ms INTEGER NOT NULL,
  until_unix_ms INTEGER NOT NULL CHECK (until_unix_ms > since_unix_ms),
  reason TEXT NOT NULL CHECK (reason IN ('measuring', 'compiling', 'preparing', 'zygote_start',
                                         'waiting_for_window', 'cleaning', 'preflight', 'no_work',
                                         'quarantined', 'drained', 'disk_low', 'disconnected')),
  PRIMARY KEY (worker, slot, since_unix_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX slot_span_until ON slot_span(until_unix_ms);
CREATE TRIGGER slot_spans_do_not_overlap BEFORE INSERT ON slot_span
WHEN coalesce((SELECT until_unix_ms FROM slot_span
               WHERE worker = NEW.worker AND slot = NEW.slot AND since_unix_ms < NEW.since_unix_ms
               ORDER BY since_unix_ms DESC LIMIT 1), 0) > NEW.since_unix_ms
BEGIN
  SELECT raise(ABORT, 'a slot does one thing at a time');
END;

CREATE VIEW v_idle AS
SELECT s.worker, w.host AS worker_host, s.slot,
       date(s.since_unix_ms / 1000, 'unixepoch') AS day, s.reason,
       s.reason NOT IN ('measuring', 'compiling') AS idle,
       sum(s.until_unix_ms - s.since_unix_ms) / 1000.0 AS seconds
FROM slot_span s JOIN worker w ON w.id = s.worker
GROUP BY s.worker, s.slot, day, s.reason;
)sql";

}  // namespace dynbench::store
