-- _ncu-flop: Floating-point (and integer tensor) operations of each profiled kernel launch by precision, with the rate the hardware could reach at the clock it ran at.
-- grain: one launch and precision
-- key: launch_id, resource
-- params:
--   run VARCHAR: the run
-- columns:
--   launch_id: the launch
--   resource: fp64, fp32, fp16, or tensor_ and the type of the inputs; where a chip counts several types together, the one whose rate they share (fp4_fp6_fp8 is tensor_fp8, fp16_bf16_tf32 tensor_fp16)
--   flop: operations, a multiply-add being 2, predicated-off threads left out; packed halves count each. Tensor operations as ncu counts them (sm__ops_path_tensor_src_*), padding included. fp16 is an upper bound: compilers also move constants with HFMA2
--   peak_flop_per_s: dense rate at the clock of the launch (*.sum.peak_sustained of FMA or of the dense tensor path, times the clock); NULL when not measured
--   peak_metric: the metric of the peak

SELECT f.launch_id, f.resource, f.flop, f.peak_flop_per_s, f.peak_metric FROM ncu_flop f WHERE f.run_id = run
