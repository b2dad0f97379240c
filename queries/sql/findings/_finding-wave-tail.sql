-- _finding-wave-tail: Finding: the blocks of a kernel fill their last wave only in part.
-- grain: one stage on one GPU and kernel name
-- key: stage, device, subject
-- params:
--   run VARCHAR: the run
--   work VARCHAR = NULL: name of a relation that holds _finding-work of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: name of the kernel
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH w AS (
    SELECT w.stage, w.device, w.kernel_name_id, w.calls, w.total_ns, w.device_ns, w.block_count AS blocks, w.thread_count AS threads, w.register_count, w.shared_bytes
    FROM query(_given(work, '_finding_work', run, source)) w
), f AS (
    SELECT w.stage, w.device, w.kernel_name_id, w.calls, w.total_ns, w.device_ns, w.blocks, d.sm_count * _resident_block(d.compute_capability, d.max_warp_per_sm_count, d.shared_per_sm_bytes, w.threads, w.register_count, w.shared_bytes) AS slots
    FROM w JOIN (
        SELECT d.device_id, any_value(d.sm_count) AS sm_count, any_value(d.compute_capability) AS compute_capability, any_value(d.max_warp_per_sm_count) AS max_warp_per_sm_count, any_value(d.shared_per_sm_bytes) AS shared_per_sm_bytes
        FROM device d WHERE d.run_id = run GROUP BY d.device_id HAVING count(DISTINCT (d.sm_count, d.compute_capability, d.max_warp_per_sm_count, d.shared_per_sm_bytes)) = 1
    ) d ON d.device_id = w.device
), q AS (
    SELECT f.stage, f.device, f.kernel_name_id, sum(f.calls)::BIGINT AS calls, sum(f.total_ns)::BIGINT AS total_ns, (sum(f.device_ns * (1 - f.blocks / (((f.blocks + f.slots - 1) // f.slots) * f.slots))))::BIGINT AS saving_ns,
        arg_max(struct_pack(blocks := f.blocks, slots := f.slots), (f.total_ns, f.blocks, f.slots)) AS top
    FROM f LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = f.kernel_name_id
    WHERE f.blocks > f.slots AND f.blocks <= f.slots * (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'wave-tail') AND c.role IS DISTINCT FROM 'collective'
        AND f.total_ns >= f.calls * (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'small-grids')
    GROUP BY f.stage, f.device, f.kernel_name_id
)
SELECT 'wave-tail' AS finding, q.stage, q.device, n.name AS subject, q.saving_ns,
    format('{} take {} together; of {:,} blocks (the grid of most time) {:,} fit at a time: {:.2f} waves', _count_text(q.calls, 'execution', 'executions'), _time_text(q.total_ns), q.top.blocks, q.top.slots, q.top.blocks / q.top.slots) AS evidence
FROM q JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = q.kernel_name_id
WHERE q.saving_ns > 0
