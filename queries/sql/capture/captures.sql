-- captures v1: How prof capture made a run: mode, code, machine and outcome.
-- grain: one captured run; of a job of several nodes, one node
-- key: source_id
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   mode: light, deep or custom (tools chosen with --tools)
--   status: ok, partial (a recording failed or was stopped), failed (nothing was captured) or running (prof was killed)
--   reason: why the status is not ok
--   git_commit: git commit of the working directory; NULL outside a repository
--   git_branch: git branch
--   is_git_dirty: whether there were uncommitted changes; NULL outside a repository
--   pass_count: recordings, each one run of the workload
--   device_count: GPUs that NVML listed; 0 when NVML was unavailable
--   input_count: files given by --input
--   sample_count: NVML samples
--   started_at: start time, UTC
--   duration_ns: start of the first recording to the end of the last; NULL when prof was killed
--   command: command line of the workload, secrets masked
--   folder: working directory
--   workload_key: hash of command line and working directory: the same for every run of one workload
--   source_id: the source: run.json
--   node: node of the job, from 0; NULL for a capture that is a run by itself
--   host: the machine of that node; NULL with node

WITH n AS (
    SELECT
        x.source_id,
        count(*) FILTER (x.kind = 'pass') AS passes,
        count(*) FILTER (x.kind = 'device') AS devices,
        count(*) FILTER (x.kind = 'input') AS inputs,
        count(*) FILTER (x.kind = 'sample') AS samples
    FROM (
        SELECT p.run_id, p.source_id, 'pass' AS kind
        FROM capture_pass p
        UNION ALL
        SELECT d.run_id, d.source_id, 'device'
        FROM capture_device d
        UNION ALL
        SELECT i.run_id, i.source_id, 'input'
        FROM capture_input i
        UNION ALL
        SELECT s.run_id, s.source_id, 'sample'
        FROM device_sample s
    ) x
    WHERE x.run_id = run
    GROUP BY x.source_id
)
SELECT
    c.mode,
    c.status,
    c.reason,
    c.git_commit,
    c.git_branch,
    c.is_git_dirty,
    coalesce(n.passes, 0) AS pass_count,
    coalesce(n.devices, 0) AS device_count,
    coalesce(n.inputs, 0) AS input_count,
    coalesce(n.samples, 0) AS sample_count,
    c.started_at,
    c.duration_ns,
    c.command,
    c.folder,
    c.workload_key,
    c.source_id,
    k.node_rank AS node,
    k.host
FROM capture c
LEFT JOIN n ON n.source_id = c.source_id
LEFT JOIN capture_node k ON k.run_id = c.run_id AND k.source_id = c.source_id
WHERE c.run_id = run
ORDER BY k.node_rank, c.source_id
