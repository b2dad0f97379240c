-- _collective_name: Kernel names of collectives, by kernel_rule.
-- grain: one kernel name
-- key: kernel_name_id
-- needs: kernel
-- columns:
--   kernel_name_id BIGINT: the name
--   family VARCHAR: kernel family by kernel_rule; NULL when no rule matches
--   said VARCHAR: the operation that the family says; NULL when it says none

SELECT
    c.kernel_name_id,
    c.family,
    nullif(
        regexp_extract(c.family, '(all-reduce|all-gather|reduce-scatter|all-to-all|broadcast|send-recv|reduce)$'),
        ''
    ) AS said
FROM kernel_class c
WHERE c.run_id = $run AND c.role = 'collective'
