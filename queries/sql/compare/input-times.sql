-- input-times v1: How long the same inputs took in several runs, stage by stage: inputs are the same where their content is.
-- grain: one content of an input and stage
-- key: sha256, stage
-- params:
--   tag VARCHAR = NULL: only runs with this tag, key=value; a run must have all tags of a list separated by line breaks
--   runs VARCHAR = NULL: only these runs, by name or id, separated by commas
--   stage VARCHAR = NULL: only this stage
-- columns:
--   input: its id in these runs; several where manifests name it otherwise, or twice
--   stage: the stage, by stage_rule
--   run_count: runs that worked on it in this stage
--   passes: their passes, warm-up excluded, of the timeline that each counts
--   gpu_span_median_ns: median over the runs of each run's median GPU span
--   alone_median_ns: median over the runs of each run's median time without a profiler; NULL when none measured it
--   gpu_span_std_ns: sample standard deviation (n-1) of the runs' medians; NULL for a single run
--   gpu_span_min_ns: shortest of the runs' medians
--   gpu_span_max_ns: longest of the runs' medians
--   fastest_run: name of the run with the shortest
--   slowest_run: name of the run with the longest
--   page_count: pages, where the manifests agree; NULL when they do not say
--   gpu_span_per_page_ns: gpu_span_median_ns / pages; NULL when the pages are unknown
--   alone_per_page_ns: alone_median_ns / pages; NULL when the pages are unknown
--   alone_run_count: runs that measured the time without a profiler on the GPU
--   sha256: SHA-256 of its content

WITH w AS (
    SELECT r.run_id, r.name
    FROM run r JOIN _tagged_run(tag := tag) x ON x.run_id = r.run_id
    WHERE (
            runs IS NULL
            OR list_contains(string_split(runs, ','), r.name)
            OR list_contains(string_split(runs, ','), r.run_id::VARCHAR)
        )
), given AS (
    SELECT i.run_id, i.input, i.sha256, i.page_count
    FROM capture_input i JOIN w ON w.run_id = i.run_id
    WHERE i.input IS NOT NULL AND i.sha256 IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY i.run_id, i.input ORDER BY i.source_id) = 1
), m AS (
    SELECT
        g.run_id,
        g.sha256,
        s.stage,
        count(*) AS passes,
        median(s.gpu_span_ns) AS gpu_span_ns
    FROM given g
    JOIN pass_input i ON i.run_id = g.run_id AND i.input = g.input
    JOIN stage_pass s ON s.run_id = i.run_id AND s.range_id = i.range_id
    WHERE s.is_counted AND NOT s.is_warmup
    GROUP BY g.run_id, g.sha256, s.stage
), a AS (
    SELECT
        g.run_id,
        g.sha256,
        a.stage,
        median(a.median_ns) AS alone_ns
    FROM given g JOIN input_alone a ON a.run_id = g.run_id AND a.input = g.input
    WHERE a.clock = 'gpu'
    GROUP BY g.run_id, g.sha256, a.stage
), k AS (
    SELECT
        coalesce(m.run_id, a.run_id) AS run_id,
        coalesce(m.sha256, a.sha256) AS sha256,
        coalesce(m.stage, a.stage) AS stage,
        m.passes,
        m.gpu_span_ns,
        a.alone_ns
    FROM m FULL JOIN a ON a.run_id = m.run_id AND a.sha256 = m.sha256 AND a.stage = m.stage
), one AS (
    SELECT
        g.sha256,
        string_agg(DISTINCT g.input, ', ' ORDER BY g.input) AS input,
        CASE WHEN min(g.page_count) = max(g.page_count) THEN min(g.page_count) END AS page_count
    FROM given g
    GROUP BY g.sha256
)
SELECT
    o.input,
    k.stage,
    count(*) AS run_count,
    coalesce(sum(k.passes), 0)::BIGINT AS passes,
    median(k.gpu_span_ns) AS gpu_span_median_ns,
    median(k.alone_ns) AS alone_median_ns,
    CASE
        WHEN count(k.gpu_span_ns) > 1 THEN list_stddev_samp(list(k.gpu_span_ns ORDER BY k.gpu_span_ns))
    END AS gpu_span_std_ns,
    min(k.gpu_span_ns) AS gpu_span_min_ns,
    max(k.gpu_span_ns) AS gpu_span_max_ns,
    arg_min(w.name, (k.gpu_span_ns, w.name)) FILTER (k.gpu_span_ns IS NOT NULL) AS fastest_run,
    arg_max(w.name, (k.gpu_span_ns, w.name)) FILTER (k.gpu_span_ns IS NOT NULL) AS slowest_run,
    any_value(o.page_count) AS page_count,
    median(k.gpu_span_ns) / any_value(o.page_count) AS gpu_span_per_page_ns,
    median(k.alone_ns) / any_value(o.page_count) AS alone_per_page_ns,
    count(k.alone_ns) AS alone_run_count,
    k.sha256
FROM k JOIN w ON w.run_id = k.run_id JOIN one o ON o.sha256 = k.sha256
WHERE stage IS NULL OR k.stage = stage
GROUP BY k.sha256, k.stage, o.input
ORDER BY array_position(['prefill', 'decode'], k.stage) NULLS LAST, k.stage, o.input, k.sha256
