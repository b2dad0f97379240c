-- timeline-calls v2: CUDA calls of the threads that launched what timeline-kernels shows: each call that launched some of it, and the
--     longest other calls. Other calls under 5 us have no row, unless ingest kept them. Covers, per window, the time from a thread's first
--     launch to the end of its work.
-- grain: one call
-- key: source_id, pid, tid, start_ns, duration_ns, api
-- notes: timelines recorded
-- params:
--   run VARCHAR: the run
--   top BIGINT = 30000: as in timeline-kernels
--   others BIGINT = 3000: maximum calls that launched nothing shown, longest first; 0 for all
--   {source}
-- columns:
--   source_id: the source
--   pid: process
--   tid: thread
--   thread: thread name; NULL when it has none
--   rank: rank of the process; NULL when unknown
--   kind: launch (kernels and graphs), copy (copies and fills), sync (waits for the GPU) or other
--   api: function
--   start_ns: start of the call, from the start of the source
--   duration_ns: time in the call
--   is_launch: whether it launched something that timeline-kernels shows
--   call_count: calls of these threads during that time that could be shown
--   is_short_hidden: whether short calls that launched nothing are missing, since they are stored as sums

-- The bounds of all stretches let DuckDB skip blocks of calls: of 11 million, 3.5 s become 0.1.
WITH work AS MATERIALIZED (
    SELECT
        w.window_id,
        w.source_id,
        w.pid,
        w.tid,
        w.launch_start_ns,
        w.launch_duration_ns,
        w.launch_name_id,
        max(w.start_ns + w.duration_ns) OVER (PARTITION BY w.window_id) AS until_ns
    FROM _timeline_work(run, top := top, source := source) w
), stretch AS (
    SELECT
        w.source_id,
        w.pid,
        w.tid,
        min(w.launch_start_ns) AS from_ns,
        any_value(w.until_ns) AS until_ns
    FROM work w
    WHERE w.launch_start_ns IS NOT NULL
    GROUP BY w.window_id, w.source_id, w.pid, w.tid
), launch AS (
    SELECT DISTINCT
        w.source_id,
        w.pid,
        w.tid,
        w.launch_start_ns,
        w.launch_duration_ns,
        w.launch_name_id
    FROM work w
    WHERE w.launch_start_ns IS NOT NULL
), stored AS MATERIALIZED (
    SELECT a.source_id, a.pid, a.tid, a.api_name_id, a.start_ns, a.duration_ns
    FROM api_call a
    WHERE a.run_id = run
        AND a.start_ns >= (SELECT min(s.from_ns) FROM stretch s)
        AND a.start_ns <= (SELECT max(s.until_ns) FROM stretch s)
        AND EXISTS (
            SELECT 1
            FROM stretch s
            WHERE s.source_id = a.source_id
                AND s.pid = a.pid
                AND s.tid = a.tid
                AND a.start_ns BETWEEN s.from_ns AND s.until_ns
        )
), c AS MATERIALIZED ( -- short launches have no row of their own
    SELECT
        s.source_id,
        s.pid,
        s.tid,
        s.api_name_id,
        s.start_ns,
        s.duration_ns,
        EXISTS (
            SELECT 1
            FROM launch l
            WHERE l.source_id = s.source_id AND l.pid = s.pid AND l.tid = s.tid AND l.launch_start_ns = s.start_ns
        ) AS is_launch
    FROM stored s
    UNION ALL
    SELECT
        l.source_id,
        l.pid,
        l.tid,
        l.launch_name_id,
        l.launch_start_ns,
        l.launch_duration_ns,
        true
    FROM launch l
    ANTI JOIN stored s
        ON s.source_id = l.source_id
        AND s.pid = l.pid
        AND s.tid = l.tid
        AND s.start_ns = l.launch_start_ns
        AND s.api_name_id = l.launch_name_id
), q AS (
    SELECT c.source_id, c.pid, c.tid, c.api_name_id, c.start_ns, c.duration_ns, c.is_launch
    FROM c
    QUALIFY c.is_launch
        OR others = 0
        OR row_number() OVER (
            PARTITION BY c.is_launch
            ORDER BY c.duration_ns DESC, c.source_id, c.pid, c.tid, c.start_ns
        )
            <= others
)
SELECT
    q.source_id,
    q.pid,
    q.tid,
    t.name AS thread,
    coalesce(o.rank_id, s.rank_id)::BIGINT AS rank,
    _api_kind(n.name) AS kind,
    n.name AS api,
    q.start_ns,
    q.duration_ns,
    q.is_launch,
    (SELECT count(*) FROM c) AS call_count,
    EXISTS (SELECT 1 FROM api_duration d WHERE d.run_id = run) AS is_short_hidden
FROM q
JOIN api_name n ON n.run_id = run AND n.api_name_id = q.api_name_id
JOIN source s ON s.run_id = run AND s.source_id = q.source_id
LEFT JOIN process o ON o.run_id = run AND o.source_id = q.source_id AND o.pid = q.pid
LEFT JOIN thread t ON t.run_id = run AND t.source_id = q.source_id AND t.pid = q.pid AND t.tid = q.tid
ORDER BY q.source_id, q.pid, q.tid, q.start_ns, q.duration_ns DESC, n.name
