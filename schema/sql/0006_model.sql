-- Models of the run whose configuration was given, in a file of its own or within the facts of the workload.
CREATE TABLE model (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    model_id INTEGER NOT NULL, -- 1, 2, ... within the run
    name VARCHAR NOT NULL, -- name in the configuration, else of its file
    architecture VARCHAR, -- first of the configuration's architectures; NULL when not said
    family VARCHAR NOT NULL, -- model_type of the configuration, e.g. deepseek_v2
    dtype VARCHAR, -- precision of the weights and of the computation: bf16, fp16, fp32, ...; NULL when not said
    hidden_size BIGINT, -- width of the decoder; NULL without one
    vocab_size BIGINT, -- entries of the vocabulary; NULL without a decoder
    layer_count BIGINT, -- layers of the decoder; NULL without one
    max_context_count BIGINT, -- positions the model was made for; NULL when not said
    image_token_count BIGINT -- positions of the prompt that one image takes, crops left out; NULL when not known
);

-- Distinct groups of equal layers of a model by component, with their shapes: all that parameters, FLOPs and bytes follow from.
CREATE TABLE model_layer (
    run_id UUID NOT NULL, -- the run
    model_id INTEGER NOT NULL, -- the model
    layer_id INTEGER NOT NULL, -- 1, 2, ... within the model, in the order of computation
    part VARCHAR NOT NULL, -- decoder, or another part: sam, clip, siglip, vit, pixtral, ... of the vision tower, projector, text (an encoder of text)
    view VARCHAR, -- picture that a vision part sees: image, global or crop; NULL for the decoder, and for what is counted as parameters only
    layer_group VARCHAR NOT NULL, -- which layers: embedding, layer 0, layers 1-11, head, ...
    layer_count BIGINT NOT NULL, -- layers of the group
    component VARCHAR NOT NULL, -- name within the layer, e.g. q_proj, attention, experts.gate_up_proj
    kind VARCHAR NOT NULL, -- linear, convolution, relative_position, attention, embedding, norm or parameter
    scope VARCHAR, -- what is multiplied: token, logit (positions whose logits are computed), latent (tokens of the context whose keys and values are expanded from a latent) or position (of a picture); NULL for kinds that multiply nothing
    input_size BIGINT, -- inputs of a matrix; of a convolution channels times the kernel's area
    output_size BIGINT, -- outputs of a matrix
    copy_count BIGINT, -- matrices of that shape stored in a layer: 1, or the experts
    active_count BIGINT, -- those of them that one token passes through
    head_count BIGINT, -- attention: heads of the queries
    kv_head_count BIGINT, -- attention: heads of keys and values
    key_size BIGINT, -- attention: size of a head's query and key
    value_size BIGINT, -- attention: size of a head's value
    window_size BIGINT, -- attention: tokens that a token sees, itself included; NULL for all
    latent_size BIGINT, -- attention: size of the latent that keys and values are made from and that is cached in their place (MLA); NULL without one
    rope_size BIGINT, -- attention: size of the rotary key cached beside the latent; NULL without a latent
    position_count BIGINT, -- vision: rows multiplied for one picture
    key_count BIGINT, -- vision attention: keys that each position sees
    parameter_count BIGINT NOT NULL, -- parameters of the component in one layer, all copies and biases; 0 where they are another row's (tied embeddings, a second view)
    weight_bits DOUBLE -- bits a stored parameter takes where it is quantised, scales of its blocks included; NULL: as dtype says
);

-- What was assumed where a configuration does not say it, and what was left out.
CREATE TABLE model_note (
    run_id UUID NOT NULL, -- the run
    model_id INTEGER NOT NULL, -- the model
    note_id INTEGER NOT NULL, -- 1, 2, ... within the model
    kind VARCHAR NOT NULL, -- assumed, left_out (figures are too small by it) or unknown
    note VARCHAR NOT NULL -- the sentence
);

-- Passes of the workload with what it says of them. A row without pass_id holds for every pass.
CREATE TABLE workload_pass (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pass_id INTEGER, -- 1, 2, ... within the source, in the order of the workload; NULL: every pass
    is_warmup BOOLEAN NOT NULL, -- a pass to warm up, whose time is left out
    prefill_count BIGINT, -- tokens of each prompt, image tokens included; NULL when not said
    decode_count BIGINT, -- tokens decoded one by one after the prompt, for each sequence: steps; NULL when not said
    batch_count BIGINT, -- sequences; NULL when options do not say: one
    image_count BIGINT, -- images of each prompt; NULL when not said
    crop_count BIGINT, -- crops of each image beside its global view; NULL when not said
    prefill_ns BIGINT, -- wall time of the prefill as the workload measured it; NULL when it did not
    decode_ns BIGINT, -- wall time of all decode steps, likewise
    vision_ns BIGINT -- wall time of the vision part of the prefill, likewise
);

-- What the workload says of all its passes.
CREATE TABLE workload (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    model_id INTEGER, -- model whose configuration the workload carries; NULL when it carries none
    warmup_count BIGINT, -- passes to warm up at the beginning of the capture; NULL when not said
    capture VARCHAR -- kind of the timelines it is about, nsys or torch; NULL: all of the run's
);

-- Other names of devices of device_peak, for figures that are the same.
CREATE TABLE device_alias (
    origin VARCHAR NOT NULL, -- builtin, or user for rows of your own
    alias VARCHAR NOT NULL, -- exact name as the CUDA driver gives it
    device VARCHAR NOT NULL, -- name in device_peak
    doc VARCHAR NOT NULL -- why the figures are the same
);

-- What one streaming multiprocessor can do at most in a clock cycle, by compute capability: with clock and SMs of a device, a second opinion on its peak.
CREATE TABLE sm_rate (
    origin VARCHAR NOT NULL, -- builtin, or user for rows of your own
    compute_capability VARCHAR NOT NULL, -- e.g. 9.0
    device VARCHAR NOT NULL, -- exact name where chips of one compute capability differ; else empty
    resource VARCHAR NOT NULL, -- as in device_peak
    accumulate VARCHAR NOT NULL, -- as in device_peak
    flop_per_cycle DOUBLE NOT NULL, -- dense operations a cycle, a multiply-add being 2
    reference VARCHAR NOT NULL -- where the figure is from
);
