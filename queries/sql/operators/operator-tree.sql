-- operator-tree v2: Call tree of operators: calls with the same operators around them are merged.
-- grain: one chain of operator names, each called by the previous one
-- key: rank
-- notes: operators operator-calls outside
-- params:
--   run VARCHAR: the run
--   root VARCHAR = NULL: start with the operators that match one of these globs, separated by commas; default: those that no operator
--     called
--   depth BIGINT = 5: maximum levels; 0 for all
--   min_ratio DOUBLE = 0.001: omit branches with a smaller share_ratio
--   stage VARCHAR = NULL: only trees whose first operator was called in this stage; (none) for calls outside every stage
--   {operator source}
-- columns:
--   rank: row in the tree, top down; branches of an operator by device time, then by CPU time
--   operator: operator name, indented two spaces per level
--   depth: level, from 1
--   calls: number of calls; unlike in top-operators, an operator that only calls another of the same name counts, and has that one as its
--     branch
--   total_device_ns: device time of the work launched by it and by operators inside it; graph replays count the work captured there
--   self_device_ns: device time of the work it launched itself, excluding operators inside it
--   total_cpu_ns: CPU time
--   self_cpu_ns: CPU time, excluding the operators and CUDA API calls inside it
--   share_ratio: total_device_ns as a share of all device work of the capture, in the selected stage; without device time, total_cpu_ns as
--     a share of all first operators

WITH RECURSIVE named AS ( -- numbers in place of names, in their order
    SELECT
        n.op_name_id,
        n.name,
        row_number() OVER (ORDER BY n.name) AS nth,
        _fits(n.name, root) AS is_root
    FROM op_name n
    WHERE n.run_id = run
), part AS (
    SELECT
        c.chain_id,
        unnest(c.op_name_ids) AS op_name_id,
        generate_subscripts(c.op_name_ids, 1) AS place
    FROM op_chain c
    WHERE c.run_id = run
), chained AS (
    SELECT
        p.chain_id,
        list(n.nth ORDER BY p.place) AS names,
        min(CASE WHEN n.is_root THEN p.place END) AS first
    FROM part p JOIN named n ON n.op_name_id = p.op_name_id
    GROUP BY p.chain_id
), node AS ( -- from the first name that fits
    SELECT
        h.names[h.first:] AS chain,
        len(chain) AS level,
        sum(c.call_count)::BIGINT AS calls,
        sum(c.total_device_ns)::BIGINT AS total_device_ns,
        sum(c.self_device_ns)::BIGINT AS self_device_ns,
        sum(c.total_cpu_ns)::BIGINT AS total_cpu_ns,
        sum(c.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM op_chain c JOIN chained h ON h.chain_id = c.chain_id
    WHERE c.run_id = run
        AND c.source_id IN (
            SELECT x.source_id
            FROM _operator_source(run, source := source) x
            WHERE x.capture <> 'key_averages'
        )
        AND (stage IS NULL OR c.stage = stage)
        AND h.first IS NOT NULL
        AND (depth = 0 OR len(chain) <= depth)
    GROUP BY chain
), first AS (
    SELECT
        (
            SELECT sum(w.total_ns)
            FROM _operator_work(run, stage := stage, source := source) w
        ) AS device_ns,
        nullif(sum(x.total_cpu_ns), 0) AS cpu_ns
    FROM node x
    WHERE x.level = 1
), share AS (
    SELECT
        x.chain,
        x.level,
        x.calls,
        x.total_device_ns,
        x.self_device_ns,
        x.total_cpu_ns,
        x.self_cpu_ns,
        CASE WHEN f.device_ns > 0 THEN x.total_device_ns / f.device_ns ELSE x.total_cpu_ns / f.cpu_ns END AS share_ratio
    FROM node x CROSS JOIN first f
), kept AS (
    SELECT
        x.chain,
        x.level,
        x.calls,
        x.total_device_ns,
        x.self_device_ns,
        x.total_cpu_ns,
        x.self_cpu_ns,
        x.share_ratio,
        row_number() OVER (ORDER BY x.total_device_ns DESC, x.total_cpu_ns DESC, x.chain) AS place
    FROM share x
    WHERE coalesce(x.share_ratio, 1) >= min_ratio
), w AS (
    SELECT
        k.chain,
        k.place,
        [k.place] AS places
    FROM kept k
    WHERE k.level = 1
    UNION ALL
    SELECT
        k.chain,
        k.place,
        list_append(w.places, k.place)
    FROM w JOIN kept k ON k.chain[:-2] = w.chain
)
SELECT
    row_number() OVER (ORDER BY w.places) AS rank,
    repeat('  ', k.level - 1) || n.name AS operator,
    k.level AS depth,
    k.calls,
    k.total_device_ns,
    k.self_device_ns,
    k.total_cpu_ns,
    k.self_cpu_ns,
    k.share_ratio
FROM w JOIN kept k ON k.place = w.place JOIN named n ON n.nth = k.chain[-1]
ORDER BY rank
