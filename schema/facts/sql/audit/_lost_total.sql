-- _lost_total: Sums of GPU time that a file prints of all its rows and that its rows do not come to, and sums that they exceed.
-- grain: one quantity of a source
-- key: source_id, detail
-- needs: source_fact
-- columns:
--   source_id INTEGER: the source
--   detail VARCHAR: the quantity, as the file's reader calls it: self_device_ns, kernel_ns, ...
--   time_ns BIGINT: by how much the rows miss the printed sum; less than 0 when they exceed it

-- What is printed is rounded, each row and the sum: a share of a thousandth is not told from that.
SELECT
    p.source_id,
    substring(p.key, 9) AS detail,
    p.value::BIGINT - r.value::BIGINT AS time_ns
FROM source_fact p
JOIN source_fact r ON r.run_id = p.run_id AND r.source_id = p.source_id AND r.key = 'read.' || substring(p.key, 9)
WHERE p.run_id = $run
    AND p.key IN ('printed.self_device_ns', 'printed.kernel_ns', 'printed.memory_time_ns')
    AND abs(p.value::BIGINT - r.value::BIGINT) > 0.001 * greatest(p.value::BIGINT, r.value::BIGINT)
