-- operator-kernels v1: The kernels, copies and fills that operators end up in. By self and by outermost the rows add up to all device work of the capture; by total they do not, since operators are inside others.
-- grain: one operator and kernel name or operation
-- key: operator, kind, kernel
-- notes: operators operator-calls
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that fit one of these globs (commas between)
--   by VARCHAR = NULL: whose work it is: self (of the innermost operator around the launch), outermost, or total (of every operator around it);
--     by default total for given operators, else self
--   stage VARCHAR = NULL: only work launched in this stage; (none) for that outside every stage
--   top BIGINT = 0: rows of an operator at most; 0 for all
--   source VARCHAR = NULL: operators of torch (traces) or nsys (emit_nvtx); by default the first of them that the run has
-- columns:
--   operator: name; (none) for work launched outside every operator, (no launch) when the launch was not captured
--   kernel: demangled name, or the operation of a copy or fill
--   kind: kernel, memcpy or memset
--   calls: executions
--   total_ns: sum of the execution times
--   mean_ns: mean execution time
--   min_ns: shortest execution
--   max_ns: longest execution
--   share_ratio: total_ns as a share of all rows of the operator before top cuts
--   role: what the kernel's family does; NULL when no rule matches
--   family: kernel family by kernel_rule; NULL when no rule matches

WITH RECURSIVE mode AS (
    SELECT coalesce("by", CASE WHEN operator IS NULL THEN 'self' ELSE 'total' END) AS how
), counted AS (
    SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages'
), call AS MATERIALIZED ( -- by self a chain is the name alone
    SELECT c.op_id, c.chain_id, c.parent_chain_id, c.op_name_id FROM _operator_chain(run, source := source) c WHERE (SELECT mode.how FROM mode) <> 'self'
    UNION ALL
    SELECT o.op_id, o.op_name_id, NULL, o.op_name_id FROM op o
    WHERE o.run_id = run AND o.source_id IN (SELECT counted.source_id FROM counted) AND (SELECT mode.how FROM mode) = 'self'
), node AS (
    SELECT DISTINCT call.chain_id, call.parent_chain_id, call.op_name_id FROM call
), around AS (
    SELECT node.chain_id, node.parent_chain_id, node.op_name_id FROM node
    UNION ALL
    SELECT a.chain_id, node.parent_chain_id, node.op_name_id FROM around a JOIN node ON node.chain_id = a.parent_chain_id
), owner AS ( -- an operator around itself counts work once
    SELECT DISTINCT a.chain_id, n.name
    FROM around a JOIN op_name n ON n.run_id = run AND n.op_name_id = a.op_name_id
    WHERE CASE (SELECT mode.how FROM mode) WHEN 'outermost' THEN a.parent_chain_id IS NULL WHEN 'self' THEN true WHEN 'total' THEN true
        ELSE error('ARGUMENT: --by is self, outermost or total') END
    UNION ALL SELECT 0, '(none)'
    UNION ALL SELECT -1, '(no launch)'
), work AS (
    SELECT k.source_id, k.op_id, k.path_id, k.kernel_name_id, NULL::VARCHAR AS operation, k.duration_ns FROM kernel k WHERE k.run_id = run
    UNION ALL
    SELECT m.source_id, m.op_id, m.path_id, NULL, m.operation, m.duration_ns FROM memop m WHERE m.run_id = run
), part AS (
    SELECT CASE WHEN w.op_id IS NULL THEN -1 WHEN w.op_id = 0 THEN 0 ELSE call.chain_id END AS chain_id, w.kernel_name_id, w.operation,
        count(*) AS calls, sum(w.duration_ns) AS total_ns, min(w.duration_ns) AS min_ns, max(w.duration_ns) AS max_ns
    FROM work w LEFT JOIN call ON call.op_id = w.op_id LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = w.path_id
    WHERE w.source_id IN (SELECT counted.source_id FROM counted) AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY ALL
), t AS (
    SELECT owner.name AS operator, coalesce(n.name, p.operation) AS kernel, p.kernel_name_id, sum(p.calls)::BIGINT AS calls, sum(p.total_ns)::BIGINT AS total_ns, min(p.min_ns) AS min_ns, max(p.max_ns) AS max_ns,
        CASE WHEN n.name IS NOT NULL THEN 'kernel' WHEN starts_with(lower(p.operation), 'memset') THEN 'memset' ELSE 'memcpy' END AS kind
    FROM part p JOIN owner ON owner.chain_id = p.chain_id LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = p.kernel_name_id
    WHERE _fits(owner.name, operator)
    GROUP BY owner.name, n.name, p.operation, p.kernel_name_id
), q AS (
    SELECT t.operator, t.kernel, t.kind, t.calls, t.total_ns, t.min_ns, t.max_ns, c.role, c.family, sum(t.total_ns) OVER (PARTITION BY t.operator) AS operator_ns,
        row_number() OVER (PARTITION BY t.operator ORDER BY t.total_ns DESC, t.kind, t.kernel) AS place
    FROM t LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = t.kernel_name_id
)
SELECT q.operator, q.kernel, q.kind, q.calls, q.total_ns, q.total_ns / q.calls AS mean_ns, q.min_ns, q.max_ns, q.total_ns / nullif(q.operator_ns, 0) AS share_ratio, q.role, q.family
FROM q
WHERE top = 0 OR q.place <= top
ORDER BY q.operator_ns DESC, q.operator, q.place
