-- finding-rules v1: The rules behind findings: what each detects, how its saving is computed, and what to do.
-- grain: one rule
-- key: finding
-- columns:
--   finding: rule name
--   title: what the rule detects
--   bound: kind of saving: at most (upper bound) or about (estimate)
--   saving: how the saving is computed
--   advice: what to do
--   value: threshold, see saving; NULL without one
--   unit: unit of the threshold
--   subject: subject of the finding: kernel, family, function, ranges or operation; NULL without one. Each kernel is a finding of its own
--   query: query that shows the evidence
--   options: options that a finding fills in for that query: stage, device, kernel, source; top: all its rows; by: by family
--   detail: query with more detail, with the options stage, device and source; stragglers takes only source, and needs a run with several
--     ranks; NULL without one
--   needs: what the run must contain
--   reference: source of the rule

SELECT
    r.finding_id AS finding,
    r.title,
    r.bound,
    r.saving,
    r.advice,
    r.value,
    r.unit,
    r.subject,
    r.query,
    r.options,
    r.detail,
    r.needs,
    r.reference
FROM finding_rule r
ORDER BY r.finding_id
