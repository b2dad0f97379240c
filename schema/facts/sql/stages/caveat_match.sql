-- caveat_match: Caveats about stages in which two recordings of the same passes do not have the same kernels.
-- into: caveat
-- needs: timeline_match

SELECT
    'timelines' AS topic,
    CASE m.reason WHEN 'count' THEN 'timelines-differ-in-kernels' ELSE 'timelines-differ-in-time' END AS kind,
    true AS is_counted,
    m.stage,
    m.device_id::VARCHAR AS subject,
    m.kernel_count AS item_count,
    m.other_kernel_count AS of_count,
    m.kernel_ns AS time_ns,
    m.other_kernel_ns AS of_time_ns
FROM timeline_match m
WHERE m.run_id = $run AND m.reason IS NOT NULL
