-- _note-pass: Which passes are left out as warm-up and why, stages whose passes differ much, and GPUs that were held back or shared. For queries that count warm-up by the facts of the workload too; of others see warmup and spread in _run-note.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

WITH p AS (
    SELECT p.stage, p.is_warmup, s.is_warmup AS is_ruled, p.cpu_ns, p.start_ns
    FROM _stage_pass(run, source := source) p JOIN path_stage s ON s.run_id = run AND s.path_id = p.path_id
), said AS (
    SELECT concat_ws(' and ', CASE WHEN max(e.back_count) > 0 THEN format('lists {} measured passes', count(*) FILTER (NOT e.is_warmup)) END, CASE WHEN max(e.warmup_count) > 0 THEN format('says that the first {} of a process are', max(e.warmup_count)) END) AS note
    FROM _workload_entry(run, source := source) e
)
SELECT format('{} warm-up passes are left out', count(*)) || CASE WHEN bool_and(p.is_ruled) THEN '' ELSE format(' (the workload {})', any_value(said.note)) END AS note
FROM p CROSS JOIN said WHERE p.is_warmup HAVING count(*) > 0
UNION ALL
SELECT format('the passes of {} differ {:.1f}-fold in time on the CPU, the first one takes {:.3f} ms of a median of {:.3f}: is it warm-up? see prof query passes', p.stage,
    max(p.cpu_ns) / min(p.cpu_ns), arg_min(p.cpu_ns, p.start_ns) / 1e6, median(p.cpu_ns) / 1e6)
FROM p WHERE NOT p.is_warmup AND p.cpu_ns > 0
GROUP BY p.stage HAVING max(p.cpu_ns) > 2 * min(p.cpu_ns)
UNION ALL
SELECT t.note FROM _note_throttle(run) t
