package ncu

import "strings"

// unitOf are the metrics whose unit no rule gives: launch, topology, source and profiler metrics, which ncu says do not follow the
// structure of the others, and what sections derive. Read off the pages of reports by ncu 2025.3.1. Left out are those that ncu
// prints with one unit or another from section set to section set: derived__*_inst_executed_op_*_pred_on_x2 and _x4 (thread or
// inst) and sass__inst_executed_register_spilling_mem_* (inst or byte).
var unitOf = invert(map[string]string{
	"": `
		c2clink__enabled_mask c2clink__present derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.peak_sustained
		derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second derived__local_spilling_requests
		derived__memory_l1_conflicts_shared_nway derived__memory_l1_wavefronts_shared_excessive
		derived__pct_occupancy_per_barrier_count derived_tempMetric0 derived_tempMetric1 derived_tempMetric2 derived_tempMetric3
		derived_tempMetric4 derived_tempMetric5 launch__barrier_count launch__block_size launch__cluster_dim_x
		launch__cluster_dim_y launch__cluster_dim_z launch__cluster_scheduling_policy launch__cluster_size launch__context_id
		launch__device_id launch__func_cache_config launch__function_pcs launch__graph_contains_device_launch
		launch__graph_is_device_launchable launch__grid_dim_x launch__grid_dim_y launch__grid_dim_z launch__grid_size
		launch__kernel_name launch__occupancy_per_barrier_count launch__occupancy_per_block_size
		launch__occupancy_per_cluster_size launch__occupancy_per_register_count launch__occupancy_per_shared_mem_size
		launch__stack_size launch__stream_id launch__tpc_count launch__tpc_enabled launch__uses_cdp launch__uses_green_context
		launch__uses_mps launch__uses_nvlink_centric_scheduling launch__uses_vgpu launch__waves_per_multiprocessor
		memory_access_size_type memory_access_type memory_type numa__cpu_affinity numa__dev_display_name_all numa__id_cpu
		numa__id_memory nvlink__bandwidth nvlink__count_logical nvlink__count_physical nvlink__destination_ports nvlink__dev0Id
		nvlink__dev0type nvlink__dev1Id nvlink__dev1type nvlink__dev_display_name_all nvlink__enabled_mask nvlink__is_direct_link
		nvlink__is_nvswitch_connected nvlink__max_count nvlink__peer_access nvlink__peer_atomic nvlink__source_ports
		nvlink__system_access nvlink__system_atomic profiler__perfworks_session_reuse
		profiler__pmsampler_pass_groups
		sass__inst_executed_per_opcode sass__inst_executed_per_opcode_category sass__inst_executed_per_opcode_with_modifier_all
		sass__inst_executed_per_opcode_with_modifier_selective sass__thread_inst_executed_per_opcode_category
		sass__thread_inst_executed_true_per_opcode sass__thread_inst_executed_true_per_opcode_with_modifier_all
		sass__thread_inst_executed_true_per_opcode_with_modifier_selective smsp__pcsamp_interval smsp__pcsamp_sample_count
		smsp__sass_inst_executed_memdesc_explicit_evict_type`,
	"%": `
		derived__local_spilling_requests_pct derived__pct_occupancy_per_block_size derived__smsp__inst_executed_op_branch_pct
		launch__occupancy_cluster_gpu_pct launch__occupancy_cluster_pct`,
	"%/byte":     `derived__pct_occupancy_per_shared_mem_size`,
	"%/register": `derived__pct_occupancy_per_register_count`,
	"SM":         `launch__sm_count`,
	"block": `
		launch__block_dim_x launch__block_dim_y launch__block_dim_z launch__cluster_max_potential_size
		launch__occupancy_limit_barriers launch__occupancy_limit_blocks launch__occupancy_limit_registers
		launch__occupancy_limit_shared_mem launch__occupancy_limit_warps`,
	"byte": `
		derived__lts__lts2xbar_bytes.sum.peak_sustained derived__lts__lts2xbar_bytes.sum.per_second
		launch__persisting_l2_cache_size launch__shared_mem_config_size`,
	"byte/block": `
		launch__shared_mem_per_block launch__shared_mem_per_block_allocated launch__shared_mem_per_block_driver
		launch__shared_mem_per_block_dynamic launch__shared_mem_per_block_static`,
	"cluster": `launch__cluster_max_active`,
	"inst": `
		inst_executed sass__inst_executed_global_loads sass__inst_executed_global_stores sass__inst_executed_local_loads
		sass__inst_executed_local_stores sass__inst_executed_register_spilling sass__inst_executed_register_spilling_op_read
		sass__inst_executed_register_spilling_op_write sass__inst_executed_shared_loads sass__inst_executed_shared_stores
		thread_inst_executed thread_inst_executed_true`,
	"ns": `profiler__pmsampler_interval_time`,
	"pass": `
		profiler__replayer_passes profiler__replayer_passes_type_warmup smsp__pcsamp_aggregated_passes`,
	"register/thread": `launch__registers_per_thread launch__registers_per_thread_allocated`,
	"sample":          `profiler__pmsampler_merged_samples`,
	"sector":          `derived__memory_l2_theoretical_sectors_global_excessive`,
	"sectors": `
		memory_l1_tag_requests_global memory_l1_wavefronts_shared memory_l1_wavefronts_shared_ideal
		memory_l2_theoretical_sectors_global memory_l2_theoretical_sectors_global_ideal memory_l2_theoretical_sectors_local`,
	"thread": `
		derived__avg_thread_executed derived__avg_thread_executed_true derived__avg_thread_unexecuted_true
		derived__derivative_avg_thread_executed_true launch__thread_count`,
	"warp": `sm__maximum_warps_avg_per_active_cycle smsp__maximum_warps_avg_per_active_cycle`,
})

// invert is the map of every word of a map's values to its key.
func invert(words map[string]string) map[string]string {
	key := map[string]string{}
	for k, text := range words {
		for _, w := range strings.Fields(text) {
			key[w] = k
		}
	}
	return key
}
