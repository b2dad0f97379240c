-- _ncu-flop v1: Floating-point (and integer tensor) operations of each profiled kernel launch by precision, with the rate the hardware could reach at the clock it ran at.
-- grain: one launch and precision
-- key: launch_id, resource
-- params:
--   run VARCHAR: the run
-- columns:
--   launch_id: the launch
--   resource: fp64, fp32, fp16, or tensor_ and the type of the inputs
--   flop: operations, a multiply-add being 2, predicated-off threads left out; packed halves count each. Tensor operations as ncu counts them (sm__ops_path_tensor_src_*), padding included
--   peak_flop_per_s: dense rate at the clock of the launch (*.sum.peak_sustained of FMA or of the dense tensor path, times the clock); NULL when not measured
--   peak_metric: the metric of the peak

-- Sources: the expressions of ncu's own roofline sections (SpeedOfLight_*RooflineChart.section). A rate per cycle times the cycles
-- is the count itself. ncu's sparse peaks are twice the dense ones; its totals over sparse and dense carry the sparse peak.
WITH v AS (
    SELECT x.launch_id, x.name, x.value FROM _ncu_value_v1(run) x
    WHERE x.name LIKE 'smsp__sass_thread_inst_executed_op_%' OR x.name LIKE 'sm__sass_thread_inst_executed_op_%' OR x.name LIKE 'sm__ops_path_tensor_%'
        OR x.name IN ('smsp__cycles_elapsed.avg', 'sm__cycles_elapsed.avg', 'sm__cycles_elapsed.avg.per_second')
), clock AS (
    SELECT v.launch_id, max(v.value) FILTER (v.name = 'smsp__cycles_elapsed.avg') AS smsp_cycles,
        max(v.value) FILTER (v.name = 'sm__cycles_elapsed.avg') AS sm_cycles, max(v.value) FILTER (v.name = 'sm__cycles_elapsed.avg.per_second') AS sm_hz
    FROM v GROUP BY v.launch_id
), op AS (
    SELECT v.launch_id, regexp_extract(v.name, '_op_([hfd])(add|mul|fma)_pred_on\.sum', 1) AS kind, regexp_extract(v.name, '_op_([hfd])(add|mul|fma)_pred_on\.sum', 2) AS op,
        -- the count where it was collected, else the rate
        coalesce(max(v.value) FILTER (v.name LIKE '%.sum'), max(v.value) FILTER (v.name LIKE '%.per_cycle_elapsed') * any_value(clock.smsp_cycles)) AS n
    FROM v JOIN clock ON clock.launch_id = v.launch_id
    WHERE regexp_matches(v.name, '^smsp__sass_thread_inst_executed_op_[hfd](add|mul|fma)_pred_on\.sum(\.per_cycle_elapsed)?$')
    GROUP BY v.launch_id, kind, op
), scalar AS (
    SELECT op.launch_id, CASE op.kind WHEN 'd' THEN 'fp64' WHEN 'f' THEN 'fp32' ELSE 'fp16' END AS resource,
        -- all three operations or none: a part would be taken for the whole
        CASE WHEN count(op.n) = 3 THEN sum(op.n * CASE op.op WHEN 'fma' THEN 2 ELSE 1 END * CASE op.kind WHEN 'h' THEN 2 ELSE 1 END) END AS flop,
        'sm__sass_thread_inst_executed_op_' || op.kind || 'fma_pred_on.sum.peak_sustained' AS peak_metric
    FROM op GROUP BY op.launch_id, op.kind
), path AS (
    SELECT v.launch_id, regexp_extract(v.name, '^sm__ops_path_tensor_src_([a-z0-9]+)', 1) AS src, contains(v.name, '_sparsity_') AS split,
        regexp_replace(v.name, '\.sum(\.per_cycle_elapsed)?$', '') AS counter,
        coalesce(max(v.value) FILTER (v.name LIKE '%.sum'), max(v.value) FILTER (v.name LIKE '%.per_cycle_elapsed') * any_value(clock.sm_cycles)) AS n
    FROM v JOIN clock ON clock.launch_id = v.launch_id
    WHERE regexp_matches(v.name, '^sm__ops_path_tensor_src_[a-z0-9]+(_dst_[a-z0-9]+)?(_sparsity_(on|off))?\.sum(\.per_cycle_elapsed)?$')
    GROUP BY v.launch_id, src, split, counter
), tensor AS (
    -- a type's total where ncu gives one, else its dense and sparse parts
    SELECT path.launch_id, 'tensor_' || path.src AS resource, coalesce(sum(path.n) FILTER (NOT path.split), sum(path.n) FILTER (path.split)) AS flop
    FROM path WHERE path.src <> 'int1' GROUP BY path.launch_id, path.src
), dense AS (
    SELECT v.launch_id, 'tensor_' || regexp_extract(v.name, '_src_([a-z0-9]+)', 1) AS resource,
        max(v.value) AS peak, arg_max(v.name, v.value) AS peak_metric
    FROM v WHERE regexp_matches(v.name, '^sm__ops_path_tensor_(op_[a-z0-9]+_)?src_[a-z0-9]+(_dst_[a-z0-9]+)?_sparsity_off\.sum\.peak_sustained$')
        OR v.name = 'sm__ops_path_tensor_src_fp64.sum.peak_sustained'
    GROUP BY v.launch_id, resource
)
SELECT s.launch_id, s.resource, s.flop,
    p.value * CASE s.resource WHEN 'fp16' THEN 4 ELSE 2 END * clock.sm_hz AS peak_flop_per_s, CASE WHEN p.value IS NOT NULL THEN s.peak_metric END AS peak_metric
FROM scalar s JOIN clock ON clock.launch_id = s.launch_id
LEFT JOIN v p ON p.launch_id = s.launch_id AND p.name = s.peak_metric
UNION ALL
SELECT t.launch_id, t.resource, t.flop, d.peak * clock.sm_hz, d.peak_metric
FROM tensor t JOIN clock ON clock.launch_id = t.launch_id
LEFT JOIN dense d ON d.launch_id = t.launch_id AND d.resource = t.resource
