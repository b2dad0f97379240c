-- collective: Each collective kernel of each timeline with the call that launched it.
-- grain: one collective kernel
-- key: source_id, pid, device_id, stream_id, start_ns, kernel_name_id
-- needs: _collective_name
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   stream_id INTEGER: CUDA stream
--   start_ns BIGINT: start on the GPU
--   end_ns BIGINT: end on the device
--   exposed_ns BIGINT: part of its time in which only collectives ran on the GPU in the same source
--   kernel_name_id BIGINT: kernel name
--   range_context_id BIGINT: set of ranges around the launch; NULL when the launch was not captured
--   path_id BIGINT: path of these ranges; 0 outside every range
--   family VARCHAR: kernel family by kernel_rule; NULL when no rule matches
--   operation VARCHAR: operation from the call, else from the family: all-reduce, all-gather, ...; NULL when neither has it
--   in_bytes BIGINT: bytes the rank sends; NULL when unknown
--   out_bytes BIGINT: bytes the rank receives; NULL when unknown
--   group_name VARCHAR: communicator; NULL when unknown
--   group_count BIGINT: ranks in the communicator; NULL when unknown
--   rank_id BIGINT: rank of the process in the communicator; NULL when unknown

-- A group of calls (ncclGroupStart to ncclGroupEnd) may become one kernel, whose bytes are those of all its calls; of several kernels
-- launched in one range it is not known which call is whose.
WITH k AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.stream_id,
        k.start_ns,
        k.start_ns + k.duration_ns AS end_ns,
        k.kernel_name_id,
        k.range_context_id,
        k.path_id,
        n.family,
        n.said
    FROM kernel k JOIN _collective_name n ON n.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = $run AND k.source_id IN (SELECT t.source_id FROM timeline t WHERE t.run_id = $run)
), call AS (
    SELECT
        c.source_id,
        c.range_id,
        c.device_id,
        c.stream_id,
        c.kernel_start_ns,
        CASE
            WHEN min(c.operation) = max(c.operation) THEN min(c.operation)
            WHEN bool_and(c.operation IN ('send', 'recv')) THEN 'send-recv'
        END AS operation,
        CASE WHEN count(c.in_bytes) = count(*) THEN sum(c.in_bytes)::BIGINT END AS in_bytes,
        CASE WHEN count(c.out_bytes) = count(*) THEN sum(c.out_bytes)::BIGINT END AS out_bytes,
        CASE
            WHEN min(concat_ws(' ', c.group_name, c.group_ranks)) = max(concat_ws(' ', c.group_name, c.group_ranks))
                THEN nullif(min(concat_ws(' ', c.group_name, c.group_ranks)), '')
        END AS group_name,
        CASE WHEN min(c.group_size) = max(c.group_size) THEN min(c.group_size) END AS group_count,
        CASE WHEN min(c.rank_id) = max(c.rank_id) THEN min(c.rank_id) END AS rank_id
    FROM collective_call c
    WHERE c.run_id = $run
    GROUP BY c.source_id, c.range_id, c.device_id, c.stream_id, c.kernel_start_ns
), inside AS (
    SELECT
        x.range_context_id,
        any_value(c.operation) AS operation,
        any_value(c.in_bytes) AS in_bytes,
        any_value(c.out_bytes) AS out_bytes,
        any_value(c.group_name) AS group_name,
        any_value(c.group_count) AS group_count,
        any_value(c.rank_id) AS rank_id
    FROM call c
    JOIN range_context x ON x.run_id = $run AND x.range_id = c.range_id AND x.is_innermost
    JOIN k ON k.range_context_id = x.range_context_id
    GROUP BY x.range_context_id
    HAVING count(*) = 1
), other AS ( -- how much of the time up to the last end so far other kernels have covered
    SELECT
        o.source_id,
        o.device_id,
        o.start_ns,
        max(o.end_ns) OVER w AS until_ns,
        o.end_ns,
        max(o.end_ns) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM (
        SELECT
            k.source_id,
            k.device_id,
            k.start_ns,
            max(k.end_ns) AS end_ns
        FROM _collective_near k
        GROUP BY k.source_id, k.device_id, k.start_ns
    ) o
    WINDOW w AS (PARTITION BY o.source_id, o.device_id ORDER BY o.start_ns)
), covered AS (
    SELECT
        o.source_id,
        o.device_id,
        o.start_ns,
        o.until_ns,
        sum(greatest(o.end_ns - greatest(o.start_ns, coalesce(o.before_ns, o.start_ns)), 0)) OVER (
            PARTITION BY o.source_id, o.device_id
            ORDER BY o.start_ns
        )::BIGINT AS sum_ns
    FROM other o
)
SELECT
    k.source_id,
    k.pid,
    k.device_id,
    k.stream_id,
    k.start_ns,
    k.end_ns,
    k.end_ns
        - k.start_ns
        - coalesce(e.sum_ns - greatest(e.until_ns - k.end_ns, 0), 0)
        + coalesce(b.sum_ns - greatest(b.until_ns - k.start_ns, 0), 0) AS exposed_ns,
    k.kernel_name_id,
    k.range_context_id,
    k.path_id,
    k.family,
    coalesce(i.operation, c.operation, k.said) AS operation,
    coalesce(i.in_bytes, c.in_bytes) AS in_bytes,
    coalesce(i.out_bytes, c.out_bytes) AS out_bytes,
    coalesce(i.group_name, c.group_name) AS group_name,
    coalesce(i.group_count, c.group_count) AS group_count,
    coalesce(i.rank_id, c.rank_id) AS rank_id
FROM k
LEFT JOIN inside i ON i.range_context_id = k.range_context_id
LEFT JOIN call c
    ON c.source_id = k.source_id
    AND c.device_id = k.device_id
    AND c.stream_id = k.stream_id
    AND c.kernel_start_ns = k.start_ns
ASOF LEFT JOIN covered b ON b.source_id = k.source_id AND b.device_id = k.device_id AND k.start_ns >= b.start_ns
ASOF LEFT JOIN covered e ON e.source_id = k.source_id AND e.device_id = k.device_id AND k.end_ns >= e.start_ns
