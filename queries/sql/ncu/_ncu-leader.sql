-- _ncu-leader: Which unit sets a launch's compute and memory throughput: ncu's throughputs are the highest of their breakdown, so the leader is the metric that has the same value.
-- grain: one launch and side
-- key: launch_id, side
-- params:
--   run VARCHAR: the run
-- columns:
--   launch_id: the launch
--   side: sm or memory
--   metric: the metric that sets it
--   limiter: the unit: dram, l2, l1, or for sm the pipe: tensor, fp32 (the FMA pipe), fp64, fp16, alu, xu, lsu, tex, uniform, branch, issue, other

-- Names are sorted out before values are read: there are a thousand times fewer.
WITH name AS (
    SELECT n.metric_id, n.name FROM ncu_metric_name n
    WHERE n.run_id = run AND n.name LIKE '%.avg.pct\_of\_peak\_sustained\_elapsed' ESCAPE '\'
), part AS (
    SELECT name.metric_id, name.name, CASE
        WHEN name.name LIKE '%throughput%' AND NOT regexp_matches(name.name, '^(gpu__dram|dram_|lts_|l1tex_)_throughput\.') THEN NULL
        WHEN regexp_matches(name.name, '^(dram|fbpa|fbp|gpu__dram|lts|ltc|l1tex)_') THEN 'memory'
        WHEN regexp_matches(name.name, '^(sm|smsp|idc)__') THEN 'sm' END AS side, CASE
        WHEN regexp_matches(name.name, '^(dram|fbpa|fbp|gpu__dram)_') THEN 'dram'
        WHEN regexp_matches(name.name, '^(lts|ltc)__') THEN 'l2'
        WHEN regexp_matches(name.name, '^l1tex__') THEN 'l1'
        WHEN regexp_matches(name.name, 'tensor_op_dmma|pipe_fp64') THEN 'fp64'
        WHEN name.name LIKE '%tensor%' THEN 'tensor'
        WHEN regexp_matches(name.name, 'pipe_(fp16|fma_type_fp16)') THEN 'fp16'
        WHEN regexp_matches(name.name, 'pipe_fma(heavy|lite)?[._]') THEN 'fp32'
        WHEN regexp_matches(name.name, 'pipe_alu') THEN 'alu'
        WHEN regexp_matches(name.name, 'pipe_xu') THEN 'xu'
        WHEN regexp_matches(name.name, 'pipe_lsu|__mio') THEN 'lsu'
        WHEN regexp_matches(name.name, 'pipe_tex') THEN 'tex'
        WHEN regexp_matches(name.name, 'pipe_uniform') THEN 'uniform'
        WHEN regexp_matches(name.name, 'pipe_(adu|cbu)') THEN 'branch'
        WHEN regexp_matches(name.name, '__(issue_active|inst_executed|inst_issued)\.') THEN 'issue'
        ELSE 'other' END AS limiter
    FROM name
), roof AS (
    SELECT m.launch_id, CASE name.name WHEN 'sm__throughput.avg.pct_of_peak_sustained_elapsed' THEN 'sm' ELSE 'memory' END AS side, m.value
    FROM ncu_metric m JOIN name ON name.metric_id = m.metric_id
    WHERE m.run_id = run AND m.value IS NOT NULL
        AND name.name IN ('sm__throughput.avg.pct_of_peak_sustained_elapsed', 'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed')
), hit AS (
    SELECT roof.launch_id, roof.side, part.name, part.limiter,
        -- of several with the same value the most telling: a pipe before the sum of several or the issue slots
        row_number() OVER (PARTITION BY roof.launch_id, roof.side ORDER BY
            list_position(['dram', 'l2', 'l1', 'tensor', 'fp64', 'fp32', 'fp16', 'xu', 'alu', 'lsu', 'tex', 'uniform', 'issue', 'branch', 'other'], part.limiter), part.name LIKE '%throughput%', part.name) AS place
    FROM ncu_metric m
    JOIN part ON part.metric_id = m.metric_id AND part.side IS NOT NULL
    JOIN roof ON roof.launch_id = m.launch_id AND roof.side = part.side AND roof.value = m.value
    WHERE m.run_id = run
)
SELECT hit.launch_id, hit.side, hit.name AS metric, hit.limiter FROM hit WHERE hit.place = 1
