-- captures v1: How prof capture made a run: mode, code and machine, and whether all of it went well.
-- grain: one captured run
-- key: source_id
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   mode: light, deep or custom (the tools were named)
--   status: ok, partial (a pass failed or was stopped), failed (nothing was captured) or running (prof was killed)
--   reason: why the status is not ok
--   git_commit: commit of the working folder's repository; NULL without one
--   git_branch: its branch
--   is_git_dirty: whether it held changes that were not committed; NULL without a repository
--   pass_count: passes of the workload
--   device_count: GPUs that NVML told of; 0 when it could not be asked
--   input_count: files given by --input
--   sample_count: samples of NVML
--   started_at: UTC start
--   duration_ns: start of the first pass to the end of the last; NULL when prof was killed
--   command: command line of the workload, secrets masked
--   folder: its working folder
--   workload_key: hash of command line and working folder: the same for every run of one workload
--   source_id: the source: run.json

SELECT c.mode, c.status, c.reason, c.git_commit, c.git_branch, c.is_git_dirty,
    (SELECT count(*) FROM capture_pass p WHERE p.run_id = c.run_id AND p.source_id = c.source_id) AS pass_count,
    (SELECT count(*) FROM capture_device d WHERE d.run_id = c.run_id AND d.source_id = c.source_id) AS device_count,
    (SELECT count(*) FROM capture_input i WHERE i.run_id = c.run_id AND i.source_id = c.source_id) AS input_count,
    (SELECT count(*) FROM device_sample s WHERE s.run_id = c.run_id AND s.source_id = c.source_id) AS sample_count,
    c.started_at, c.duration_ns, c.command, c.folder, c.workload_key, c.source_id
FROM capture c
WHERE c.run_id = run
ORDER BY c.source_id
