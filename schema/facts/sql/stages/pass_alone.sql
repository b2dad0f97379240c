-- pass_alone: How long a stage pass takes without a profiler: the same execution in recordings without one, by CUDA events.
-- grain: one measured pass of a stage
-- key: range_id
-- needs: stage_execution
-- columns:
--   range_id BIGINT: the pass
--   alone_ns DOUBLE: median over these recordings, from the opening of its range, or the end of the work queued before it, to the end of
--     its work on the GPU

SELECT
    t.range_id,
    list_median(a.alone_ns)::DOUBLE AS alone_ns
FROM _stage_timed t
JOIN stage_overhead o
    ON o.run_id = $run
    AND o.stage = t.stage
    AND o.tool = t.tool
    AND o.mode = t.mode
    AND o.clock = 'gpu'
JOIN _stage_alone a
    ON a.stage = t.stage
    AND a.tool = t.tool
    AND a.mode = t.mode
    AND a.member_id = t.member_id
    AND a.place_id = t.place_id
WHERE t.range_id IS NOT NULL
