-- _caveat-lines: What warps of profiled kernels wait for, and what values of instructions, lines and texts are missing.
-- grain: one caveat, as in the table caveat
-- key: kind, object
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   by VARCHAR = NULL: ptx for lines of PTX
-- columns:
--   kind: what it says
--   object: what else it names
--   item_count: how many
--   of_count: of how many
--   ratio: a share, or a change

WITH l AS (
    SELECT m.launch_id, m.source_id, m.kernel_name_id
    FROM ncu_measure m
    JOIN kernel_name n ON n.run_id = m.run_id AND n.kernel_name_id = m.kernel_name_id
    WHERE m.run_id = run
        AND (launch IS NULL OR _id_number(m.launch_id) - 1 = launch)
        AND (kernel IS NULL OR contains(lower(n.name), lower(kernel)))
        AND (stage IS NULL OR coalesce(m.stage, '(none)') = stage)
), used AS (
    SELECT DISTINCT l.kernel_name_id, x.source_id, x.function_id
    FROM ncu_instance x JOIN l ON l.launch_id = x.launch_id
    WHERE x.run_id = run
), code AS (
    SELECT
        u.kernel_name_id,
        count(CASE WHEN "by" = 'ptx' THEN i.ptx_line ELSE i.line END) AS lines,
        count(f.text) AS texts
    FROM used u
    JOIN ncu_instruction i ON i.run_id = run AND i.source_id = u.source_id AND i.function_id = u.function_id
    LEFT JOIN ncu_source_file f
        ON f.run_id = i.run_id
        AND f.source_id = i.source_id
        AND f.file_id = CASE WHEN "by" = 'ptx' THEN i.ptx_file_id ELSE i.file_id END
    GROUP BY u.kernel_name_id
), known AS (
    SELECT
        count(DISTINCT l.kernel_name_id) AS kernels,
        count(DISTINCT c.kernel_name_id) AS coded,
        count(DISTINCT c.kernel_name_id) FILTER (c.lines > 0) AS lined,
        count(DISTINCT c.kernel_name_id) FILTER (c.texts > 0) AS worded
    FROM l LEFT JOIN code c ON c.kernel_name_id = l.kernel_name_id
), reason AS (
    SELECT
        replace(regexp_extract(n.name, '^smsp__pcsamp_warps_issue_stalled_(.+)$', 1), '_', ' ') AS stall,
        sum(m.value) AS samples
    FROM ncu_metric m
    JOIN l ON l.launch_id = m.launch_id
    JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
    WHERE m.run_id = run
        AND n.name LIKE 'smsp\_\_pcsamp\_warps\_issue\_stalled\_%' ESCAPE '\'
        AND n.name NOT LIKE '%\_not\_issued' ESCAPE '\'
    GROUP BY n.name
), whole AS (
    SELECT sum(r.samples) AS samples
    FROM reason r
), share AS (
    SELECT
        r.stall,
        r.samples / nullif(w.samples, 0) AS ratio
    FROM reason r CROSS JOIN whole w
)
SELECT
    'warp-stall' AS kind,
    s.stall AS object,
    s.ratio
FROM share s
WHERE s.stall <> 'selected' AND s.ratio >= 0.1
UNION ALL BY NAME
SELECT
    'no-instruction-values' AS kind,
    k.kernels - k.coded AS item_count,
    k.kernels AS of_count
FROM known k
WHERE k.coded < k.kernels
UNION ALL BY NAME
SELECT
    CASE WHEN "by" = 'ptx' THEN 'no-ptx' ELSE 'no-lines' END AS kind,
    k.coded - k.lined AS item_count,
    k.coded AS of_count
FROM known k
WHERE k.lined < k.coded
UNION ALL BY NAME
SELECT
    CASE WHEN "by" = 'ptx' THEN 'no-ptx-text' ELSE 'no-source-text' END AS kind,
    k.lined - k.worded AS item_count,
    k.lined AS of_count
FROM known k
WHERE k.worded < k.lined
