-- timeline-ranges v2: The longest ranges (NVTX, record_function) of each capture with their nesting depth on the thread, for charts.
-- grain: one range
-- key: range_id
-- notes: timelines range recorded
-- params:
--   run VARCHAR: the run
--   top BIGINT = 3000: maximum ranges, longest first, all sources together; 0 for all
--   {source}
-- columns:
--   source_id: the source
--   pid: process
--   tid: thread that began it
--   thread: thread name; NULL when it has none
--   rank: rank of the process; NULL when unknown
--   depth: 0 when no range was open on its thread at its start, else greater than the depth of every open range. A start/end range is open
--     on all threads of its process
--   start_ns: CPU start time, from the start of the source
--   duration_ns: CPU time
--   name: name as recorded
--   domain: NVTX domain; empty for the default one
--   range_count: all ranges of the counted captures, including those that never ended
--   style: push_pop or start_end; record_function for a PyTorch profiler range
--   range_id: the range

-- The longest by number alone, their names after. Where ranges cross, fewer may be open at a range's start than lie between it and the
-- outermost one: hence the way up.
WITH RECURSIVE n AS NOT MATERIALIZED (
    SELECT
        n.range_id,
        n.parent_range_id,
        n.source_id,
        n.path_id,
        n.pid,
        n.tid,
        n.style,
        n.domain,
        n.name,
        n.start_ns,
        n.duration_ns
    FROM nvtx_range n
    WHERE n.run_id = run AND n.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), long AS MATERIALIZED (
    SELECT n.range_id, n.parent_range_id
    FROM n
    WHERE n.duration_ns IS NOT NULL
    ORDER BY n.duration_ns DESC, n.source_id, n.start_ns, n.range_id
    LIMIT (CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END)
), up AS (
    SELECT
        l.range_id,
        l.parent_range_id AS above_id,
        0::BIGINT AS depth
    FROM long l
    UNION ALL
    SELECT
        u.range_id,
        p.parent_range_id,
        u.depth + 1
    FROM up u JOIN nvtx_range p ON p.run_id = run AND p.range_id = u.above_id
), top_of AS (
    SELECT
        u.range_id,
        max(u.depth) AS depth
    FROM up u
    GROUP BY u.range_id
)
SELECT
    n.source_id,
    n.pid,
    n.tid,
    t.name AS thread,
    coalesce(o.rank_id, s.rank_id)::BIGINT AS rank,
    greatest(d.depth, p.depth - 1) AS depth,
    n.start_ns,
    n.duration_ns,
    n.name,
    n.domain,
    (SELECT count(*) FROM n) AS range_count,
    n.style,
    n.range_id
FROM top_of d
JOIN n ON n.range_id = d.range_id
JOIN range_path p ON p.run_id = run AND p.path_id = n.path_id
JOIN source s ON s.run_id = run AND s.source_id = n.source_id
LEFT JOIN process o ON o.run_id = run AND o.source_id = n.source_id AND o.pid = n.pid
LEFT JOIN thread t ON t.run_id = run AND t.source_id = n.source_id AND t.pid = n.pid AND t.tid = n.tid
ORDER BY n.source_id, n.pid, n.tid, n.start_ns, depth, n.range_id
