-- finding_gain: What the median pass of a stage would be shorter by without each finding, so that a pass that takes much longer than the
--     others does not carry over to them.
-- grain: one finding
-- key: kind, finding_id, stage, device_id, subject
-- needs: device_time
-- columns:
--   kind VARCHAR: {timelines}
--   finding_id VARCHAR: rule name
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   subject VARCHAR: as in finding
--   pass_span_ns DOUBLE: GPU span of the stage's median pass on the GPU; for all device work, as in finding, like the next
--   pass_saving_ns DOUBLE: saving in that pass: of rules about launches by its critical path, where that is known and
--     some come late in it; of others about times of passes what the median falls by; of those about kernels their part of the saving by
--     the time that work ran in the pass
--   is_by_path BOOLEAN: whether it is by the critical path

WITH path AS ( -- of several processes on a GPU that which could gain most
    SELECT
        t.kind,
        s.stage,
        d.device_id,
        max(coalesce(w.saving_ns, 0) / s.duration_ns) AS saving_ratio
    FROM critical_step s
    JOIN _critical_known k ON k.step_id = s.step_id
    JOIN _finding_timeline t ON t.source_id = s.source_id AND t.is_staged
    JOIN range_device d ON d.run_id = s.run_id AND d.range_id = s.range_id
    LEFT JOIN critical_what_if w
        ON w.run_id = s.run_id
        AND w.step_id = s.step_id
        AND w.grouping_kind = 'cause'
        AND w.cause = 'launch-bound'
    WHERE s.run_id = $run AND s.basis = 'pass' AND s.is_median
    GROUP BY t.kind, s.stage, d.device_id
    HAVING bool_and(w.step_id IS NULL OR w.saving_ns IS NOT NULL)
), f AS (
    SELECT
        f.kind,
        f.finding_id,
        f.stage,
        f.device_id,
        f.subject,
        f.saving_ns,
        s.span_ns,
        s.busy_ns,
        s.pass_span_ns,
        s.pass_busy_ns,
        (f.evidence::JSON ->> '$.median_ns')::DOUBLE AS median_ns,
        p.saving_ratio,
        p.saving_ratio IS NOT NULL AND coalesce(median_ns, 1) > 0 AS is_by_path
    FROM finding f
    JOIN finding_span s
        ON s.run_id = f.run_id
        AND s.kind = f.kind
        AND s.stage IS NOT DISTINCT FROM f.stage
        AND s.device_id = f.device_id
    LEFT JOIN path p
        ON f.finding_id IN ('launch-bound', 'graph-gaps')
        AND p.kind = f.kind
        AND p.stage = f.stage
        AND p.device_id = f.device_id
    WHERE f.run_id = $run
)
SELECT
    f.kind,
    f.finding_id,
    f.stage,
    f.device_id,
    f.subject,
    CASE WHEN f.stage IS NULL THEN f.span_ns ELSE f.pass_span_ns END AS pass_span_ns,
    CASE
        WHEN f.stage IS NULL THEN f.saving_ns
        WHEN f.is_by_path
            THEN least(f.saving_ratio * f.pass_span_ns, f.pass_span_ns - f.pass_busy_ns)
        WHEN f.median_ns IS NOT NULL THEN least(f.median_ns, f.saving_ns, f.pass_span_ns)
        ELSE least(f.saving_ns * coalesce(f.pass_busy_ns / nullif(f.busy_ns, 0), 1), f.pass_span_ns)
    END AS pass_saving_ns,
    f.is_by_path
FROM f
