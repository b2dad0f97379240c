-- _collective: Each collective kernel with what is known of the call that launched it.
-- grain: one collective kernel
-- key: source_id, pid, device_id, stream_id, start_ns, kernel_name_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   source_id: the source
--   pid: process
--   device_id: GPU
--   stream_id: CUDA stream
--   start_ns: start on the device
--   end_ns: end on the device
--   kernel_name_id: its name
--   range_context_id: the set of ranges it was launched in; NULL when its launch was not captured
--   path_id: the path of their names; 0 outside every range
--   family: kernel family by kernel_rule
--   operation: what the call says, else what the family says: all-reduce, all-gather, ...; NULL when neither does
--   in_bytes: bytes that the rank gives; NULL when not known
--   out_bytes: bytes that it receives
--   group_name: communicator; NULL when not known
--   group_count: ranks in it
--   rank_id: the process's rank in it

-- Without collectives kernel is not read: the join has an empty side. A group of calls (ncclGroupStart to ncclGroupEnd) may become one
-- kernel, whose bytes are those of all its calls; of several kernels launched in one range it is not known which call is whose.
WITH name AS (
    SELECT c.kernel_name_id, c.family, regexp_extract(c.family, '(all-reduce|all-gather|reduce-scatter|all-to-all|broadcast|send-recv|reduce)$') AS said
    FROM kernel_class c WHERE c.run_id = run AND c.role = 'collective'
), k AS (
    SELECT k.source_id, k.pid, k.device_id, k.stream_id, k.start_ns, k.start_ns + k.duration_ns AS end_ns, k.kernel_name_id, k.range_context_id, k.path_id, n.family, nullif(n.said, '') AS said
    FROM kernel k JOIN name n ON n.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), call AS (
    SELECT c.source_id, c.range_id, c.device_id, c.stream_id, c.kernel_start_ns, CASE WHEN min(c.operation) = max(c.operation) THEN min(c.operation) WHEN bool_and(c.operation IN ('send', 'recv')) THEN 'send-recv' END AS operation,
        CASE WHEN count(c.in_bytes) = count(*) THEN sum(c.in_bytes)::BIGINT END AS in_bytes, CASE WHEN count(c.out_bytes) = count(*) THEN sum(c.out_bytes)::BIGINT END AS out_bytes,
        CASE WHEN min(concat_ws(' ', c.group_name, c.group_ranks)) = max(concat_ws(' ', c.group_name, c.group_ranks)) THEN nullif(min(concat_ws(' ', c.group_name, c.group_ranks)), '') END AS group_name,
        CASE WHEN min(c.group_size) = max(c.group_size) THEN min(c.group_size) END AS group_count, CASE WHEN min(c.rank_id) = max(c.rank_id) THEN min(c.rank_id) END AS rank_id
    FROM collective_call c WHERE c.run_id = run
    GROUP BY c.source_id, c.range_id, c.device_id, c.stream_id, c.kernel_start_ns
), inside AS (
    SELECT x.range_context_id, any_value(c.operation) AS operation, any_value(c.in_bytes) AS in_bytes, any_value(c.out_bytes) AS out_bytes, any_value(c.group_name) AS group_name, any_value(c.group_count) AS group_count, any_value(c.rank_id) AS rank_id
    FROM call c JOIN range_context x ON x.run_id = run AND x.range_id = c.range_id AND x.is_innermost
    JOIN k ON k.range_context_id = x.range_context_id
    GROUP BY x.range_context_id HAVING count(*) = 1
)
SELECT k.source_id, k.pid, k.device_id, k.stream_id, k.start_ns, k.end_ns, k.kernel_name_id, k.range_context_id, k.path_id, k.family,
    coalesce(i.operation, c.operation, k.said) AS operation, coalesce(i.in_bytes, c.in_bytes) AS in_bytes, coalesce(i.out_bytes, c.out_bytes) AS out_bytes,
    coalesce(i.group_name, c.group_name) AS group_name, coalesce(i.group_count, c.group_count) AS group_count, coalesce(i.rank_id, c.rank_id) AS rank_id
FROM k
LEFT JOIN inside i ON i.range_context_id = k.range_context_id
LEFT JOIN call c ON c.source_id = k.source_id AND c.device_id = k.device_id AND c.stream_id = k.stream_id AND c.kernel_start_ns = k.start_ns
