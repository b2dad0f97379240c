-- module-times v1: Times of nn.Modules, from the Python stacks of a trace, with their backward pass in a column of its own.
-- grain: one module path, instance or class
-- key: module
-- notes: stack module launch
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'path': group by path (names from the outermost module to this one), name (an instance, as Linear_3) or class (Linear)
--   depth BIGINT = 0: only modules nested in fewer than this many others; 0 for all
--   stage VARCHAR = NULL: only calls in this stage; (none) for calls outside every stage
--   top BIGINT = 0: maximum rows; 0 for all
-- columns:
--   rank: rank by total device time, then total CPU time
--   module: module path, name or class
--   calls: forward calls; graph replays are none
--   self_device_ns: device time of the kernels, copies and fills it launched itself, excluding modules inside it; of graph replays what it
--     captured, where that is known
--   total_device_ns: device time including modules inside it; nested calls of the same row count once; NULL when no device work was
--     recorded
--   self_cpu_ns: CPU time, excluding modules called inside it
--   total_cpu_ns: CPU time including modules inside it; nested calls of the same row count once
--   share_ratio: self_device_ns as a share of all device work launched from Python functions, in modules or not; NULL without device work
--   backward_device_ns: device time of the backward pass of operators called by it but not by modules inside it, matched by autograd's
--     sequence numbers; NULL when there is none

WITH keyed AS (
    SELECT
        s.module_path,
        string_split(s.module_path, ' > ') AS names,
        CASE "by"
            WHEN 'class' THEN list_transform(names, lambda x: regexp_replace(x, '_[0-9]+$', ''))
            ELSE names
        END AS keys,
        CASE "by"
            WHEN 'path' THEN s.module_path
            WHEN 'name' THEN keys[-1]
            WHEN 'class' THEN keys[-1]
            ELSE error('ARGUMENT: --by is path, name or class')
        END AS module,
        "by" <> 'path' AND list_contains(keys[:-2], keys[-1]) AS is_nested,
        s.call_count AS calls,
        s.self_device_ns,
        s.total_device_ns,
        s.self_cpu_ns,
        s.total_cpu_ns,
        s.backward_device_ns,
        s.launched_ns
    FROM module_sum s
    WHERE s.run_id = run AND (stage IS NULL OR s.stage = stage)
), t AS (
    SELECT
        k.module,
        sum(k.calls)::BIGINT AS calls,
        sum(k.self_device_ns)::BIGINT AS self_device_ns,
        CASE
            WHEN sum(k.total_device_ns) IS NOT NULL THEN coalesce(sum(k.total_device_ns) FILTER (NOT k.is_nested), 0)
        END::BIGINT AS total_device_ns,
        sum(k.self_cpu_ns)::BIGINT AS self_cpu_ns,
        coalesce(sum(k.total_cpu_ns) FILTER (NOT k.is_nested), 0)::BIGINT AS total_cpu_ns,
        sum(k.self_device_ns) / nullif((SELECT sum(x.launched_ns) FROM keyed x), 0) AS share_ratio,
        sum(k.backward_device_ns)::BIGINT AS backward_device_ns
    FROM keyed k
    WHERE k.module_path IS NOT NULL AND (depth = 0 OR len(k.names) <= depth)
    GROUP BY k.module
)
SELECT
    row_number() OVER (ORDER BY t.total_device_ns DESC, t.total_cpu_ns DESC, t.module) AS rank,
    t.module,
    t.calls,
    t.self_device_ns,
    t.total_device_ns,
    t.self_cpu_ns,
    t.total_cpu_ns,
    t.share_ratio,
    t.backward_device_ns
FROM t
WHERE t.calls > 0 OR t.total_device_ns <> 0
QUALIFY top = 0 OR rank <= top
ORDER BY rank
