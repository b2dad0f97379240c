-- findings v2: What could make the work faster, ranked by the time it could save in the median pass of its stage, times the passes. Savings
--     overlap and do not add up; finding-rules explains each rule and what to do.
-- grain: one rule, stage and subject, on the GPU with the largest saving
-- key: rank
-- notes: finding-span accounting pass throttle timelines finding launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for all device work of a run without measured passes
--   top BIGINT = 20: maximum rows; 0 for all
--   min_share DOUBLE = 0.01: minimum saving, as a share of the stage's median pass or of all its passes
--   {source}
-- columns:
--   rank: rank by pass_saving_ns x passes; of all device work by saving_ns
--   finding: rule name
--   stage: the stage; NULL: all device work of a run without measured passes
--   saving_ns: saving over all measured passes of the stage on the GPU
--   share_ratio: saving_ns as a share of the spans of these passes
--   bound: kind of saving: at most (upper bound) or about (estimate)
--   title: the finding in a few words
--   evidence: figures behind it, by name, in base units, as JSON
--   subject: kernel, kernel family, API function, operation or path of ranges it is mostly about; NULL without one
--   advice: what to do
--   device: GPU with the largest saving
--   device_count: GPUs on which it could save at least min_share
--   run_device_count: GPUs that run work of the run's passes
--   passes: measured passes of the stage on that GPU
--   span_ns: sum of the spans of these passes
--   pass_saving_ns: what the median pass on that GPU would be shorter by; of all device work saving_ns
--   pass_span_ns: GPU span of that pass; of all device work span_ns
--   is_by_path: whether pass_saving_ns is simulated on the critical path of the pass, with launches that take no time

WITH f AS (
    SELECT
        f.kind,
        f.finding_id,
        f.stage,
        f.device_id,
        f.subject,
        f.saving_ns,
        f.pass_count,
        f.span_ns,
        f.evidence,
        g.pass_saving_ns,
        g.pass_span_ns,
        g.is_by_path,
        CASE WHEN f.stage IS NULL THEN f.saving_ns ELSE g.pass_saving_ns * f.pass_count END AS usual_ns,
        r.bound,
        r.title,
        r.advice,
        count(*) OVER of AS device_count,
        row_number() OVER (of ORDER BY usual_ns DESC, f.saving_ns DESC, f.device_id) AS place
    FROM finding f
    JOIN finding_rule r ON r.finding_id = f.finding_id
    JOIN finding_gain g
        ON g.run_id = f.run_id
        AND g.kind = f.kind
        AND g.finding_id = f.finding_id
        AND g.stage IS NOT DISTINCT FROM f.stage
        AND g.device_id = f.device_id
        AND g.subject IS NOT DISTINCT FROM f.subject
    WHERE f.run_id = run
        AND _is_asked(f.kind, f.is_counted, source)
        AND CASE
            WHEN min_share < 0 OR min_share > 1 THEN error('ARGUMENT: --min-share is a share: 0.01 for 1 %')::BOOLEAN
            ELSE f.saving_ns >= min_share * f.span_ns OR g.pass_saving_ns >= min_share * g.pass_span_ns
        END
        AND (stage IS NULL OR coalesce(f.stage, '(none)') = stage)
    WINDOW of AS (PARTITION BY f.finding_id, f.stage, CASE WHEN r.subject = 'kernel' THEN f.subject END)
), q AS (
    SELECT
        row_number() OVER (ORDER BY f.usual_ns DESC, f.saving_ns DESC, f.finding_id, f.stage, f.subject) AS rank,
        f.finding_id,
        f.stage,
        f.saving_ns,
        f.span_ns,
        f.bound,
        f.title,
        f.evidence,
        f.subject,
        f.advice,
        f.kind,
        f.device_id,
        f.device_count,
        f.pass_count,
        f.pass_saving_ns,
        f.pass_span_ns,
        f.is_by_path
    FROM f
    WHERE f.place = 1
)
SELECT
    q.rank,
    q.finding_id AS finding,
    q.stage,
    q.saving_ns,
    q.saving_ns / q.span_ns AS share_ratio,
    q.bound,
    q.title,
    q.evidence,
    q.subject,
    q.advice,
    q.device_id AS device,
    q.device_count,
    (
        SELECT count(DISTINCT s.device_id)
        FROM finding_span s
        WHERE s.run_id = run AND s.kind = q.kind
    ) AS run_device_count,
    q.pass_count AS passes,
    q.span_ns,
    q.pass_saving_ns,
    q.pass_span_ns,
    q.is_by_path
FROM q
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
