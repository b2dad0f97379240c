-- capture-passes v1: The recordings of prof capture: each one runs the workload under a tool, or without one, with its outcome.
-- grain: one recording; of a job of several nodes, on one node
-- key: pass_id
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   pass: recording: tool and number, e.g. nsys-2
--   tool: none (baseline), nsys, ncu or torch
--   mode: mode of the tool, which overhead is grouped by: baseline, light, deep, kernels or operators
--   repeat: repeat number among the recordings of the tool, from 1
--   status: ok, failed, timeout, too_large, interrupted, no_report, not_run or running (prof was killed)
--   workload_ns: run time of the workload's process, start to end; NULL when it did not start or end
--   duration_ns: run time of the tool, start to end, report writing included; NULL when it did not end
--   exit_code: exit code of the workload; NULL when it did not exit by itself
--   artifact_bytes: size of the files it wrote; NULL when it wrote none
--   reason: why the status is not ok
--   signal: signal that ended the workload; NULL when none did
--   started_at: start time, UTC
--   tool_version: version of the tool; NULL without a tool
--   is_marked: whether prof's helper marked stages
--   clock_control: clock control of ncu: none or base; NULL for other tools
--   source_count: sources that were ingested from it
--   pass_id: recording number in order of execution, from 1; on node K of a job from 1000 x K on
--   command: command line, secrets masked
--   node: node of the job, from 0; NULL for a capture that is a run by itself

SELECT
    p.name AS pass,
    p.tool,
    p.mode,
    p.repeat_id AS repeat,
    p.status,
    p.workload_ns,
    p.duration_ns,
    p.exit_code,
    p.artifact_bytes,
    p.reason,
    p.signal,
    p.started_at,
    p.tool_version,
    p.is_marked,
    p.clock_control,
    (
        SELECT count(*)
        FROM capture_source s
        WHERE s.run_id = p.run_id AND s.pass_id = p.pass_id
    ) AS source_count,
    p.pass_id,
    p.command,
    k.node_rank AS node
FROM capture_pass p LEFT JOIN capture_node k ON k.run_id = p.run_id AND k.source_id = p.source_id
WHERE p.run_id = run
ORDER BY p.pass_id
