-- capture-passes v1: What prof capture did: each run of the workload, under which tool, and its outcome.
-- grain: one pass of the workload
-- key: pass
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   pass: tool and number, e.g. nsys-2
--   tool: none (baseline), nsys, ncu or torch
--   mode: what the tool was to do, as overhead is told by it: baseline, light, deep, kernels or operators
--   repeat: 1, 2, ... among the passes of that tool
--   status: ok, failed, timeout, too_large, interrupted, no_report, not_run or running (prof was killed)
--   workload_ns: start of the workload's process to its end; NULL when it did not start or end
--   duration_ns: start of the tool to its end, reports written; NULL when it did not end
--   exit_code: of the workload; NULL when it did not end by itself
--   artifact_bytes: size of what the pass left; NULL when it left nothing
--   reason: why the status is not ok
--   signal: that ended the workload; NULL when none did
--   started_at: UTC start
--   tool_version: version of the tool; NULL for none
--   is_marked: whether prof's helper marked stages in it
--   clock_control: of ncu: none or base; NULL for other tools
--   source_count: sources of the run that came out of it
--   pass_id: 1, 2, ... in the order in which they ran
--   command: command line that was run, secrets masked

SELECT p.name AS pass, p.tool, p.mode, p.repeat_id AS repeat, p.status, p.workload_ns, p.duration_ns, p.exit_code, p.artifact_bytes, p.reason, p.signal, p.started_at, p.tool_version, p.is_marked, p.clock_control,
    (SELECT count(*) FROM capture_source s WHERE s.run_id = p.run_id AND s.pass_id = p.pass_id) AS source_count, p.pass_id, p.command
FROM capture_pass p
WHERE p.run_id = run
ORDER BY p.pass_id
