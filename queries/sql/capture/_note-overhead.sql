-- _note-overhead: A profiler that slowed the workload much, or why its overhead is not known.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

-- Nsight Compute replays kernels one by one: its passes take long by design, and nothing but what it measures of kernels is taken from them.
SELECT 'the overhead of profiling is not known, since ' || CASE WHEN EXISTS (SELECT 1 FROM capture_pass p WHERE p.run_id = c.run_id AND p.tool = 'none') THEN 'no pass without a tool ended well' ELSE 'there was no pass without a tool: capture with --baseline' END AS note
FROM capture c
WHERE c.run_id = run AND NOT EXISTS (SELECT 1 FROM capture_pass p WHERE p.run_id = c.run_id AND p.tool = 'none' AND p.status = 'ok' AND p.workload_ns > 0)
UNION ALL
SELECT format('profiling ({}) made the workload {:.0f} % slower: times on the CPU, and of kernels that wait for it, are too long; ', o.mode, 100 * o.overhead_ratio)
    || CASE o.mode WHEN 'operators' THEN 'the time is that of the whole process, in which PyTorch also writes its trace; take times from nsys' WHEN 'deep' THEN 'capture with --mode light' WHEN 'light' THEN 'capture less of it, with --range or --delay and --duration' ELSE 'take times from a capture with --mode light' END
FROM overhead_v1(run) o WHERE o.tool <> 'ncu' AND o.overhead_ratio > 0.25
UNION ALL
SELECT format('under {} the workload took {:.0f} % less time than without a tool: passes differ by more than profiling costs, since the first ones start cold (files not cached, kernels not compiled yet)', o.mode, -100 * o.overhead_ratio)
    || CASE WHEN o.baseline_count < 3 OR o.pass_count < 3 THEN '; --repeats 3 takes the median of each' ELSE '' END
FROM overhead_v1(run) o WHERE o.overhead_ratio < -0.05
