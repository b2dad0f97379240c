-- _op_call: Calls of operators by the chain of names from the outermost operator around them to themselves.
-- grain: one call
-- key: op_id
-- needs: op
-- columns:
--   op_id BIGINT: the call
--   chain_id BIGINT: 63-bit hash of the source, the stage that the outermost operator was called in, and the names
--   parent_chain_id BIGINT: the chain without its last name; NULL for a first one
--   stage VARCHAR: that stage; (none) outside every stage; NULL but for an outermost operator

WITH RECURSIVE o AS MATERIALIZED (
    SELECT p.op_id, p.parent_op_id, p.op_name_id
    FROM op p
    WHERE p.run_id = $run AND p.parent_op_id IS NOT NULL
), w AS (
    SELECT
        p.op_id,
        (hash(p.source_id, coalesce(s.stage, '(none)'), p.op_name_id) >> 1)::BIGINT AS chain_id,
        NULL::BIGINT AS parent_chain_id,
        coalesce(s.stage, '(none)') AS stage
    FROM op p LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
    WHERE p.run_id = $run AND p.parent_op_id IS NULL
    UNION ALL
    SELECT
        o.op_id,
        (hash(w.chain_id, o.op_name_id) >> 1)::BIGINT,
        w.chain_id,
        NULL
    FROM w JOIN o ON o.parent_op_id = w.op_id
)
SELECT w.op_id, w.chain_id, w.parent_chain_id, w.stage
FROM w
