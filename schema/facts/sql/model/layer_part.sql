-- layer_part: Kernels of each layer of the model by part, and those outside layers, in one measured pass of each stage, GPU and kind of
--     timeline: that whose kernels take the median time.
-- grain: one part of a layer, or of what is outside layers, in a pass on a GPU
-- key: range_id, device_id, layer, part
-- needs: _layer_row
-- columns:
--   stage VARCHAR: the stage
--   source_id INTEGER: the source
--   range_id BIGINT: the pass
--   device_id INTEGER: GPU
--   layer INTEGER: layer, from 0; NULL outside layers
--   layer_group VARCHAR: the layers that are equal to it: the same sequence of kernels, and within 20 % of its median time or off it on the
--     same side; NULL outside layers
--   off_ratio DOUBLE: its time over the median of layers with the same sequence of kernels, less 1; NULL where it is the only one, and
--     outside layers
--   part VARCHAR: attention, rotary, mlp, router, experts, shared experts, norms, copies, collectives or other; outside layers also
--     embedding, head, sampling, vision and encoder; NULL when the pass cannot be divided
--   forward_count BIGINT: forward passes of the pass; NULL when it cannot be divided
--   kernel_count BIGINT: kernels
--   kernel_ns BIGINT: their time
--   basis VARCHAR: what layers are found by: names (of PyTorch modules or ranges) or sequence (of kernels); NULL when the pass cannot be
--     divided
--   unknown VARCHAR: why the pass cannot be divided: attention (no two kernels of attention), sequence (of which less than 95 % repeats),
--     layers (it repeats as no model of this depth does), graph (graphs traced as a whole); NULL when it can

SELECT
    p.stage,
    p.source_id,
    r.range_id,
    r.device_id,
    r.layer,
    r.layer_group,
    r.off_ratio,
    r.part,
    r.forward_count,
    r.kernel_count,
    r.kernel_ns,
    r.basis,
    r.unknown
FROM _layer_row r
JOIN stage_pass p ON p.run_id = $run AND p.range_id = r.range_id
