-- finding_idle: Idle time within the spans of finding_span, by cause.
-- grain: one cause on one GPU in one stage, per timeline kind, empty ones included
-- key: kind, stage, device_id, cause
-- needs: device_time
-- columns:
--   kind VARCHAR: nsys, prof, rocprof, torch, xla, proton or nsys-stats
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   cause VARCHAR: cause of idle time: a kind of stage_part
--   idle_ns BIGINT: idle time of the cause, summed over passes
--   named_ns BIGINT: what of it gc-pauses, gil-wait, code-loading, allocator-calls and cpu-starved are about
--   rest_max_ns BIGINT: idle_ns less named_ns of the pass with the most
--   rest_median_ns DOUBLE: what the median pass would be shorter by without that

WITH p AS (
    SELECT
        i.kind,
        i.is_counted,
        i.stage,
        i.source_id,
        i.range_id,
        i.device_id,
        i.cause,
        sum(i.ns)::BIGINT AS ns,
        sum(i.named_ns)::BIGINT AS named_ns,
        any_value(p.end_ns - p.start_ns) AS span_ns
    FROM _finding_idle i
    JOIN _finding_part p
        ON p.source_id = i.source_id AND p.device_id = i.device_id AND p.range_id IS NOT DISTINCT FROM i.range_id
    GROUP BY i.kind, i.is_counted, i.stage, i.source_id, i.range_id, i.device_id, i.cause
)
SELECT
    p.kind,
    p.is_counted,
    p.stage,
    p.device_id,
    p.cause,
    sum(p.ns)::BIGINT AS idle_ns,
    sum(p.named_ns)::BIGINT AS named_ns,
    max(p.ns - p.named_ns) AS rest_max_ns,
    _median_saving(p.ns - p.named_ns, p.span_ns) AS rest_median_ns
FROM p
GROUP BY p.kind, p.is_counted, p.stage, p.device_id, p.cause
