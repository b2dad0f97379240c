-- _step_gap: Idle time inside steps, from their first to their last device work, by its cause. Of GPUs whose gaps are all known: of those with more than 10,000 the table gap holds the longest alone.
-- grain: one step on one GPU
-- key: place, start_ns
-- needs: _step_sum device_time
-- columns:
--   place UBIGINT: as in _step_work
--   start_ns BIGINT: start of the step, as in _step_window
--   launch_bound_ns BIGINT: idle inside the launching call, on the way to it, or behind one that began when the GPU had run dry
--   wait_ns BIGINT: idle while the thread waited for the device
--   call_ns BIGINT: idle inside another CUDA call
--   host_ns BIGINT: idle while the thread was outside CUDA
--   profiler_ns BIGINT: idle while the profiler worked
--   queued_ns BIGINT: idle although the next launch had returned
--   unknown_ns BIGINT: idle before work whose launch was not captured

WITH whole AS (
    SELECT d.source_id, d.device_id FROM device_time d
    WHERE d.run_id = $run AND d.range_id IS NULL AND d.gap_count = (SELECT count(*) FROM gap g WHERE g.run_id = $run AND g.source_id = d.source_id AND g.device_id = d.device_id)
), spot AS (
    SELECT DISTINCT w.place, w.source_id, w.device_id FROM _step_work w JOIN whole h ON h.source_id = w.source_id AND h.device_id = w.device_id
), inside AS (
    SELECT g.place, b.start_ns, g.launch_ns, g.launch_delay_ns, g.launch_latency_ns, g.wait_ns, g.call_ns, g.host_ns, g.profiler_ns, g.queued_ns, g.unknown_ns
    FROM (
        SELECT s.place, g.start_ns, g.launch_ns, g.launch_delay_ns, g.launch_latency_ns, g.wait_ns, g.call_ns, g.host_ns, g.profiler_ns, g.queued_ns, g.unknown_ns
        FROM gap g JOIN spot s ON s.source_id = g.source_id AND s.device_id = g.device_id WHERE g.run_id = $run
    ) g ASOF JOIN _step_sum b ON b.place = g.place AND b.start_ns <= g.start_ns
    WHERE g.start_ns < b.end_ns
)
SELECT b.place, b.start_ns, coalesce(sum(i.launch_ns + i.launch_delay_ns + i.launch_latency_ns), 0)::BIGINT AS launch_bound_ns, coalesce(sum(i.wait_ns), 0)::BIGINT AS wait_ns, coalesce(sum(i.call_ns), 0)::BIGINT AS call_ns, coalesce(sum(i.host_ns), 0)::BIGINT AS host_ns,
    coalesce(sum(i.profiler_ns), 0)::BIGINT AS profiler_ns, coalesce(sum(i.queued_ns), 0)::BIGINT AS queued_ns, coalesce(sum(i.unknown_ns), 0)::BIGINT AS unknown_ns
FROM _step_sum b JOIN spot s ON s.place = b.place LEFT JOIN inside i ON i.place = b.place AND i.start_ns = b.start_ns
GROUP BY b.place, b.start_ns
