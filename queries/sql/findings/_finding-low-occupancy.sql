-- _finding-low-occupancy: Finding: too few warps of a latency-bound kernel fit on an SM.
-- grain: one stage on one GPU and kernel name
-- key: stage, device, subject
-- params:
--   run VARCHAR: the run
--   profile VARCHAR = NULL: name of a relation that holds _finding-profile of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: name of the kernel, as ncu spells it
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH q AS (
    SELECT f.stage, f.device, f.kernel, sum(f.calls)::BIGINT AS calls, sum(f.total_ns)::BIGINT AS total_ns, sum(f.device_ns * (1 - f.roof_ratio))::BIGINT AS saving_ns, arg_max(struct_pack(roof_ratio := f.roof_ratio, occupancy_ratio := f.occupancy_ratio, grid := f.grid, block := f.block), (f.total_ns, f.grid, f.block)) AS top
    FROM query(_given(profile, '_finding_profile', run, source)) f
    WHERE f.bound = 'latency' AND f.limiter = 'occupancy' AND f.occupancy_ratio < (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'low-occupancy')
    GROUP BY f.stage, f.device, f.kernel
)
SELECT 'low-occupancy' AS finding, q.stage, q.device, q.kernel AS subject, q.saving_ns,
    format('{} take {} together; at the grid of most time ({}, blocks of {}) {:.1f} % of the warps that an SM can hold are active and {:.1f} % of the roof is reached', _count_text(q.calls, 'execution', 'executions'), _time_text(q.total_ns), q.top.grid, q.top.block,
        100 * q.top.occupancy_ratio, 100 * q.top.roof_ratio) AS evidence
FROM q
