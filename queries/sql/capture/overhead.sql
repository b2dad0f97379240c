-- overhead v4: Profiling overhead: recordings under a profiler compared with recordings without one, by each stage that prof's helper or
--     the workload timed and by the whole process of the workload.
-- grain: one tool and mode of profiled recordings, for each stage and for the whole process
-- key: mode, stage, tool
-- notes: capture overhead
-- params:
--   run VARCHAR: the run
-- columns:
--   mode: mode of the tool: light, deep, kernels or operators; workload where both times are those of the workload's own files
--   stage: the stage, by stage_rule; NULL for the whole process of the workload
--   tool: the tool
--   overhead_ratio: by how much longer it takes under the profiler: 0 for none, negative when profiled recordings were faster. It is the
--     median of the pairs of recordings, or with fewer than two pairs by the medians of both sides; NULL with a reason
--   noise_ratio: how large the ratio is by chance, in 95 of 100 cases at most, by how far recordings of the same side lie apart, or of
--     three pairs or more by how far these lie apart, whichever is less; NULL where of each side there is only one: the noise is unknown
--   reason: why the ratio is unknown: noise (it is less than the noise); of a stage not-timed-alone, other-work (its executions differ in
--     sequences, tokens or input), window (the timeline does not have all of its executions), unseen-work (GPU work on streams that the
--     events do not see) or warm-up (no steady execution on both sides); of the process not-timed-alone, not-recorded (no recording of that
--     side went well), cold (of a side only the first recording of the capture did, which finds no caches) or one-recording (of each side
--     only one did, whose noise is unknown); NULL where it is known
--   baseline_median_ns: time without a profiler: of the process, the median of the recordings but the first of the capture, or that where
--     it is the only one; of a stage, the median over the recordings of their median steady execution; NULL where nothing is compared
--   workload_median_ns: time under the profiler, of the same
--   baseline_recording_count: recordings without a profiler that are compared
--   recording_count: recordings under the profiler that are compared
--   pair_count: pairs of recordings, one without and one under the profiler, that ran one after the other
--   low_ratio: the overhead is at least this, in 95 of 100 cases, where it is known and where it is noise; NULL where the noise is unknown
--   high_ratio: and at most this
--   clock: process (start to end of the process), gpu (CUDA events around the stage: from the opening of its range, or the end of the work
--     queued before it, to the end of its work on the GPU), cpu (host clock: for work that is not waited for, the time to launch it) or
--     workload (its own, which waits for the GPU); NULL when a stage is not compared
--   baseline_count: of a stage, executions without a profiler that are compared; else the recordings
--   baseline_mean_ns: mean time of these; NULL for none
--   baseline_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two
--   pass_count: of a stage, executions under the profiler that are compared; else the recordings
--   workload_mean_ns: mean time of these; NULL for none
--   workload_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two

WITH q AS (
    SELECT
        o.mode,
        o.stage,
        o.tool,
        o.overhead_ratio,
        o.noise_ratio,
        o.reason,
        o.alone_median_ns,
        o.profiled_median_ns,
        o.alone_recording_count,
        o.profiled_recording_count,
        o.pair_count,
        o.low_ratio,
        o.high_ratio,
        o.clock,
        o.alone_count,
        o.alone_mean_ns,
        o.alone_std_ns,
        o.profiled_count,
        o.profiled_mean_ns,
        o.profiled_std_ns
    FROM stage_overhead o
    WHERE o.run_id = run AND o.tool <> 'none'
    UNION ALL
    SELECT
        o.mode,
        NULL,
        o.tool,
        o.overhead_ratio,
        o.noise_ratio,
        o.reason,
        o.alone_median_ns,
        o.profiled_median_ns,
        o.alone_count,
        o.profiled_count,
        o.pair_count,
        o.low_ratio,
        o.high_ratio,
        'process',
        o.alone_count,
        o.alone_mean_ns,
        o.alone_std_ns,
        o.profiled_count,
        o.profiled_mean_ns,
        o.profiled_std_ns
    FROM process_overhead o
    WHERE o.run_id = run
), place AS (
    SELECT
        p.tool,
        p.mode,
        min(p.pass_id) AS place
    FROM capture_pass p
    WHERE p.run_id = run
    GROUP BY p.tool, p.mode
)
SELECT
    q.mode,
    q.stage,
    q.tool,
    q.overhead_ratio,
    q.noise_ratio,
    q.reason,
    q.alone_median_ns AS baseline_median_ns,
    q.profiled_median_ns AS workload_median_ns,
    q.alone_recording_count AS baseline_recording_count,
    q.profiled_recording_count AS recording_count,
    q.pair_count,
    q.low_ratio,
    q.high_ratio,
    q.clock,
    q.alone_count AS baseline_count,
    q.alone_mean_ns AS baseline_mean_ns,
    q.alone_std_ns AS baseline_std_ns,
    q.profiled_count AS pass_count,
    q.profiled_mean_ns AS workload_mean_ns,
    q.profiled_std_ns AS workload_std_ns
FROM q LEFT JOIN place p ON p.tool = q.tool AND p.mode = q.mode
ORDER BY p.place NULLS LAST, q.tool, q.stage IS NULL, array_position(['prefill', 'decode'], q.stage) NULLS LAST, q.stage
