-- timeline-agreement v1: Whether prof's tracer and Nsight Systems have the same kernels of the same passes: of captures that both recorded,
--     by stage and GPU. Stages are not compared where passes differ in number or size, or lost records.
-- grain: one stage on one GPU
-- key: stage, device
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   stage: the stage
--   device: GPU
--   passes: measured passes that are compared, of each recording
--   kernel_count: kernels in them by prof's tracer
--   other_kernel_count: kernels in them by Nsight Systems
--   kernel_ns: sum of their durations, collectives excluded, by prof's tracer
--   other_kernel_ns: the same by Nsight Systems
--   kernel_count_ratio: (other_kernel_count - kernel_count) / kernel_count
--   kernel_time_ratio: (other_kernel_ns - kernel_ns) / kernel_ns; NULL without kernels other than collectives
--   reason: count or time where they differ by more than 1 %, and by more than passes differ among themselves; NULL where they agree

SELECT
    m.stage,
    m.device_id AS device,
    m.pass_count AS passes,
    m.kernel_count,
    m.other_kernel_count,
    m.kernel_ns,
    m.other_kernel_ns,
    (m.other_kernel_count - m.kernel_count) / m.kernel_count AS kernel_count_ratio,
    (m.other_kernel_ns - m.kernel_ns) / nullif(m.kernel_ns, 0) AS kernel_time_ratio,
    m.reason
FROM timeline_match m
WHERE m.run_id = run
ORDER BY array_position(['prefill', 'decode'], m.stage) NULLS LAST, m.stage, m.device_id
