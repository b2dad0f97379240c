-- finding-rules v1: The rules that findings are made by: what each looks for, how much of that could be saved, and what to do about it.
-- grain: one rule
-- key: finding
-- columns:
--   finding: name of the rule
--   title: what it finds
--   bound: what its saving is: at most (more cannot be gained by it) or about (an estimate)
--   saving: how the saving is computed
--   advice: what to do
--   value: number that it is tried by, see saving; NULL when it has none
--   unit: unit of that number
--   subject: what its subject is: kernel, family, function, ranges or operation; NULL when it has none. Of kernels each is a finding
--   query: query that shows the evidence
--   options: options of that query that a finding fills in: stage, device, kernel, source; top: all its rows; by: by family
--   detail: query that shows more, with the options stage, device and source; stragglers has but the last, and is of runs with several ranks; NULL when there is none
--   needs: what the run must hold
--   reference: where the rule is from

SELECT r.finding_id AS finding, r.title, r.bound, r.saving, r.advice, r.value, r.unit, r.subject, r.query, r.options, r.detail, r.needs, r.reference
FROM finding_rule r
ORDER BY r.finding_id
