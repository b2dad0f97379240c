-- _operator-shape: With which inputs a call of an operator is counted that is inside another call of the same operator, for sums by inputs.
-- grain: one such call
-- key: op_id
-- params:
--   run VARCHAR: the run
-- columns:
--   op_id: the call
--   op_input_id: its inputs; of a folded call those of the call it is one with
--   is_nested: whether a call of the same operator with the same inputs is open around it; true for a folded call

WITH RECURSIVE odd AS MATERIALIZED (
    SELECT o.op_id, o.parent_op_id, o.op_name_id, o.is_folded FROM op o WHERE o.run_id = run AND (o.is_folded OR o.is_nested)
), owner AS (
    SELECT odd.op_id, odd.parent_op_id AS owner_op_id FROM odd WHERE odd.is_folded
    UNION ALL
    SELECT owner.op_id, odd.parent_op_id FROM owner JOIN odd ON odd.op_id = owner.owner_op_id WHERE odd.is_folded
), alike AS ( -- calls on a thread nest, so one that began before and ends no earlier is around it
    SELECT o.op_id, o.op_input_id, o.is_nested, max(o.start_ns + o.duration_ns) OVER (PARTITION BY o.source_id, o.pid, o.tid, o.op_name_id, o.op_input_id ORDER BY o.start_ns, o.depth
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_end_ns, o.start_ns, o.start_ns + o.duration_ns AS end_ns
    FROM op o
    WHERE o.run_id = run AND NOT o.is_folded AND o.op_name_id IN (SELECT odd.op_name_id FROM odd WHERE NOT odd.is_folded)
)
SELECT owner.op_id, o.op_input_id, true AS is_nested
FROM owner JOIN op o ON o.op_id = owner.owner_op_id
WHERE o.run_id = run AND NOT o.is_folded
UNION ALL
SELECT a.op_id, a.op_input_id, coalesce(a.last_end_ns >= a.end_ns AND a.last_end_ns > a.start_ns, false)
FROM alike a
WHERE a.is_nested
