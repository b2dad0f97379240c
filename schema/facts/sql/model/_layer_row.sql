-- _layer_row: What ingest/layers finds of the kernels of a pass.
-- grain: one part of a layer, or of what is outside layers
-- key: range_id, device_id, layer, part
-- needs: kernel stage_pass range_device timeline pass_context layer_cost|kernel model_size|kernel
-- columns:
--   range_id BIGINT: the pass
--   device_id INTEGER: GPU
--   layer INTEGER: layer, from 0; NULL outside layers
--   layer_group VARCHAR: the layers that are equal to it; NULL outside layers
--   off_ratio DOUBLE: its time over the median of layers with the same kernels, less 1; NULL where it is the only one, and
--     outside layers
--   part VARCHAR: the part; NULL when the pass cannot be divided
--   forward_count BIGINT: forward passes of the pass; NULL when it cannot be divided
--   kernel_count BIGINT: kernels
--   kernel_ns BIGINT: their time
--   basis VARCHAR: names or sequence
--   unknown VARCHAR: why the pass cannot be divided

SELECT
    v[1]::BIGINT AS range_id,
    v[2]::INTEGER AS device_id,
    nullif(v[3], '')::INTEGER AS layer,
    nullif(v[4], '') AS layer_group,
    nullif(v[5], '')::DOUBLE AS off_ratio,
    nullif(v[6], '') AS part,
    nullif(v[7], '0')::BIGINT AS forward_count,
    v[8]::BIGINT AS kernel_count,
    v[9]::BIGINT AS kernel_ns,
    nullif(v[10], '') AS basis,
    nullif(v[11], '') AS unknown
FROM (SELECT string_split(unnest(string_split($layers, chr(30))), chr(31)) AS v)
WHERE len(v) > 1
