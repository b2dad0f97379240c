-- hot-lines v2: Lines of code by the GPU time they launched and the GPU idle time they caused, the user's own code first; the rows add up
--     to all device work and all idle time of the capture. Warm-up counts too: passes are not told apart yet.
-- grain: one function of the user's own code, or for work outside it one of a library; those that were only sampled have no row
-- key: line, function, path
-- notes: stack sampled warm
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'own': count each thing for the innermost function that is the user's own code (own), or for the innermost one with a
--     file, whoever wrote it (any)
--   stage VARCHAR = NULL: only work launched and calls made in this stage, and gaps before its work; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU; cpu_ns and calls are those of all
--   top BIGINT = 20: maximum rows; 0 for all
--   source VARCHAR = NULL: only this kind of capture: {timelines}; default: the first of these that has Python stacks
-- columns:
--   rank: rank by device time with that of the backward pass, then idle_ns, cpu_ns and samples; by own the user's own code comes before
--     libraries, what is in no function last
--   line: file:line without the folder that the user's files share; PyTorch records the line that a function begins at, Nsight Systems the
--     one that ran. (no file): only functions without a file were open; (no stack): outside every Python function, as on the threads of
--     autograd; (not recorded): without a captured launch, launched by a call that no stack was taken of, or before prof stored stacks,
--     idle before such work, or idle in gaps shorter than the 10,000 longest of a GPU
--   function: name of the function; NULL in the last three
--   code: own (the user's) or library, in traces of XLA for all functions, since they have files without folders; NULL in the last three
--   device_ns: device time of the work launched in it and in the library functions that it called, but not in other lines of this table; a
--     graph replay counts where its work was captured, or where it was launched if the capture is unknown
--   share_ratio: device_ns and backward_device_ns as a share of all device work, in the selected stage and on the selected GPU; NULL
--     without device work
--   idle_ns: idle time of the GPU in gaps that it was open for at least half of, on the thread that launches the work after, and innermost;
--     without such a function, in gaps within which more than half of the samples of that thread were in it; without samples, gaps before
--     the work that it launched
--   idle_ratio: idle_ns as a share of the idle time of all rows
--   total_device_ns: device_ns and backward_device_ns, with those of the lines that it called; calls within its own calls count once
--   backward_device_ns: device time of the backward pass of the operators that it called, launched by autograd's own threads
--   work_count: kernels, copies, fills and replays traced as a whole in device_ns and backward_device_ns
--   gap_count: idle gaps in idle_ns
--   cpu_ns: CPU time in it and in the library functions that it called, but not in other lines of this table; 0 where calls of Python
--     functions are not recorded
--   calls: calls of the function; 0 where they are not recorded
--   inside: library function or built-in that most of its device time, else of its idle time and CPU time, was spent in; NULL when it
--     launched most itself
--   idle_sample_count: samples of Python in it within the gaps of idle_ns, by which they count for it; NULL when Python was not sampled
--   samples: samples of Python in it and in the library functions that it called, but not in other lines of this table, on all threads,
--     waiting or running; NULL when Python was not sampled
--   path: file as recorded

WITH RECURSIVE cut AS MATERIALIZED (
    SELECT c.stack_id, c.at_id, c.code, c.inside
    FROM _stack_cut(run, "by" := "by") c
), s AS (
    SELECT
        c.at_id,
        x.stack_id,
        c.code,
        c.inside,
        x.device_ns,
        x.backward_device_ns,
        x.work_count + x.backward_count AS work_count,
        x.idle_ns,
        x.gap_count,
        x.cpu_ns,
        CASE WHEN x.stack_id = c.at_id THEN x.call_count ELSE 0 END AS call_count,
        x.idle_sample_count,
        x.sample_count
    FROM stack_sum x LEFT JOIN cut c ON c.stack_id = x.stack_id
    WHERE x.run_id = run
        AND x.source_id IN (SELECT a.source_id FROM _stack_source(run, source := source) a)
        AND (stage IS NULL OR x.stage = stage)
        AND (device IS NULL OR x.device_id IS NULL OR x.device_id = device)
), named AS (
    SELECT
        s.at_id,
        s.stack_id,
        s.code,
        s.inside,
        CASE WHEN s.at_id IS NOT NULL THEN l.line ELSE _no_line(s.stack_id) END AS line,
        l.function,
        l.path,
        s.device_ns,
        s.backward_device_ns,
        s.work_count,
        s.idle_ns,
        s.gap_count,
        s.cpu_ns,
        s.call_count,
        s.idle_sample_count,
        s.sample_count
    FROM s LEFT JOIN stack_line l ON l.run_id = run AND l.stack_id = s.at_id
), most AS (
    SELECT
        q.line,
        q.function,
        q.path,
        -- in a struct, since arg_max passes over NULL
        arg_max({'inside': q.inside}, (q.device_ns, q.idle_ns, q.cpu_ns, q.inside IS NULL, q.inside)).inside AS inside
    FROM (
        SELECT
            n.line,
            n.function,
            n.path,
            n.inside,
            sum(n.device_ns + n.backward_device_ns)::BIGINT AS device_ns,
            sum(n.idle_ns)::BIGINT AS idle_ns,
            sum(n.cpu_ns)::BIGINT AS cpu_ns
        FROM named n
        GROUP BY n.line, n.function, n.path, n.inside
    ) q
    GROUP BY q.line, q.function, q.path
), leaf AS (
    SELECT
        s.at_id,
        sum(s.device_ns + s.backward_device_ns)::BIGINT AS device_ns
    FROM s
    WHERE s.at_id IS NOT NULL
    GROUP BY s.at_id
    HAVING sum(s.device_ns + s.backward_device_ns) > 0
), up AS ( -- the lines around each, outwards
    SELECT
        f.at_id AS leaf_id,
        f.at_id
    FROM leaf f
    UNION ALL
    SELECT u.leaf_id, c.at_id
    FROM up u
    JOIN python_stack p ON p.run_id = run AND p.stack_id = u.at_id
    JOIN cut c ON c.stack_id = p.parent_stack_id
    WHERE c.at_id IS NOT NULL
), total AS (
    SELECT
        a.line,
        a.function,
        a.path,
        sum(f.device_ns)::BIGINT AS device_ns
    FROM (
        SELECT DISTINCT u.leaf_id, l.line, l.function, l.path
        FROM up u JOIN stack_line l ON l.run_id = run AND l.stack_id = u.at_id
    ) a
    JOIN leaf f ON f.at_id = a.leaf_id
    GROUP BY a.line, a.function, a.path
), t AS (
    SELECT
        n.line,
        n.function,
        n.code,
        n.path,
        sum(n.device_ns)::BIGINT AS device_ns,
        sum(n.backward_device_ns)::BIGINT AS backward_device_ns,
        sum(n.work_count)::BIGINT AS work_count,
        sum(n.idle_ns)::BIGINT AS idle_ns,
        sum(n.gap_count)::BIGINT AS gap_count,
        sum(n.cpu_ns)::BIGINT AS cpu_ns,
        sum(n.call_count)::BIGINT AS calls,
        sum(n.idle_sample_count)::BIGINT AS idle_sample_count,
        sum(n.sample_count)::BIGINT AS samples
    FROM named n
    GROUP BY n.line, n.function, n.code, n.path
    -- what was only sampled neither used the GPU nor kept it waiting, as imports
    HAVING sum(n.work_count) > 0 OR sum(n.gap_count) > 0 OR sum(n.cpu_ns) > 0 OR sum(n.call_count) > 0
)
SELECT
    row_number() OVER (
        ORDER BY CASE WHEN t.code IS NULL THEN 3 WHEN t.code = 'library' AND "by" = 'own' THEN 2 ELSE 1 END,
            t.device_ns + t.backward_device_ns DESC, t.idle_ns DESC, t.cpu_ns DESC, t.samples DESC, t.line, t.function,
            t.path
    ) AS rank,
    t.line,
    t.function,
    t.code,
    t.device_ns,
    (t.device_ns + t.backward_device_ns)
        / nullif((SELECT sum(x.device_ns + x.backward_device_ns) FROM t x), 0) AS share_ratio,
    t.idle_ns,
    t.idle_ns / nullif((SELECT sum(x.idle_ns) FROM t x), 0) AS idle_ratio,
    CASE
        WHEN t.code IS NULL THEN t.device_ns + t.backward_device_ns
        ELSE coalesce(o.device_ns, 0)
    END AS total_device_ns,
    t.backward_device_ns,
    t.work_count,
    t.gap_count,
    t.cpu_ns,
    t.calls,
    m.inside,
    CASE WHEN a.samples > 0 THEN t.idle_sample_count END AS idle_sample_count,
    CASE WHEN a.samples > 0 THEN t.samples END AS samples,
    t.path
FROM t
CROSS JOIN (SELECT sum(x.sample_count) AS samples FROM named x) a
LEFT JOIN most m
    ON m.line = t.line AND m.function IS NOT DISTINCT FROM t.function AND m.path IS NOT DISTINCT FROM t.path
LEFT JOIN total o ON o.line = t.line AND o.function = t.function AND o.path = t.path
QUALIFY top = 0 OR rank <= top
ORDER BY rank
