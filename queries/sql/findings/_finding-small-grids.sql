-- _finding-small-grids: Finding: a kernel has fewer blocks than the GPU has SMs.
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

WITH d AS ( -- of GPUs that differ by source nothing is known
    SELECT d.device_id, CASE WHEN min(d.sm_count) = max(d.sm_count) THEN min(d.sm_count) END AS sms FROM device d WHERE d.run_id = run GROUP BY d.device_id
), w AS (
    SELECT w.stage, w.device, w.kernel_name_id, w.calls, w.total_ns, w.device_ns, w.block_count AS blocks, d.sms
    FROM query(_given(work, '_finding_work', run, source)) w JOIN d ON d.device_id = w.device
), q AS (
    SELECT w.stage, w.device, w.kernel_name_id, any_value(w.sms) AS sms, sum(w.calls)::BIGINT AS calls, sum(w.total_ns)::BIGINT AS total_ns, min(w.blocks) AS least, max(w.blocks) AS most, (sum(w.device_ns * (w.sms - w.blocks) / w.sms))::BIGINT AS saving_ns
    FROM w LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = w.kernel_name_id
    WHERE w.blocks < w.sms AND w.total_ns >= w.calls * (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'small-grids') AND c.role IS DISTINCT FROM 'collective'
    GROUP BY w.stage, w.device, w.kernel_name_id
)
SELECT 'small-grids' AS finding, q.stage, q.device, n.name AS subject, q.saving_ns,
    format('{} of {} on the mean, {} together, with blocks for {} of {} SMs', _count_text(q.calls, 'execution', 'executions'), _time_text(q.total_ns / q.calls), _time_text(q.total_ns), CASE WHEN q.least = q.most THEN q.least::VARCHAR ELSE q.least || ' to ' || q.most END, q.sms) AS evidence
FROM q JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = q.kernel_name_id
