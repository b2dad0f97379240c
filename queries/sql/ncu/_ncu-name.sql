-- _ncu-name: Which kernel of the counted timeline a kernel that Nsight Compute profiled is, by name: the very same name, else the only one with the same shared spelling.
-- grain: one name of a profiled kernel
-- key: kernel_name_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kernel_name_id: name as ncu spells it
--   timeline_name_id: name as the timeline spells it; NULL when the timeline has none, or several of the spelling

SELECT DISTINCT m.kernel_name_id, m.timeline_name_id FROM ncu_match m WHERE m.run_id = run AND _is_asked(m.kind, m.is_counted, source)
