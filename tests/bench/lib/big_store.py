"""A store with many results, with the schema and rows of the real coordinator: one job is run through
it by the load generator, then its rows are copied as further jobs, night after night."""
import os
import sqlite3

from coordinator_side import MODELS_MAX, Coordinator, Load


def columns(db, table: str, skip=()) -> list:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in skip]


def copy(db, table: str, shifted: dict) -> None:
    """Copies the template's rows (`job` = 1, so all rows of the table) `shifted` by expressions over
    n, the number of the copy."""
    names = columns(db, table)
    values = ", ".join(shifted.get(name, f"t.{name}") for name in names)
    db.execute(f"INSERT INTO {table}({', '.join(names)}) SELECT {values} FROM copies, template_{table} t")


def multiply(path: str, jobs: int) -> None:
    """Makes `jobs` jobs out of the one in the store at `path`. Constraints hold at the end as they did
    at the beginning; the triggers, which keep them for every single row, are set aside meanwhile."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY;")
    size = db.execute("SELECT count(*) FROM experiment").fetchone()[0]
    leases = db.execute("SELECT max(epoch) FROM lease").fetchone()[0]
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    db.execute("BEGIN")
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("CREATE TEMP TABLE copies AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL"
               f" SELECT n + 1 FROM c WHERE n + 1 < {jobs}) SELECT n FROM c")
    tables = ["job", "request", "partition", "lease", "experiment", "experiment_plan",
              "attempt", "result", "sample"]
    for table in tables:
        db.execute(f"CREATE TEMP TABLE template_{table} AS SELECT * FROM main.{table}")
    of_experiment = f"t.experiment + n * {size}"
    of_lease = f"t.lease + n * {leases}"
    copy(db, "job", {"id": "t.id + n", "idempotency_key": "NULL"})
    copy(db, "request", {"job": "t.job + n"})
    copy(db, "partition", {"job": "t.job + n"})
    copy(db, "lease", {"epoch": f"t.epoch + n * {leases}"})
    copy(db, "experiment", {"id": f"t.id + n * {size}", "job": "t.job + n"})
    copy(db, "experiment_plan", {"experiment": of_experiment})
    copy(db, "attempt", {"experiment": of_experiment, "lease": of_lease})
    copy(db, "result", {"experiment": of_experiment, "lease": of_lease})
    copy(db, "sample", {"experiment": of_experiment})
    for _, sql in triggers:
        db.execute(sql)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    faults = db.execute("PRAGMA foreign_key_check").fetchall()
    if faults:
        raise SystemExit(f"bench: the copied store breaks its constraints: {faults[:3]}")
    db.close()


def make(folder: str, results: int) -> int:
    """A coordinator's state below `folder`, with about `results` results in jobs of at most
    MODELS_MAX. Returns how many there are."""
    models = min(results, MODELS_MAX)
    coordinator = Coordinator(folder)
    try:
        coordinator.submit(models)
        Load(coordinator, workers=min(100, models), results=models).summary()
    finally:
        coordinator.close()
    jobs = max(1, results // models)
    multiply(os.path.join(coordinator.state, "dynbench.db"), jobs)
    return jobs * models
