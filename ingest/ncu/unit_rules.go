package ncu

import (
	"regexp"
	"strings"
)

// hardware are the units of the GPU that metrics are counted in, as far as their counters are known.
var hardware = setOf(`ctc dram dramc fbpa fe gcc gpc gpu gr idc l1tex lrc lts nvlrx nvltx pcie profiler sm smsp sys syslrc syslts tpc`)

type quantity struct {
	name *regexp.Regexp
	unit string
}

// quantities are the rules by word, the first match counting: what is more special stands before what is more general.
var quantities = []quantity{
	// Throughputs.
	{regexp.MustCompile(`_throughput(_|$)|_pct$`), "%"},

	// Ratios.
	{regexp.MustCompile(`_rate(_|$)`), ""}, // hit_rate, compression_rate, success_rate, ...
	{regexp.MustCompile(`__average_t_sector_(aperture|srcnode|srcunit)_\w+$`), ""},
	{regexp.MustCompile(`__average_t_sectors_requested_\w+_vs_returned_sectors`), ""},
	{regexp.MustCompile(`__average_xbar2gpc_sectors_op_read|__average_m_xbar2l1tex_read_bytes_\w+_data_valid$`), ""},
	{regexp.MustCompile(`thread_inst_executed(_pred_on)?_per_inst_executed`), ""},
	{regexp.MustCompile(`__average_inst_latency_|average_branch_targets_|__warp_issue_stalled_\w+_per_warp_active$`), ""},
	{regexp.MustCompile(`average_t_sectors_per_request`), "sector"},
	{regexp.MustCompile(`average_data_bytes_per_sector_`), "byte/sector"},
	{regexp.MustCompile(`average_data_bytes_per_wavefront_`), "byte"},
	{regexp.MustCompile(`__average_sharedmem_bytes_per_cta`), "byte/block"},
	{regexp.MustCompile(`__average_registers_per_thread`), "register/thread"},
	{regexp.MustCompile(`__average_threads_launched_per_warp`), "thread/warp"},
	{regexp.MustCompile(`__average_inst_executed_(\w+_)?per_warp$|__average_warp_latency_issue_stalled_`), "inst/warp"},
	{regexp.MustCompile(`__average_warps_issue_stalled_\w+_per_issue_active$`), "inst"},
	{regexp.MustCompile(`__average_warps_active_per_issue_active$`), "warp"},
	{regexp.MustCompile(`__average_warps_active_per_inst_executed$`), "cycle"},
	{regexp.MustCompile(`__average_(warp|cta)_(user_)?latency`), "cycle"},
	{regexp.MustCompile(`__amortized_warp_latency$`), "cycle/warp"},
	{regexp.MustCompile(`__inst_issued_per_issue_active$`), "inst/cycle"},
	{regexp.MustCompile(`_average_|_per_|_vs_`), UnknownUnit}, // a ratio of another kind: its words are no longer its unit

	// Counters whose unit is not what their words say.
	{regexp.MustCompile(`^l1tex__tmain_requests$`), "inst"},
	{regexp.MustCompile(`^syslts__t_(bytes$|tag_requests)`), ""},
	{regexp.MustCompile(`^l1tex__f_cycles_active$`), ""},
	{regexp.MustCompile(`^l1tex__f_wavefronts_realtime$`), "cycle"},
	{regexp.MustCompile(`^smsp__pcsamp_warps_issue_stalled_branch_resolving`), "branches"},
	{regexp.MustCompile(`^smsp__pcsamp_warps_issue_stalled_no_instructions`), "inst"},

	// Counters.
	{regexp.MustCompile(`_t_tag_requests`), "tag"},
	{regexp.MustCompile(`^(sm__(dcc|icc)|smsp__(imc|tex))_requests`), "cycle"},
	{regexp.MustCompile(`^(idc__|l1tex__(t|texin|lsuin)_|(sm|smsp)__(sass_)?l1tex_(t|tmain|lsuin)_)requests`), ""},
	{regexp.MustCompile(`^(gcc|lrc|lts|syslrc|syslts)__(\w+_)?requests|^l1tex__m_l1tex2xbar_read_requests`), "request"},
	{regexp.MustCompile(`_t_set_conflicts`), "cycle"},
	{regexp.MustCompile(`_(data_bank_(conflicts|reads|writes)|wavefronts|t_set_accesses|sass_l1tex_tags)(_|$)`), ""},
	{regexp.MustCompile(`__ctas_(active|completed|launched|restored)|_granted_as_ctas`), "block"},
	{regexp.MustCompile(`__(cgas|workids)_(active|completed|launched|granted|requested)`), ""},
	{regexp.MustCompile(`__ops_path_tensor_|_dispatch_count$|_sram_lines_|_rf_quanta_|_lines_allocated`), ""},
	{regexp.MustCompile(`__(sass_)?branch_targets(_|$)`), "branches"},
	{regexp.MustCompile(`__threads_launched`), "thread"},
	{regexp.MustCompile(`__(pcsamp_)?warps_(active|inactive|eligible|issue_stalled|launched|restored)`), "warp"},
	{regexp.MustCompile(`_rf_registers_allocated`), "register"},
	{regexp.MustCompile(`__time_(active|duration|end|start)`), "ns"},
	{regexp.MustCompile(`__output_ops`), "ops"},
	{regexp.MustCompile(`_inst_(executed|issued|pending)|_divergent_instruction`), "inst"},
	{regexp.MustCompile(`_sectors(_|$)`), "sector"},
	{regexp.MustCompile(`_(kilo)?bytes(_|$)|__mem_tensor_(reads|writes)`), "byte"},
	{regexp.MustCompile(`_cycles(_|$)|_writeback_active|__issue_(active|inst[01])|_semreleases$`), "cycle"},
}

// setOf is the set of the words of a text.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
