-- _collective-match v1: Which collectives of the ranks of a job are one: the first of a kind on each rank, the second, and so on. Of communicators that are not known, streams in the order of their numbers stand for them. Sends and receives are left out, since their order does not tell who the other one is.
-- grain: one collective on one rank
-- key: match_id, source_id, pid, device_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   match_id: the same for the collectives that are one; in the order of kind, communicator and time
--   job_id: the source that began first of those that are ranks of one job
--   source_id: the source
--   pid: process
--   device_id: GPU
--   member: the rank in words: by its number where known, else by GPU and process
--   start_ns: start on the device, by the source's own clock
--   end_ns: end on the device
--   operation: all-reduce, ...; NULL when not known
--   family: kernel family by kernel_rule
--   bytes: the larger of the bytes given and received; NULL when not known
--   group_count: ranks in the communicator; NULL when not known
--   range_context_id: the set of ranges it was launched in; NULL when its launch was not captured
--   path_id: the path of their names
--   is_whole: whether all ranks have as many collectives of this kind and communicator

-- Sources are ranks of one job when they were captured at the same time and have different ranks, or none that is known: repeats of a
-- workload run one after another. A rank is a process on a GPU.
WITH s AS (
    SELECT s.source_id, s.rank_id, epoch_ns(s.started_at) AS begin_ns, epoch_ns(s.started_at) + s.duration_ns AS end_ns, (SELECT min(c.pass_id) FROM capture_source c WHERE c.run_id = s.run_id AND c.captured_source_id = s.source_id) AS pass_id
    FROM source s WHERE s.run_id = _run_id_v1(run) AND s.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t)
), job AS (
    SELECT a.source_id, any_value(a.rank_id) AS rank_id, arg_min(b.source_id, (coalesce(b.begin_ns, 9223372036854775807), b.source_id)) AS job_id, count(*) AS sources
    FROM s a JOIN s b ON a.source_id = b.source_id OR a.pass_id IS NOT DISTINCT FROM b.pass_id AND coalesce(a.rank_id <> b.rank_id, true) AND coalesce(a.begin_ns < b.end_ns AND b.begin_ns < a.end_ns, a.rank_id <> b.rank_id, false)
    GROUP BY a.source_id
), c AS (
    SELECT j.job_id, j.sources, j.rank_id AS source_rank_id, x.source_id, x.pid, x.device_id, x.start_ns, x.end_ns, x.operation, x.family, CASE WHEN x.in_bytes IS NOT NULL THEN greatest(x.in_bytes, x.out_bytes) END AS bytes, x.group_count, x.rank_id, x.range_context_id, x.path_id,
        coalesce(x.operation, x.family) AS kind, coalesce(x.group_name, 'stream ' || dense_rank() OVER (PARTITION BY x.source_id, x.pid, x.device_id, coalesce(x.operation, x.family), x.group_name ORDER BY x.stream_id)) AS group_name
    FROM _collective_v1(run, source := source) x JOIN job j ON j.source_id = x.source_id
    WHERE coalesce(x.operation NOT IN ('send', 'recv', 'send-recv'), true)
), member AS (
    SELECT c.source_id, c.pid, c.device_id, coalesce(CASE WHEN (SELECT count(DISTINCT (o.pid, o.device_id)) FROM c o WHERE o.source_id = c.source_id) = 1 THEN any_value(c.source_rank_id) END, arg_max(c.rank_id, c.group_count)) AS rank_id,
        'GPU ' || c.device_id || coalesce(', process ' || c.pid, '') || CASE WHEN any_value(c.sources) > 1 THEN ', source ' || c.source_id ELSE '' END AS place
    FROM c GROUP BY c.source_id, c.pid, c.device_id
), counted AS (
    SELECT c.job_id, c.source_id, c.pid, c.device_id, c.start_ns, c.end_ns, c.operation, c.family, c.bytes, c.group_count, c.range_context_id, c.path_id, c.kind, c.group_name,
        row_number() OVER (PARTITION BY c.job_id, c.kind, c.group_name, c.source_id, c.pid, c.device_id ORDER BY c.start_ns) AS nth, count(*) OVER (PARTITION BY c.job_id, c.kind, c.group_name, c.source_id, c.pid, c.device_id) AS calls
    FROM c
), n AS (
    SELECT x.job_id, x.source_id, x.pid, x.device_id, x.start_ns, x.end_ns, x.operation, x.family, x.bytes, x.group_count, x.range_context_id, x.path_id, x.kind, x.group_name, x.nth,
        count(*) OVER (PARTITION BY x.job_id, x.kind, x.group_name, x.nth) AS members, min(x.calls) OVER (PARTITION BY x.job_id, x.kind, x.group_name) = max(x.calls) OVER (PARTITION BY x.job_id, x.kind, x.group_name) AS is_whole
    FROM counted x
)
SELECT dense_rank() OVER (ORDER BY n.job_id, n.kind, n.group_name, n.nth) AS match_id, n.job_id, n.source_id, n.pid, n.device_id, coalesce('rank ' || m.rank_id, m.place) AS member, n.start_ns, n.end_ns, n.operation, n.family, n.bytes, n.group_count, n.range_context_id, n.path_id, n.is_whole
FROM n JOIN member m ON m.source_id = n.source_id AND m.pid IS NOT DISTINCT FROM n.pid AND m.device_id = n.device_id
WHERE n.members > 1
