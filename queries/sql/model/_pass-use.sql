-- _pass-use: Each measured pass of prefill, decode and other stages with its operations, bytes and time: what utilisation is made of.
-- grain: one outermost range of a stage, warm-up left out; one more row of a prefill for its images, and for the whole pass with its decode
-- key: stage, range_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
--   model BIGINT = NULL: model_id; by default as in _model-id
--   convention VARCHAR = 'full': full or causal
--   mla VARCHAR = 'expanded': absorbed or expanded
--   head VARCHAR = 'last': last or all
--   dtype VARCHAR = NULL: precision of weights and cache
--   time_basis VARCHAR = 'gpu_span': time of a pass: gpu_span, gpu_busy, gpu_sum or cpu
--   ranks VARCHAR = NULL: of several processes at once, shared (one batch over all of them) or own (each its own)
-- columns:
--   stage: the stage
--   part_of: prefill for its images; NULL for stages
--   pass: 1, 2, ... of the stage in its process
--   range_id: the range of the stage
--   source_id: the source
--   pid: process
--   flop: operations of the model; NULL when not known
--   weight_bytes: weights that must be read; NULL when not known, or not asked of the row
--   kv_bytes: keys and values that must be read; NULL likewise
--   time_ns: its time; NULL when it has none
--   device_count: GPUs whose work the operations are of; NULL when not known: of several processes, or a pass of which only some GPUs are asked for
--   peak_count: GPUs whose peak the time is held against: busy time and sums are added up over GPUs already
--   is_least: whether flop is the least that it can be

WITH w AS (
    SELECT w.stage, w.range_id, w.source_id, w.pid, w.start_ns, w.end_ns, w.time_ns, w.flop, w.vision_flop, w.basis, w.is_least, w.weight_bytes, w.kv_bytes
    FROM _pass_work(run, device := device, source := source, model := model, convention := convention, mla := mla, head := head, dtype := dtype, time_basis := time_basis) w
), used AS (
    SELECT d.range_id, count(*) AS devices, count(*) FILTER (device IS NULL OR d.device_id = device) AS asked FROM range_device d WHERE d.run_id = run GROUP BY ALL
), rank AS ( -- each process of a stage is a rank: the whole model is counted for its passes
    SELECT x.stage, CASE WHEN x.processes = 1 OR ranks = 'own' THEN 1 WHEN ranks = 'shared' THEN x.processes WHEN ranks IS NOT NULL THEN error('ARGUMENT: --ranks is shared or own')::BIGINT END AS parallel
    FROM ( -- what several passes of one capture ran is repeated, and not shared
        SELECT y.stage, (coalesce(sum(y.n) FILTER (y.pass_id IS NULL), 0) + coalesce(max(y.n) FILTER (y.pass_id IS NOT NULL), 0))::BIGINT AS processes FROM (
            SELECT w.stage, c.pass_id, count(DISTINCT (w.source_id, w.pid)) AS n FROM w LEFT JOIN capture_source c ON c.run_id = run AND c.captured_source_id = w.source_id GROUP BY ALL
        ) y GROUP BY y.stage
    ) x
), p AS (
    SELECT w.stage, w.range_id, w.source_id, w.pid, w.start_ns, w.end_ns, w.time_ns, w.flop, w.vision_flop, w.basis, w.is_least, w.weight_bytes, w.kv_bytes,
        CASE WHEN coalesce(u.asked = u.devices, true) THEN coalesce(u.devices, 0) * k.parallel END AS device_count,
        CASE WHEN coalesce(u.asked = u.devices, true) THEN CASE WHEN time_basis IN ('gpu_busy', 'gpu_sum') THEN 1 ELSE u.devices END * k.parallel END AS peak_count,
        row_number() OVER (PARTITION BY w.stage, w.source_id, w.pid ORDER BY w.start_ns, w.range_id) AS pass
    FROM w LEFT JOIN used u ON u.range_id = w.range_id JOIN rank k ON k.stage = w.stage
), v AS ( -- outermost ranges of the vision parts, each in the prefill that it began in
    SELECT x.range_id, sum(CASE time_basis WHEN 'gpu_span' THEN x.gpu_span_ns WHEN 'gpu_busy' THEN x.gpu_busy_ns WHEN 'gpu_sum' THEN x.gpu_sum_ns ELSE x.cpu_ns END)::BIGINT AS time_ns
    FROM (
        SELECT p.range_id, any_value(n.cpu_ns) AS cpu_ns, max(n.last_end_ns) - min(n.first_start_ns) AS gpu_span_ns, coalesce(sum(n.busy_ns), 0) AS gpu_busy_ns, coalesce(sum(n.sum_ns), 0) AS gpu_sum_ns
        FROM note_range n
        JOIN p ON p.stage = 'prefill' AND p.source_id = n.source_id AND p.pid = n.pid AND n.start_ns >= p.start_ns AND n.start_ns < p.end_ns
        WHERE n.run_id = run AND n.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector') AND (device IS NULL OR n.device_id = device)
        GROUP BY p.range_id, n.range_id
    ) x
    GROUP BY x.range_id
)
SELECT p.stage, NULL::VARCHAR AS part_of, p.pass, p.range_id, p.source_id, p.pid, p.flop, p.weight_bytes, p.kv_bytes, p.time_ns, p.device_count, p.peak_count, p.is_least
FROM p
UNION ALL
SELECT 'vision', 'prefill', p.pass, p.range_id, p.source_id, p.pid, p.vision_flop, NULL, NULL, v.time_ns, p.device_count, p.peak_count, false
FROM v JOIN p ON p.range_id = v.range_id
UNION ALL
SELECT 'model', NULL, p.pass, p.range_id, p.source_id, p.pid, p.flop + d.flop, p.weight_bytes + d.weight_bytes, p.kv_bytes + d.kv_bytes, p.time_ns + d.time_ns, CASE WHEN p.device_count IS NOT NULL AND d.device_count IS NOT NULL THEN greatest(p.device_count, d.device_count) END, CASE WHEN p.peak_count IS NOT NULL AND d.peak_count IS NOT NULL THEN greatest(p.peak_count, d.peak_count) END, p.is_least OR d.is_least
FROM p JOIN p d ON d.stage = 'decode' AND d.source_id = p.source_id AND d.pid = p.pid AND d.pass = p.pass
WHERE p.stage = 'prefill' AND coalesce(p.basis <> 'annotation' AND d.basis <> 'annotation', true)
    AND NOT EXISTS (SELECT 1 FROM p x WHERE x.stage IN ('prefill', 'decode') GROUP BY x.source_id, x.pid HAVING count(*) FILTER (x.stage = 'prefill') <> count(*) FILTER (x.stage = 'decode'))
