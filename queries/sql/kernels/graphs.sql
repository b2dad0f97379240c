-- graphs v3: CUDA graph replays by the ranges that launched them. Warm-up counts too: it lists what the capture has.
-- grain: one path of ranges, graph, trace mode and launcher
-- key: path, mode, launched_by, graph_id, kernels_per_replay
-- notes: timelines warm launch recorded
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   path: normalised range names of the launch; (none) outside every range, (no launch) when it was not captured
--   mode: node: kernels of the replay are traced; graph: the replay is traced as a whole
--   launched_by: call: of the API on the host; device: a kernel, the ranges being those of its own launch; NULL when the launch was not
--     captured
--   graph_id: executable graph; NULL in node mode when the capture has none
--   kernels_per_replay: kernels per replay; NULL in graph mode
--   replays: number of replays
--   total_ns: sum of replay times, each from first start to last end
--   mean_ns: mean replay time
--   median_ns: median replay time
--   min_ns: shortest
--   max_ns: longest
--   std_ns: sample standard deviation (n-1); NULL for a single replay
--   busy_sum_ns: sum of the durations of the graph nodes; in graph mode the same as total_ns
--   launch_mean_ns: mean time of the launching call; NULL when no launch was captured
--   stage: stage that launched it; (none) outside every stage, or when the launch was not captured

SELECT
    CASE WHEN g.path_id IS NULL THEN '(no launch)' ELSE coalesce(p.path, '(none)') END AS path,
    g.mode,
    CASE
        WHEN a.name = 'cudaGraphLaunch (device)' THEN 'device'
        WHEN g.launch_start_ns IS NOT NULL THEN 'call'
    END AS launched_by,
    g.graph_id,
    g.kernel_count AS kernels_per_replay,
    count(*) AS replays,
    sum(g.duration_ns)::BIGINT AS total_ns,
    avg(g.duration_ns) AS mean_ns,
    median(g.duration_ns) AS median_ns,
    min(g.duration_ns) AS min_ns,
    max(g.duration_ns) AS max_ns,
    _std(g.duration_ns) AS std_ns,
    sum(g.busy_ns)::BIGINT AS busy_sum_ns,
    avg(g.launch_duration_ns) AS launch_mean_ns,
    coalesce(s.stage, '(none)') AS stage
FROM graph_launch g
LEFT JOIN range_path p ON p.run_id = g.run_id AND p.path_id = g.path_id
LEFT JOIN path_stage s ON s.run_id = g.run_id AND s.path_id = g.path_id
LEFT JOIN api_name a ON a.run_id = g.run_id AND a.api_name_id = g.launch_name_id
WHERE g.run_id = run
    AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR g.device_id = device)
GROUP BY ALL
ORDER BY total_ns DESC, path, g.mode, launched_by, g.graph_id, kernels_per_replay
