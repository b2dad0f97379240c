-- finding_call: CUDA calls in the passes behind findings, by function and kind, from processes with work of the stage on the GPU.
-- grain: one stage, GPU, function and kind of call, per timeline kind
-- key: kind, stage, device_id, api, call_kind
-- needs: device_time _api_time
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU; calls of a process with work on several GPUs count for each
--   api VARCHAR: API function
--   call_kind VARCHAR: kind of call, as idle time is classified: launch, load (a launch of 100 us or longer, which loads code first), copy,
--     wait, query (of an event or stream: it explains no idle time) or other
--   call_count BIGINT: number of calls
--   sum_ns BIGINT: time in the calls, on all threads

WITH whole AS (
    SELECT t.source_id, t.kind
    FROM _finding_timeline t
    WHERE NOT t.is_staged
), worker AS (
    SELECT DISTINCT p.kind, p.stage, n.source_id, n.pid, d.device_id
    FROM _finding_pass p
    JOIN nvtx_range n ON n.run_id = $run AND n.range_id = p.range_id
    JOIN range_device d ON d.run_id = n.run_id AND d.range_id = n.range_id
    UNION
    SELECT t.kind, NULL, k.source_id, k.pid, k.device_id
    FROM kernel k JOIN whole t ON t.source_id = k.source_id
    WHERE k.run_id = $run
    UNION
    SELECT t.kind, NULL, m.source_id, m.pid, m.device_id
    FROM memop m JOIN whole t ON t.source_id = m.source_id
    WHERE m.run_id = $run
    UNION
    SELECT t.kind, NULL, g.source_id, g.pid, g.device_id
    FROM graph_launch g JOIN whole t ON t.source_id = g.source_id
    WHERE g.run_id = $run
), c AS (
    SELECT
        t.is_counted,
        p.stage,
        x.source_id,
        x.pid,
        x.api_name_id,
        x.is_long,
        sum(x.call_count)::BIGINT AS call_count,
        sum(x.sum_ns)::BIGINT AS sum_ns
    FROM _api_time x
    JOIN _finding_timeline t ON t.source_id = x.source_id
    LEFT JOIN _finding_place p ON p.range_context_id = x.range_context_id
    WHERE p.stage IS NOT NULL OR NOT t.is_staged
    GROUP BY t.is_counted, p.stage, x.source_id, x.pid, x.api_name_id, x.is_long
)
SELECT
    w.kind,
    c.is_counted,
    c.stage,
    w.device_id,
    n.name AS api,
    CASE
        WHEN contains(n.name, 'GraphLaunch') THEN 'launch'
        WHEN contains(n.name, 'Graph') THEN 'other'
        WHEN contains(n.name, 'EventQuery') OR contains(n.name, 'StreamQuery') THEN 'query'
        WHEN contains(n.name, 'Synchronize') THEN 'wait'
        WHEN contains(n.name, 'Memcpy') THEN 'copy'
        WHEN contains(n.name, 'Launch') OR contains(n.name, 'Memset')
            THEN CASE WHEN c.is_long THEN 'load' ELSE 'launch' END
        ELSE 'other'
    END AS call_kind,
    sum(c.call_count)::BIGINT AS call_count,
    sum(c.sum_ns)::BIGINT AS sum_ns
FROM c
JOIN worker w ON w.stage IS NOT DISTINCT FROM c.stage AND w.source_id = c.source_id AND w.pid = c.pid
JOIN api_name n ON n.run_id = $run AND n.api_name_id = c.api_name_id
GROUP BY w.kind, c.is_counted, c.stage, w.device_id, n.name, call_kind
