-- _compute_stream: Streams that kernels other than collectives use: what shares one with them runs before or after them.
-- grain: one stream of a process on a GPU with a tenth or more of the time of these kernels there
-- key: source_id, pid, device_id, stream_id
-- needs: kernel
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when not known
--   device_id INTEGER: GPU
--   stream_id INTEGER: the stream

SELECT q.source_id, q.pid, q.device_id, q.stream_id
FROM (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.stream_id,
        sum(k.duration_ns)
            >= 0.1 * sum(sum(k.duration_ns)) OVER (PARTITION BY k.source_id, k.pid, k.device_id) AS is_main
    FROM kernel k
    WHERE k.run_id = $run AND k.kernel_name_id NOT IN (SELECT n.kernel_name_id FROM _collective_name n)
    GROUP BY k.source_id, k.pid, k.device_id, k.stream_id
) q
WHERE q.is_main
