-- longest-gaps v3: The longest times in which a GPU had no work, each with where the work after was launched and what its thread did meanwhile, of whatever process it is.
-- grain: one idle gap
-- key: source_id, device, start_ns
-- notes: timelines accounting launch
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: rows at most; 0 for all: the longest 10,000 of each GPU of a source are kept
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for those before work outside every stage or whose launch was not captured
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by length
--   duration_ns: from the end of the work before to the start of the work after
--   start_ns: end of the work before, from the start of the source
--   cause: the part that most of it is, as in accounting: launch, launch-delay, launch-latency, wait, call, host, profiler, queued or unknown
--   host_range: innermost range that the thread which launched the work after was in when the gap began, as recorded; NULL outside every range, or when that launch was not captured
--   operator: innermost operator that was open on that thread for half of the gap or longer, else the one that was longest; NULL for none, or not recorded
--   os_call: call into the operating system that was open on that thread the longest in the gap; NULL for none, or not recorded or stored
--   before: kernel that ended last before the gap, or copy, fill or graph replay
--   after: kernel that began at its end, or copy, fill or graph replay
--   stage: the stage that launched the work after; (none) outside every stage, or when its launch was not captured: pid is NULL then
--   range: normalised names of the ranges that launched the work after, from the outermost one; NULL outside every range, or when that launch was not captured
--   device: GPU
--   launch_ns: idle, inside an API call that launches work and takes less than 100 us, or launches a graph
--   launch_delay_ns: idle, between two CUDA calls less than 100 us apart, on the way to the next launch
--   launch_latency_ns: idle, after a launch that began when the GPU had run dry, before its work started; shorter than 100 us
--   wait_ns: idle, inside an API call that waits for the device, or copies work that is not the next
--   call_ns: idle, inside another CUDA call: memory, modules, streams; or one that launches and takes 100 us or longer, as it loads code first
--   host_ns: idle, outside CUDA for 100 us or longer
--   profiler_ns: idle, the profiler at work on that thread; 0 where a capture does not say on which, as the PyTorch profiler's
--   queued_ns: idle although the launch had returned: it began before the GPU ran dry, or the work took 100 us and longer to start
--   unknown_ns: idle before work whose launch was not captured
--   source_id: the source
--   pid: process that launched the work after; NULL when its launch was not captured
--   tid: thread that did

WITH g AS ( -- those shown; all that follows is only of these
    SELECT row_number() OVER (ORDER BY g.duration_ns DESC, g.source_id, g.device_id, g.start_ns) AS rank, g.source_id, g.device_id, g.start_ns, g.start_ns + g.duration_ns AS end_ns, g.duration_ns, g.pid, g.tid, coalesce(s.stage, '(none)') AS stage, g.path_id,
        g.before_kernel_name_id, g.before_operation, g.after_kernel_name_id, g.after_operation, g.launch_ns, g.launch_delay_ns, g.launch_latency_ns, g.wait_ns, g.call_ns, g.host_ns, g.profiler_ns, g.queued_ns, g.unknown_ns
    FROM gap g LEFT JOIN path_stage s ON s.run_id = g.run_id AND s.path_id = g.path_id
    WHERE g.run_id = run AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR g.device_id = device) AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    QUALIFY top = 0 OR rank <= top
), host AS (
    SELECT g.rank, arg_max(n.name, (n.start_ns, n.range_id)) AS name
    FROM g JOIN nvtx_range n ON n.run_id = run AND n.source_id = g.source_id AND n.pid = g.pid AND (n.tid = g.tid OR n.style = 'start_end')
        AND n.start_ns <= g.start_ns AND (n.duration_ns IS NULL OR n.start_ns + n.duration_ns > g.start_ns)
    GROUP BY g.rank
), spent AS (
    SELECT g.rank, g.duration_ns, o.op_name_id, o.depth, o.op_id, least(o.start_ns + o.duration_ns, g.end_ns) - greatest(o.start_ns, g.start_ns) AS inside_ns
    FROM g JOIN op o ON o.run_id = run AND o.source_id = g.source_id AND o.pid = g.pid AND o.tid = g.tid AND o.start_ns < g.end_ns AND o.start_ns + o.duration_ns > g.start_ns
), best AS (
    SELECT s.rank, arg_max(s.op_name_id, (least(2 * s.inside_ns, s.duration_ns), s.depth, s.inside_ns, -s.op_id)) AS op_name_id FROM spent s GROUP BY s.rank
), os AS (
    SELECT g.rank, arg_max(o.api_name_id, (least(o.start_ns + o.duration_ns, g.end_ns) - greatest(o.start_ns, g.start_ns), -o.start_ns, o.api_name_id)) AS api_name_id
    FROM g JOIN osrt_call o ON o.run_id = run AND o.source_id = g.source_id AND o.pid = g.pid AND o.tid = g.tid AND o.start_ns < g.end_ns AND o.start_ns + o.duration_ns > g.start_ns
    GROUP BY g.rank
)
SELECT g.rank, g.duration_ns, g.start_ns, _gap_cause(g.launch_ns, g.launch_delay_ns, g.launch_latency_ns, g.wait_ns, g.call_ns, g.host_ns, g.profiler_ns, g.queued_ns, g.unknown_ns) AS cause,
    host.name AS host_range, p.name AS operator, c.name AS os_call, coalesce(b.name, g.before_operation) AS before, coalesce(a.name, g.after_operation) AS after, g.stage, r.path AS range, g.device_id AS device,
    g.launch_ns, g.launch_delay_ns, g.launch_latency_ns, g.wait_ns, g.call_ns, g.host_ns, g.profiler_ns, g.queued_ns, g.unknown_ns, g.source_id, g.pid, g.tid
FROM g
LEFT JOIN host ON host.rank = g.rank
LEFT JOIN best ON best.rank = g.rank
LEFT JOIN op_name p ON p.run_id = run AND p.op_name_id = best.op_name_id
LEFT JOIN os ON os.rank = g.rank
LEFT JOIN api_name c ON c.run_id = run AND c.api_name_id = os.api_name_id
LEFT JOIN range_path r ON r.run_id = run AND r.path_id = g.path_id
LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = g.before_kernel_name_id
LEFT JOIN kernel_name a ON a.run_id = run AND a.kernel_name_id = g.after_kernel_name_id
ORDER BY g.rank
