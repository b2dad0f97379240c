-- _collective_near: Other kernels that ran while a collective did on their GPU.
-- grain: one kernel
-- key: source_id, device_id, start_ns, end_ns, range_context_id
-- needs: _collective_name
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   range_context_id BIGINT: set of ranges around the launch; NULL when the launch was not captured
--   start_ns BIGINT: start on the GPU
--   end_ns BIGINT: end on the device

WITH upto AS (
    SELECT
        k.source_id,
        k.device_id,
        k.start_ns,
        max(k.start_ns + k.duration_ns) OVER (PARTITION BY k.source_id, k.device_id ORDER BY k.start_ns) AS end_ns
    FROM kernel k
    WHERE k.run_id = $run AND k.kernel_name_id IN (SELECT n.kernel_name_id FROM _collective_name n)
), other AS ( -- none, unless there are collectives on the GPU
    SELECT
        k.source_id,
        k.device_id,
        k.range_context_id,
        k.start_ns,
        k.start_ns + k.duration_ns AS end_ns
    FROM kernel k
    JOIN (SELECT DISTINCT u.source_id, u.device_id FROM upto u) u
        ON u.source_id = k.source_id AND u.device_id = k.device_id
    WHERE k.run_id = $run AND k.kernel_name_id NOT IN (SELECT n.kernel_name_id FROM _collective_name n)
)
SELECT o.source_id, o.device_id, o.range_context_id, o.start_ns, o.end_ns
FROM other o
ASOF JOIN upto u ON u.source_id = o.source_id AND u.device_id = o.device_id AND u.start_ns < o.end_ns
WHERE u.end_ns > o.start_ns
