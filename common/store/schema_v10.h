// Step 10 of the schema: what made a result costly to write, moved out of its way.
//
// The plan of an experiment is ten times as long as the rest of its row, never changes, and was
// written again with every lease, start and result, since SQLite writes a changed row as a whole:
// it has a table of its own. The start of an attempt that nobody told is counted by the trigger
// that ends its experiment, not by a change of its own. And SQLite makes a table for every x IN
// ('a', 'b', …) of a CHECK each time that it is looked at: in the tables that are written for every
// result the same rules stand as x = 'a' OR x = 'b'.
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV10[] = R"sql(
CREATE TABLE experiment_plan (
  experiment INTEGER PRIMARY KEY REFERENCES experiment(id),
  plan TEXT NOT NULL
) STRICT;
INSERT INTO experiment_plan(experiment, plan) SELECT id, plan FROM experiment ORDER BY id;
ALTER TABLE experiment DROP COLUMN plan;

DROP TRIGGER result_ends_experiment;
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
  -- Its attempt is still as it was: RecordResult changes it after this.
  UPDATE experiment SET state = 'done', lease = NULL,
    attempts = attempts + (NEW.lease IS NOT NULL AND EXISTS
      (SELECT 1 FROM attempt WHERE experiment = NEW.experiment AND lease = NEW.lease
       AND state = 'leased'))
  WHERE id = NEW.experiment;
END;

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
  'CHECK (state IN (''running'', ''finished'', ''cancelled''))',
  'CHECK (state = ''running'' OR state = ''finished'' OR state = ''cancelled'')'),
  'CHECK (policy IN (''dynamic'', ''balanced'', ''static''))',
  'CHECK (policy = ''dynamic'' OR policy = ''balanced'' OR policy = ''static'')')
WHERE type = 'table' AND name = 'job';
UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state IN (''live'', ''closed''))',
  'CHECK (state = ''live'' OR state = ''closed'')')
WHERE type = 'table' AND name = 'lease';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(sql,
  'CHECK (mode IN (''inference'', ''training''))',
  'CHECK (mode = ''inference'' OR mode = ''training'')'),
  'CHECK (test IN (''performance'', ''accuracy'', ''tolerance'', ''batch_size''))',
  'CHECK (test = ''performance'' OR test = ''accuracy'' OR test = ''tolerance'''
  || ' OR test = ''batch_size'')'),
  'CHECK (precision IN (''float32'', ''bfloat16'', ''float16'', ''amp''))',
  'CHECK (precision = ''bfloat16'' OR precision = ''amp'' OR precision = ''float32'''
  || ' OR precision = ''float16'')'),
  'CHECK (start IN (''cold'', ''warm'', ''shared''))',
  'CHECK (start = ''cold'' OR start = ''warm'' OR start = ''shared'')'),
  'CHECK (state IN (''waiting'', ''running'', ''done''))',
  'CHECK (state = ''done'' OR state = ''waiting'' OR state = ''running'')')
WHERE type = 'table' AND name = 'experiment';
UPDATE sqlite_schema SET sql = replace(replace(sql,
  'CHECK (state IN (''leased'', ''running'', ''done'', ''superseded'', ''requeued''))',
  'CHECK (state = ''leased'' OR state = ''done'' OR state = ''running'' OR state = ''superseded'''
  || ' OR state = ''requeued'')'),
  'CHECK (cause IN ('''', ''crash'', ''infrastructure'', ''phase_limit''))',
  'CHECK (cause = '''' OR cause = ''crash'' OR cause = ''infrastructure'''
  || ' OR cause = ''phase_limit'')')
WHERE type = 'table' AND name = 'attempt';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql,
  'CHECK (outcome IN (''passed'', ''failed'', ''skipped'', ''lost'', ''cancelled''))',
  'CHECK (outcome = ''passed'' OR outcome = ''failed'' OR outcome = ''skipped'''
  || ' OR outcome = ''lost'' OR outcome = ''cancelled'')'),
  'CHECK (blame IN (''none'', ''model'', ''eager'', ''compiler'', ''infrastructure''))',
  'CHECK (blame = ''none'' OR blame = ''compiler'' OR blame = ''model'' OR blame = ''eager'''
  || ' OR blame = ''infrastructure'')'),
  'CHECK (start_proven IN (0, 1))', 'CHECK (start_proven = 0 OR start_proven = 1)'),
  substr(sql, instr(sql, 'CHECK (phase IN'),
         instr(substr(sql, instr(sql, 'CHECK (phase IN')), '))') + 1),
  'CHECK (phase = ''report'' OR phase = ''measure'' OR phase = ''verify'' OR phase = ''compile'''
  || ' OR phase = ''eager'' OR phase = ''load'' OR phase = ''reference'' OR phase = ''prepare'''
  || ' OR phase = ''ready'')')
WHERE type = 'table' AND name = 'result';
PRAGMA writable_schema = RESET;
)sql";

}  // namespace dynbench::store
