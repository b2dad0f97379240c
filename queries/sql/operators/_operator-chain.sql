-- _operator-chain: Calls of operators by the chain of names from the outermost operator around them, or from one of given names, to themselves.
-- grain: one call that has such a chain
-- key: op_id
-- params:
--   run VARCHAR: the run
--   root VARCHAR = NULL: chains begin with the outermost operator that fits one of these globs; by default with the outermost one
--   depth BIGINT = 0: only chains of so many names at most; 0 for all
--   stage VARCHAR = NULL: only chains whose outermost operator was called in this stage; (none) for those outside every stage
--   source VARCHAR = NULL: operators of torch (traces) or nsys (emit_nvtx); by default the first of them that the run has
-- columns:
--   op_id: the call
--   chain_id: 63-bit hash of the names
--   parent_chain_id: the chain without its last name; NULL for a first one
--   op_name_id: the last name
--   depth: number of names

WITH RECURSIVE o AS MATERIALIZED (
    SELECT p.op_id, p.parent_op_id, p.op_name_id, p.path_id
    FROM op p
    WHERE p.run_id = run AND p.source_id IN (SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages')
), fit AS MATERIALIZED (
    SELECT n.op_name_id FROM op_name n WHERE n.run_id = run AND _fits(n.name, root)
), w AS (
    SELECT o.op_id, CASE WHEN fit.op_name_id IS NOT NULL THEN (hash(o.op_name_id) >> 1)::BIGINT END AS chain_id, NULL::BIGINT AS parent_chain_id, o.op_name_id,
        CASE WHEN fit.op_name_id IS NULL THEN 0 ELSE 1 END AS depth
    FROM o LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = o.path_id LEFT JOIN fit ON fit.op_name_id = o.op_name_id
    WHERE o.parent_op_id IS NULL AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    UNION ALL
    SELECT o.op_id, CASE WHEN w.chain_id IS NOT NULL THEN (hash(w.chain_id, o.op_name_id) >> 1)::BIGINT WHEN fit.op_name_id IS NOT NULL THEN (hash(o.op_name_id) >> 1)::BIGINT END, w.chain_id, o.op_name_id,
        CASE WHEN w.depth = 0 AND fit.op_name_id IS NULL THEN 0 ELSE w.depth + 1 END
    FROM w JOIN o ON o.parent_op_id = w.op_id LEFT JOIN fit ON fit.op_name_id = o.op_name_id
    WHERE depth = 0 OR w.depth < depth
)
SELECT w.op_id, w.chain_id, w.parent_chain_id, w.op_name_id, w.depth
FROM w
WHERE w.chain_id IS NOT NULL
