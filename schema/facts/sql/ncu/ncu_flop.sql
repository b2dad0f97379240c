-- ncu_flop: Floating-point (and integer tensor) operations per profiled launch and precision, with the hardware's peak rate at the clock of
--     the launch.
-- grain: one launch and precision
-- key: launch_id, resource
-- needs: ncu_launch
-- columns:
--   launch_id BIGINT: the launch
--   resource VARCHAR: precision: fp64, fp32, fp16, or tensor_ and the input type; when a chip counts several types together, the one whose
--     rate they share (fp4_fp6_fp8 is tensor_fp8, fp16_bf16_tf32 tensor_fp16)
--   is_main BOOLEAN: whether these operations determine the launch's efficiency: tensor core operations if it has any, else all
--   flop DOUBLE: operations, a multiply-add counts 2; predicated-off threads excluded, packed halves counted each. Tensor operations as ncu
--     counts them (sm__ops_path_tensor_src_*), padding included. fp16 is an upper bound: ncu also counts HFMA2 instructions that only move
--     constants
--   peak_flop_per_s DOUBLE: dense peak at the clock of the launch (*.sum.peak_sustained of FMA or of the dense tensor path x clock); NULL
--     when not measured
--   peak_metric VARCHAR: metric of the peak

-- Sources: the expressions of ncu's own roofline sections (SpeedOfLight_*RooflineChart.section). A rate per cycle times the cycles is the
-- count itself. Tensor counters are named [op_INSTRUCTION_]src_TYPE[_dst_TYPE][_sparsity_on|off]; those with less in the name are sums of
-- those with more. Sparse peaks are twice the dense ones, and so are those of the sums.
WITH name AS (
    SELECT
        n.metric_id,
        n.name,
        regexp_extract(
            n.name,
            '^sm__ops_path_tensor_(?:op_([a-z0-9]+)_)?src_([a-z0-9_]+?)(?:_dst_([a-z0-9]+))?(?:_sparsity_(on|off))?\.sum(\.per_cycle_elapsed|\.peak_sustained)?$',
            ['op', 'src', 'dst', 'sparsity', 'form']
        ) AS t,
        regexp_extract(
            n.name,
            '^smsp__sass_thread_inst_executed_op_([hfd])((?:add|mul|fma)2?)_pred_on\.sum(\.per_cycle_elapsed)?$',
            ['kind', 'op', 'form']
        ) AS s
    FROM ncu_metric_name n
    WHERE n.run_id = $run
        AND (
            n.name LIKE 'smsp__sass_thread_inst_executed_op_%'
            OR n.name LIKE 'sm__sass_thread_inst_executed_op_%'
            OR n.name LIKE 'sm__ops_path_tensor_%'
            OR n.name IN ('smsp__cycles_elapsed.avg', 'sm__cycles_elapsed.avg', 'sm__cycles_elapsed.avg.per_second')
        )
), picked AS (
    SELECT
        name.metric_id,
        name.name,
        name.t.op AS op,
        name.t.src AS src,
        name.t.dst AS dst,
        name.t.sparsity AS sparsity,
        name.t.form AS form,
        name.s.kind AS scalar_kind,
        name.s.op AS scalar_op,
        name.s.form AS scalar_form,
        CASE
            WHEN name.t.src LIKE '%fp8%' THEN 'tensor_fp8'
            WHEN name.t.src = 'fp16_bf16_tf32' THEN 'tensor_fp16'
            WHEN name.t.src = 'fp4_fp6' THEN 'tensor_fp6'
            ELSE 'tensor_' || name.t.src
        END AS resource
    FROM name
    WHERE name.t.src <> ''
        OR name.s.kind <> ''
        OR name.name LIKE '%\_elapsed.avg%' ESCAPE '\'
        OR name.name LIKE '%.sum.peak\_sustained' ESCAPE '\'
), v AS (
    SELECT
        m.launch_id,
        m.value,
        x.name,
        x.op,
        x.src,
        x.dst,
        x.sparsity,
        x.form,
        x.scalar_kind,
        x.scalar_op,
        x.scalar_form,
        x.resource
    FROM ncu_metric m JOIN picked x ON x.metric_id = m.metric_id
    WHERE m.run_id = $run AND m.value IS NOT NULL
), clock AS (
    SELECT
        v.launch_id,
        max(v.value) FILTER (v.name = 'smsp__cycles_elapsed.avg') AS smsp_cycles,
        max(v.value) FILTER (v.name = 'sm__cycles_elapsed.avg') AS sm_cycles,
        max(v.value) FILTER (v.name = 'sm__cycles_elapsed.avg.per_second') AS sm_hz
    FROM v
    GROUP BY v.launch_id
), chip AS (
    SELECT
        l.launch_id,
        coalesce(max(d.compute_capability), '') AS capability
    FROM ncu_launch l
    LEFT JOIN device d ON d.run_id = l.run_id AND d.source_id = l.source_id AND d.device_id = l.device_id
    WHERE l.run_id = $run
    GROUP BY l.launch_id
), op AS ( -- the count where it was collected, else the rate
    SELECT
        v.launch_id,
        v.scalar_kind AS kind,
        v.scalar_op AS op,
        coalesce(
            max(v.value) FILTER (v.scalar_form = ''),
            max(v.value) FILTER (v.scalar_form <> '') * max(clock.smsp_cycles)
        ) AS n
    FROM v JOIN clock ON clock.launch_id = v.launch_id
    WHERE v.scalar_kind <> ''
    GROUP BY v.launch_id, v.scalar_kind, v.scalar_op
), scalar AS (
    SELECT
        op.launch_id,
        CASE op.kind WHEN 'd' THEN 'fp64' WHEN 'f' THEN 'fp32' ELSE 'fp16' END AS resource,
        -- all operations or none: a part would be taken for the whole. Chips of capability 10 count packed FP32 (FFMA2) apart.
        CASE
            WHEN count(op.n) FILTER (op.op NOT LIKE '%2') = 3
                AND (op.kind <> 'f' OR max(chip.capability) NOT LIKE '10.%' OR count(op.n) = 6)
                THEN sum(
                    op.n
                        * CASE WHEN op.op LIKE 'fma%' THEN 2 ELSE 1 END
                        * CASE WHEN op.kind = 'h' OR op.op LIKE '%2' THEN 2 ELSE 1 END
                )
        END AS flop,
        'sm__sass_thread_inst_executed_op_' || op.kind || 'fma_pred_on.sum.peak_sustained' AS peak_metric
    FROM op JOIN chip ON chip.launch_id = op.launch_id
    GROUP BY op.launch_id, op.kind
), part AS (
    SELECT
        v.launch_id,
        v.resource,
        v.src,
        v.op,
        v.dst,
        v.sparsity,
        coalesce(
            max(v.value) FILTER (v.form = ''),
            max(v.value) FILTER (v.form = '.per_cycle_elapsed') * max(clock.sm_cycles)
        ) AS n
    FROM v JOIN clock ON clock.launch_id = v.launch_id
    WHERE v.src NOT IN ('', 'int1') AND v.form <> '.peak_sustained'
    GROUP BY v.launch_id, v.resource, v.src, v.op, v.dst, v.sparsity
), whole AS ( -- sums as ncu gives them, else of their parts
    SELECT
        part.launch_id,
        part.resource,
        part.src,
        part.op,
        part.dst,
        coalesce(max(part.n) FILTER (part.sparsity = ''), sum(part.n) FILTER (part.sparsity <> '')) AS n
    FROM part
    GROUP BY part.launch_id, part.resource, part.src, part.op, part.dst
), kind AS (
    SELECT
        whole.launch_id,
        whole.resource,
        whole.src,
        coalesce(sum(whole.n) FILTER (whole.op = ''), sum(whole.n) FILTER (whole.op <> '')) AS n
    FROM whole
    GROUP BY whole.launch_id, whole.resource, whole.src
), tensor AS (
    SELECT
        kind.launch_id,
        kind.resource,
        sum(kind.n) AS flop
    FROM kind
    GROUP BY kind.launch_id, kind.resource
), dense AS ( -- sums in half precision are faster than others on some chips
    SELECT
        v.launch_id,
        v.resource,
        max(v.value) AS peak,
        arg_max(v.name, (v.value, v.name)) AS peak_metric
    FROM v
    WHERE v.form = '.peak_sustained' AND (v.sparsity = 'off' AND v.dst <> 'fp16' OR v.src = 'fp64' AND v.op = '')
    GROUP BY v.launch_id, v.resource
), rate AS (
    SELECT
        s.launch_id,
        s.resource,
        false AS is_tensor,
        s.flop,
        p.value * CASE s.resource WHEN 'fp16' THEN 4 ELSE 2 END * clock.sm_hz AS peak_flop_per_s,
        CASE WHEN p.value IS NOT NULL THEN s.peak_metric END AS peak_metric
    FROM scalar s
    JOIN clock ON clock.launch_id = s.launch_id
    LEFT JOIN v p ON p.launch_id = s.launch_id AND p.name = s.peak_metric
    UNION ALL
    SELECT
        t.launch_id,
        t.resource,
        true,
        t.flop,
        d.peak * clock.sm_hz,
        d.peak_metric
    FROM tensor t
    JOIN clock ON clock.launch_id = t.launch_id
    LEFT JOIN dense d ON d.launch_id = t.launch_id AND d.resource = t.resource
)
SELECT
    r.launch_id,
    r.resource,
    coalesce(r.flop > 0, false)
    AND r.is_tensor = bool_or(r.is_tensor AND coalesce(r.flop > 0, false)) OVER (PARTITION BY r.launch_id) AS is_main,
    r.flop,
    r.peak_flop_per_s,
    r.peak_metric
FROM rate r
