-- run-noise v1: What runs of the same thing as a run took: those of the same workload, inputs, clean commit, software, machine and way of capturing. How they differ is noise.
-- grain: one stage of a run, or of a repeat of the workload within a run
-- key: run_id, repeat, stage
-- notes: capture
-- params:
--   run VARCHAR: the run whose workload and machine are meant
--   stage VARCHAR = NULL: only this stage
-- columns:
--   group_name: what the runs have in common beside workload and machine, first of it the commit; values are to be compared within a group alone
--   run: name of the run
--   run_id: its id
--   repeat: 1, 2, ... the run of the workload, where prof ran it several times
--   stage: the stage; NULL for all device work of a source, in runs without any pass of a stage
--   passes: measured passes, or sources
--   gpu_span_ns: median over them of the time from first start to last end of device work; NULL when none has any
--   gpu_busy_ns: likewise of the union of device intervals
--   gpu_sum_ns: likewise of the sum of durations; NULL for all device work of a source
--   cpu_ns: likewise of the time on the CPU

-- The latest hundred runs tell enough. Another commit or driver makes another group, since it may change times; another host or GPU is another machine and left out. Of runs
-- that hold the same capture the first one counts. A group has two rows of a stage or more: one alone differs from nothing. Runs from a
-- folder without a commit, or with changes that were not committed, are of no group, for nobody knows whether their code is the same.
WITH alike AS (
    SELECT c.run_id, c.git_commit, c.mode FROM capture c
    WHERE c.workload_key = (SELECT min(x.workload_key) FROM capture x WHERE x.run_id = run) AND c.git_commit IS NOT NULL AND NOT c.is_git_dirty
    ORDER BY c.started_at DESC, c.run_id DESC LIMIT 100
), origin AS (
    SELECT s.run_id, min(s.kind) AS kind, string_agg(DISTINCT s.tool_version, ' ') AS version, min(s.sha256) AS sha256
    FROM alike a JOIN source s ON s.run_id = a.run_id AND s.kind IN ('nsys', 'torch')
    GROUP BY s.run_id
), gpu AS (
    SELECT d.run_id, count(DISTINCT d.device_id) || ' ' || string_agg(DISTINCT d.name, ' ' ORDER BY d.name) AS gpus FROM device d GROUP BY d.run_id
), software AS (
    SELECT f.run_id, max(f.value) FILTER (contains(f.key, 'driver')) AS driver, md5(string_agg(f.key || '=' || f.value, chr(10) ORDER BY f.key, f.value)) AS facts
    FROM alike a JOIN source_fact f ON f.run_id = a.run_id
    WHERE f.key IN ('env.driver_version', 'driver.version', 'env.python.version') OR starts_with(f.key, 'env.python.packages.') OR starts_with(f.key, 'env.variables.')
    GROUP BY f.run_id
), given AS (
    SELECT i.run_id, md5(string_agg(i.path || '=' || i.sha256, chr(10) ORDER BY i.path)) AS inputs FROM alike a JOIN capture_input i ON i.run_id = a.run_id GROUP BY i.run_id
), thing AS ( -- host and GPUs tell the machine, the rest the group
    SELECT a.run_id, r.name, r.host, g.gpus, o.sha256, concat_ws(', ', 'commit ' || left(a.git_commit, 12), 'driver ' || f.driver, a.mode || ' capture', o.kind || ' ' || o.version, 'software ' || left(f.facts, 8), 'inputs ' || left(v.inputs, 8)) AS group_name
    FROM alike a JOIN run r ON r.run_id = a.run_id JOIN origin o ON o.run_id = a.run_id JOIN gpu g ON g.run_id = a.run_id LEFT JOIN software f ON f.run_id = a.run_id LEFT JOIN given v ON v.run_id = a.run_id
), mine AS (
    SELECT r.host, g.gpus FROM run r JOIN gpu g ON g.run_id = r.run_id WHERE r.run_id = run
), used AS (
    SELECT t.run_id, t.name, t.group_name FROM thing t JOIN mine m ON m.host = t.host AND m.gpus = t.gpus
    QUALIFY row_number() OVER (PARTITION BY t.sha256 ORDER BY t.run_id) = 1
), took AS (
    SELECT p.run_id, p.repeat_id, p.stage, p.gpu_span_ns, p.gpu_busy_ns, p.gpu_sum_ns, p.cpu_ns
    FROM stage_pass p WHERE p.is_counted AND NOT p.is_warmup AND (stage IS NULL OR p.stage = stage)
    UNION ALL
    SELECT d.run_id, coalesce(any_value(c.repeat_id), 1), NULL, max(d.end_ns) - min(d.start_ns), sum(d.kernel_ns + d.graph_ns + d.copy_ns)::BIGINT, NULL, NULL
    FROM device_time d
    LEFT JOIN capture_source o ON o.run_id = d.run_id AND o.captured_source_id = d.source_id
    LEFT JOIN capture_pass c ON c.run_id = o.run_id AND c.pass_id = o.pass_id
    WHERE d.range_id IS NULL AND stage IS NULL AND d.run_id NOT IN (SELECT y.run_id FROM stage_pass y WHERE y.is_counted)
    GROUP BY d.run_id, d.source_id
), spent AS (
    SELECT u.group_name, u.name AS run, u.run_id, t.repeat_id AS repeat, t.stage, count(*) AS passes, median(t.gpu_span_ns) AS gpu_span_ns, median(t.gpu_busy_ns) AS gpu_busy_ns, median(t.gpu_sum_ns) AS gpu_sum_ns, median(t.cpu_ns) AS cpu_ns
    FROM used u JOIN took t ON t.run_id = u.run_id
    GROUP BY u.group_name, u.name, u.run_id, t.repeat_id, t.stage
)
SELECT s.group_name, s.run, s.run_id::VARCHAR AS run_id, s.repeat, s.stage, s.passes, s.gpu_span_ns, s.gpu_busy_ns, s.gpu_sum_ns, s.cpu_ns
FROM spent s
QUALIFY count(*) OVER (PARTITION BY s.group_name, s.stage) > 1
ORDER BY s.group_name, s.stage, s.run_id, s.repeat
