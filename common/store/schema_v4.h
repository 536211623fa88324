// Step 4 of the schema: the request of a job in a table of its own. Every result changes its job's
// counters, and SQLite writes a changed row as a whole: with a suite file of ten thousand models
// inside the request that was 700 KB for each result (170 results a second).
#pragma once

namespace dynbench::store {

inline constexpr char kSchemaV4[] = R"sql(
CREATE TABLE request (
  job INTEGER PRIMARY KEY REFERENCES job(id),
  text TEXT NOT NULL
) STRICT;
INSERT INTO request(job, text) SELECT id, request FROM job;
ALTER TABLE job DROP COLUMN request;
)sql";

}  // namespace dynbench::store
