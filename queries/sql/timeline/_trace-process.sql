-- _trace-process: Processes and named threads of one source, for a trace.
-- grain: one process or named thread
-- key: pid, tid
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
-- columns:
--   pid: process
--   tid: thread; NULL for the process
--   rank_id: rank of the process; NULL when unknown, and for threads
--   name: name of the executable or thread; NULL when it has none

SELECT
    p.pid::BIGINT AS pid,
    NULL::BIGINT AS tid,
    p.rank_id::BIGINT AS rank_id,
    p.name
FROM process p
WHERE p.run_id = run AND p.source_id = of_source
UNION ALL
SELECT t.pid, t.tid, NULL, t.name
FROM thread t
WHERE t.run_id = run AND t.source_id = of_source
