-- _shared_stage: Stages whose processes are known to have shared one batch, as in tensor parallelism: forward passes of one process a GPU,
--     each with all-reduces in it, as many on every rank, and with kernels of the same shapes.
-- grain: one stage of a kind of timeline
-- key: stage, is_counted
-- needs: stage_pass collective
-- columns:
--   stage VARCHAR: prefill or decode
--   is_counted BOOLEAN: as in timeline
--   process_count BIGINT: processes

-- Ranks with batches of their own exchange parameters (all-gather), experts' tokens (all-to-all) or, behind the forward pass, gradients:
-- only what is split within a layer is added up by an all-reduce there, twice a layer. Four in each pass are asked for, since a metric over
-- all ranks takes one. Shapes are the same where nine tenths of the time of each process's kernels is in names, grids and blocks that all
-- have.
WITH p AS (
    SELECT p.stage, p.is_counted, p.repeat_id, p.range_id, p.source_id, p.pid
    FROM stage_pass p
    WHERE p.run_id = $run AND NOT p.is_warmup AND p.stage IN ('prefill', 'decode')
), w AS (
    SELECT
        p.stage,
        p.is_counted,
        p.repeat_id,
        p.source_id,
        p.pid,
        w.device_id,
        w.kernel_name_id,
        w.grid_x,
        w.grid_y,
        w.grid_z,
        w.block_x,
        w.block_y,
        w.block_z,
        sum(w.sum_ns) AS ns
    FROM work_sum w JOIN p ON p.range_id = w.range_id AND p.source_id = w.source_id
    WHERE w.run_id = $run
        AND w.kind = 'kernel'
        AND w.kernel_name_id NOT IN (SELECT n.kernel_name_id FROM _collective_name n)
    GROUP BY ALL
), job AS (
    SELECT
        w.stage,
        w.is_counted,
        w.repeat_id,
        count(DISTINCT (w.source_id, w.pid)) AS processes,
        count(DISTINCT w.device_id) AS devices,
        count(DISTINCT (w.source_id, w.pid, w.device_id)) AS places
    FROM w
    GROUP BY ALL
), shape AS (
    SELECT
        w.stage,
        w.is_counted,
        w.repeat_id,
        w.kernel_name_id,
        w.grid_x,
        w.grid_y,
        w.grid_z,
        w.block_x,
        w.block_y,
        w.block_z,
        count(DISTINCT (w.source_id, w.pid)) AS processes
    FROM w
    GROUP BY ALL
), alike AS (
    SELECT
        w.stage,
        w.is_counted,
        w.repeat_id,
        w.source_id,
        w.pid,
        sum(CASE WHEN s.processes = j.processes THEN w.ns ELSE 0 END) >= 0.9 * sum(w.ns) AS is_alike
    FROM w
    JOIN job j ON j.stage = w.stage AND j.is_counted = w.is_counted AND j.repeat_id = w.repeat_id
    JOIN shape s
        ON s.stage = w.stage
        AND s.is_counted = w.is_counted
        AND s.repeat_id = w.repeat_id
        AND s.kernel_name_id = w.kernel_name_id
        AND (s.grid_x, s.grid_y, s.grid_z, s.block_x, s.block_y, s.block_z)
            = (w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z)
    GROUP BY w.stage, w.is_counted, w.repeat_id, w.source_id, w.pid
), reduced AS (
    SELECT
        p.stage,
        p.is_counted,
        p.repeat_id,
        p.source_id,
        p.pid,
        bool_and(coalesce(c.calls, 0) >= 4) AS is_reduced,
        sum(c.calls) AS calls
    FROM p
    LEFT JOIN (
        SELECT
            x.range_id,
            count(*) AS calls
        FROM collective c
        JOIN pass_context x ON x.run_id = c.run_id AND x.range_context_id = c.range_context_id
        WHERE c.run_id = $run AND c.operation = 'all-reduce'
        GROUP BY x.range_id
    ) c ON c.range_id = p.range_id
    GROUP BY p.stage, p.is_counted, p.repeat_id, p.source_id, p.pid
), judged AS (
    SELECT
        j.stage,
        j.is_counted,
        j.processes,
        j.processes > 1
        AND j.processes = j.devices
        AND j.processes = j.places
        AND count(*) = j.processes
        AND bool_and(a.is_alike AND r.is_reduced)
        AND min(r.calls) = max(r.calls) AS is_shared
    FROM job j
    JOIN alike a ON a.stage = j.stage AND a.is_counted = j.is_counted AND a.repeat_id = j.repeat_id
    JOIN reduced r
        ON r.stage = a.stage
        AND r.is_counted = a.is_counted
        AND r.repeat_id = a.repeat_id
        AND r.source_id = a.source_id
        AND r.pid = a.pid
    GROUP BY j.stage, j.is_counted, j.repeat_id, j.processes, j.devices, j.places
)
SELECT
    t.stage,
    t.is_counted,
    max(t.processes) AS process_count
FROM judged t
GROUP BY t.stage, t.is_counted
HAVING bool_and(t.is_shared)
