-- _note-workload: Where the facts of the workload could not be matched with the passes of the timeline, or not without an assumption.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

WITH p AS (
    SELECT p.stage, p.source_id, p.pid, p.is_warmup, s.is_warmup AS is_ruled, p.basis, p.step_count
    FROM _stage_pass(run, source := source) p JOIN path_stage s ON s.run_id = run AND s.path_id = p.path_id
    WHERE p.stage IN ('prefill', 'decode')
), e AS (
    SELECT e.back_count, e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count FROM _workload_entry(run, source := source) e WHERE NOT e.is_warmup
), said AS (
    SELECT count(*) FILTER (e.back_count > 0) AS listed, count(e.prefill_count) > 0 AS has_prefill, max(e.decode_count) AS most_steps, min(e.decode_count) AS least_steps,
        count(DISTINCT (e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count)) = 1 AS is_alike
    FROM e
), stages AS (
    SELECT p.stage, count(*) AS passes FROM p WHERE NOT p.is_ruled GROUP BY p.stage, p.source_id, p.pid
), fewer AS (
    SELECT x.stage, min(x.passes) AS passes FROM stages x WHERE x.stage = 'prefill' OR NOT EXISTS (SELECT 1 FROM stages y WHERE y.stage = 'prefill') GROUP BY x.stage HAVING min(x.passes) < (SELECT said.listed FROM said)
), counted AS (
    SELECT s.kind FROM source s WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), facts AS (
    SELECT count(*) AS files, count(*) FILTER (w.capture IS NULL OR w.capture IN (SELECT c.kind FROM counted c)) AS fitting, arg_max(s.path, s.source_id) FILTER (w.capture IS NULL OR w.capture IN (SELECT c.kind FROM counted c)) AS path
    FROM workload w JOIN source s ON s.run_id = w.run_id AND s.source_id = w.source_id WHERE w.run_id = run AND s.form <> 'options'
)
SELECT format('the workload lists {} measured passes, the timeline has only {} of {}: ', s.listed, f.passes, f.stage)
    || CASE WHEN s.is_alike THEN 'their tokens are taken, since all are alike' ELSE 'which of them these are is not known, and neither are their tokens' END AS note
FROM fewer f CROSS JOIN said s
UNION ALL
SELECT format('{} passes of decode are taken as one decode step each, since the workload says that a pass has {}: see prof query passes', count(*), CASE WHEN any_value(s.least_steps) < any_value(s.most_steps) THEN format('{} to {}', any_value(s.least_steps), any_value(s.most_steps)) ELSE any_value(s.most_steps)::VARCHAR END)
FROM p CROSS JOIN said s WHERE p.stage = 'decode' AND p.basis = 'workload' AND p.step_count = 1 AND NOT p.is_warmup AND s.least_steps > 1 HAVING count(*) > 0
UNION ALL
SELECT format('{} passes of decode are not as many after each prefill as the workload says that steps were decoded: their tokens are not known, see prof query passes and workload-passes', count(*))
FROM p CROSS JOIN said s WHERE p.stage = 'decode' AND p.basis IS NULL AND NOT p.is_warmup AND s.least_steps IS NOT NULL AND (s.is_alike OR NOT EXISTS (SELECT 1 FROM fewer)) HAVING count(*) > 0
UNION ALL
SELECT format('the workload says the tokens of {}, but no range of the timeline is a pass of it by the rules in stage_rule: see prof query ranges', x.stage)
FROM (SELECT 'prefill' AS stage UNION ALL SELECT 'decode') x CROSS JOIN said s
WHERE CASE x.stage WHEN 'prefill' THEN s.has_prefill ELSE s.most_steps > 0 END AND NOT EXISTS (SELECT 1 FROM p WHERE p.stage = x.stage) AND EXISTS (SELECT 1 FROM counted)
UNION ALL
SELECT format('all {} passes of {} are warm-up by what the workload says: nothing is left to measure, see prof query workload-passes', count(*), p.stage)
FROM p GROUP BY p.stage HAVING bool_and(p.is_warmup) AND NOT bool_and(p.is_ruled)
UNION ALL
SELECT format('{} files say what the passes of this timeline did, of which the latest counts: {}', f.fitting, f.path) FROM facts f WHERE f.fitting > 1
UNION ALL
SELECT 'the facts of the workload are about another timeline than the one counted here: --source nsys or torch counts that'
FROM facts f WHERE f.fitting = 0 AND f.files > 0 AND EXISTS (SELECT 1 FROM counted)
