-- _tpot-step: Iterations between decode steps of an engine, whose time tpot-causes divides.
-- grain: one iteration of one process and GPU
-- key: source_id, pid, device_id, nth
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   source_id: the source
--   pid: process
--   device_id: GPU
--   nth: iteration number, as in iteration
--   stage: decode, mixed, or prefill between two that decode
--   basis: how the iteration was found, as in iteration
--   range_id: the range; NULL for periodic steps
--   start_ns: start of its first device work
--   end_ns: end of its last
--   next_ns: start of the first device work of the next iteration
--   busy_ns: GPU busy time
--   idle_ns: idle time in its span
--   is_speculated: whether a sequence gets several tokens
--   is_step: whether a step begins with it: it decodes
--   sequence_count: sequences that decode in the step, of the iteration that it begins with; NULL when unknown

WITH i AS (
    SELECT
        i.source_id,
        i.pid,
        i.device_id,
        i.nth,
        i.stage,
        i.basis,
        i.range_id,
        i.start_ns,
        i.start_ns + i.gpu_span_ns AS end_ns,
        lead(i.start_ns) OVER own AS next_ns,
        i.busy_ns,
        i.idle_ns,
        CASE WHEN i.stage = 'decode' THEN 0 ELSE i.prompt_count END AS prompt_count,
        lead(i.decode_count) OVER own AS next_decode_count,
        i.decode_count,
        i.decode_token_count > i.decode_count AS is_speculated,
        count(*) FILTER (i.stage <> 'prefill') OVER own AS step_id,
        coalesce(
            i.gpu_span_ns IS NOT NULL
                AND NOT i.is_warmup
                AND NOT lead(i.is_warmup) OVER own
                AND i.stage IN ('decode', 'mixed', 'prefill')
                AND lead(i.stage) OVER own IN ('decode', 'mixed', 'prefill')
                AND i.start_ns + i.time_ns = lead(i.start_ns) OVER own,
            false
        ) AS goes_on
    FROM iteration i
    WHERE i.run_id = run
        AND i.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR i.device_id = device)
    WINDOW own AS (PARTITION BY i.source_id, i.pid, i.device_id ORDER BY i.nth)
), s AS ( -- more sequences decode after prefills than these can have begun: one of them waited; else the engine may have had no request
    SELECT i.source_id, i.pid, i.device_id, i.step_id
    FROM i
    WHERE i.step_id > 0
    GROUP BY i.source_id, i.pid, i.device_id, i.step_id
    HAVING bool_and(i.goes_on)
        AND (
            count(*) = 1
            OR coalesce(
                count(i.prompt_count) = count(*) AND arg_max_null(i.next_decode_count, i.nth) > sum(i.prompt_count),
                false
            )
        )
)
SELECT
    i.source_id,
    i.pid,
    i.device_id,
    i.nth,
    i.stage,
    i.basis,
    i.range_id,
    i.start_ns,
    i.end_ns,
    i.next_ns,
    i.busy_ns,
    i.idle_ns,
    i.is_speculated,
    i.stage <> 'prefill' AS is_step,
    max(CASE WHEN i.stage <> 'prefill' THEN nullif(i.decode_count, 0) END) OVER (
        PARTITION BY i.source_id, i.pid, i.device_id, i.step_id
    ) AS sequence_count
FROM i
JOIN s
    ON s.source_id = i.source_id
    AND s.pid IS NOT DISTINCT FROM i.pid
    AND s.device_id = i.device_id
    AND s.step_id = i.step_id
ORDER BY i.source_id, i.device_id, i.pid, i.nth
