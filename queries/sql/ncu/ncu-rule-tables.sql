-- ncu-rule-tables v1: Tables that findings of Nsight Compute's rules come with, cell by cell
-- grain: one cell of a table of a finding about one profiled launch, range or graph
-- key: launch, rule, finding, severity, nth, table_number, row_number, column_number
-- notes: ncu rule-tables
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   findings VARCHAR = '(all)': only findings of this severity: optimization, warning, error, ok; (all) for every severity
-- columns:
--   launch: launch number in the run; in a run with one report, ncu's ID
--   kernel: kernel name as Nsight Compute spells it; of a range or graph, its kind
--   finding: title of the rule, or of the finding itself, as in ncu-rules
--   title: title of the table
--   row_number: row of the table, from 1
--   header: header of the column
--   value: the cell, a number without a unit of its own; NULL for a text
--   text: the cell, a text; NULL for a number
--   table_number: table of the finding, from 1
--   column_number: column of the table, from 1
--   rule: identifier of the rule
--   nth: number of the finding among those with the same rule, title and severity on the launch
--   severity: optimization, warning, error, ok or none

SELECT
    _id_number(c.launch_id) - 1 AS launch,
    coalesce(k.name, l.kind) AS kernel,
    r.title AS finding,
    c.title,
    c.row_number,
    c.header,
    c.value,
    c.text,
    c.table_number,
    c.column_number,
    r.rule,
    x.nth,
    r.severity
FROM ncu_rule_cell c
JOIN ncu_rule r ON r.run_id = c.run_id AND r.launch_id = c.launch_id AND r.finding_id = c.finding_id
JOIN _finding_nth x ON x.run_id = c.run_id AND x.launch_id = c.launch_id AND x.finding_id = c.finding_id
JOIN ncu_launch l ON l.run_id = c.run_id AND l.launch_id = c.launch_id
LEFT JOIN kernel_name k ON k.run_id = l.run_id AND k.kernel_name_id = l.kernel_name_id
WHERE c.run_id = run
    AND (kernel IS NULL OR contains(lower(coalesce(k.name, l.kind)), lower(kernel)))
    AND (launch IS NULL OR _id_number(c.launch_id) - 1 = launch)
    AND (findings = '(all)' OR r.severity = findings)
ORDER BY c.launch_id, c.finding_id, c.table_number, c.row_number, c.column_number
