package judge

import "prof/queries/frame"

// What judgements read of answers.
var (
	gapRows          = frame.RowsOf[gapRow]("gaps")
	longGapRows      = frame.RowsOf[longGapRow]("longest-gaps")
	categoryRows     = frame.RowsOf[categoryRow]("time-breakdown")
	findingRows      = frame.RowsOf[findingRow]("findings")
	ruleRows         = frame.RowsOf[ruleRow]("finding-rules")
	largeKernelRows  = frame.RowsOf[largeKernelRow]("large-kernels")
	KernelRows       = frame.RowsOf[KernelRow]("top-kernels")
	operatorRows     = frame.RowsOf[operatorRow]("top-operators")
	stageKernelRows  = frame.RowsOf[stageKernelRow]("stage-kernels")
	passRows         = frame.RowsOf[passRow]("passes")
	BoundRows        = frame.RowsOf[BoundRow]("bottlenecks")
	ncuRuleRows      = frame.RowsOf[ncuRuleRow]("ncu-rules")
	lateRows         = frame.RowsOf[lateRow]("late-ranks")
	SourceRows       = frame.RowsOf[SourceRow]("sources")
	DeviceRows       = frame.RowsOf[DeviceRow]("devices")
	PartRows         = frame.RowsOf[PartRow]("accounting")
	UseRows          = frame.RowsOf[UseRow]("mfu")
	StageRows        = frame.RowsOf[StageRow]("stages")
	ConservationRows = frame.RowsOf[ConservationRow]("conservation")
	graphRows        = frame.RowsOf[graphRow]("graphs")
	throttleRows     = frame.RowsOf[throttleRow]("throttling")
	deviceUseRows    = frame.RowsOf[deviceUseRow]("device-use")
	OverheadRows     = frame.RowsOf[OverheadRow]("overhead")
	activationRows   = frame.RowsOf[activationRow]("activations")
	ModelRows        = frame.RowsOf[ModelRow]("models")
	modelBytesRows   = frame.RowsOf[modelBytesRow]("model-bytes")
	layerRows        = frame.RowsOf[layerRow]("model-layers")
	flopRows         = frame.RowsOf[flopRow]("layer-flops")
)

// findingRow is a row of findings.
type findingRow struct {
	Finding        string  `col:"finding"`
	Rank           int64   `col:"rank"`
	Title          string  `col:"title"`
	Stage          string  `col:"stage"`
	Device         int64   `col:"device"`
	DeviceCount    int64   `col:"device_count"`
	RunDeviceCount int64   `col:"run_device_count"`
	Subject        string  `col:"subject"`
	SavingNs       int64   `col:"saving_ns"`
	SpanNs         int64   `col:"span_ns"`
	Passes         int64   `col:"passes"`
	ShareRatio     float64 `col:"share_ratio"`
	Bound          string  `col:"bound"`
	Advice         string  `col:"advice"`
	Evidence       string  `col:"evidence"`
	PassSpanNs     float64 `col:"pass_span_ns"`
	PassSavingNs   float64 `col:"pass_saving_ns"`
	IsByPath       bool    `col:"is_by_path"`
}

// ruleRow is a row of finding-rules.
type ruleRow struct {
	Finding string `col:"finding"`
	Query   string `col:"query"`
	Options string `col:"options"`
	Detail  string `col:"detail"`
	Subject string `col:"subject"`
}

// largeKernelRow is a row of large-kernels.
type largeKernelRow struct {
	Stage          string   `col:"stage"`
	Kernel         string   `col:"kernel"`
	Role           string   `col:"role"`
	ShareRatio     float64  `col:"share_ratio"`
	Limit          string   `col:"limit"`
	RoofRatio      *float64 `col:"roof_ratio"`
	RoofBasis      string   `col:"roof_basis"`
	Bound          string   `col:"bound"`
	Limiter        string   `col:"limiter"`
	Operator       string   `col:"operator"`
	Blocks         *int64   `col:"blocks"`
	MostBlocks     *int64   `col:"most_blocks"`
	SMCount        *int64   `col:"sm_count"`
	InputPrecision string   `col:"input_precision"`
	Findings       string   `col:"findings"`
	Calls          int64    `col:"calls"`
	TotalNs        int64    `col:"total_ns"`
	PassCalls      float64  `col:"pass_calls"`
	PassNs         float64  `col:"pass_ns"`
	PathPassNs     *float64 `col:"path_pass_ns"`
	Passes         int64    `col:"passes"`
	Device         int64    `col:"device"`
	DeviceCount    int64    `col:"device_count"`
	PlanRank       *int64   `col:"plan_rank"`
}

// KernelRow is a row of top-kernels.
type KernelRow struct {
	Family     string  `col:"family"`
	Kernel     string  `col:"kernel"`
	Role       string  `col:"role"`
	TotalNs    int64   `col:"total_ns"`
	MeanNs     float64 `col:"mean_ns"`
	Calls      int64   `col:"calls"`
	ShareRatio float64 `col:"share_ratio"`
	Bound      string  `col:"bound,optional"`
	Limiter    string  `col:"limiter,optional"`
}

// operatorRow is a row of top-operators.
type operatorRow struct {
	Operator     string   `col:"operator"`
	SelfDeviceNs *int64   `col:"self_device_ns"`
	SelfCPUNs    *float64 `col:"self_cpu_ns"`
	ShareRatio   *float64 `col:"share_ratio"`
}

// stageKernelRow is a row of stage-kernels.
type stageKernelRow struct {
	Family     string  `col:"family"`
	Role       string  `col:"role"`
	Kernel     string  `col:"kernel"`
	TotalNs    int64   `col:"total_ns"`
	Stage      string  `col:"stage"`
	ShareRatio float64 `col:"share_ratio"`
}

// passRow is a row of passes.
type passRow struct {
	StartNs   int64    `col:"start_ns"`
	GPUSpanNs *float64 `col:"gpu_span_ns"`
	Interval  *float64 `col:"interval_ns"`
	IsWarmup  bool     `col:"is_warmup"`
	Stage     string   `col:"stage"`
	GPUBusyNs *float64 `col:"gpu_busy_ns"`
	Pass      int64    `col:"pass"`
	SourceID  int64    `col:"source_id"`
	PID       int64    `col:"pid"`
	Repeat    int64    `col:"repeat"`

	TokenTimeNs *float64 `col:"token_time_ns"`
	Steps       *int64   `col:"decode_count"` // per sequence
	KernelCount *int64   `col:"kernel_count"`
}

// BoundRow is a row of bottlenecks.
type BoundRow struct {
	Kind            string   `col:"kind"`
	Kernel          string   `col:"kernel"`
	Bound           string   `col:"bound"`
	Limiter         string   `col:"limiter"`
	TimelineTotalNs *float64 `col:"timeline_total_ns"`
	ReplayedMeanNs  *float64 `col:"replayed_mean_ns"`
	SMRatio         *float64 `col:"sm_ratio"`
	MemoryRatio     *float64 `col:"memory_ratio"`
	DRAMRatio       *float64 `col:"dram_ratio"`
	Launches        int64    `col:"launches"`
	Grid            string   `col:"grid"`
	Block           string   `col:"block"`
}

// ncuRuleRow is a row of ncu-rules.
type ncuRuleRow struct {
	Kernel       string   `col:"kernel"`
	Finding      string   `col:"finding"`
	Rule         string   `col:"rule"`
	SpeedupRatio *float64 `col:"speedup_ratio"`
	Scope        string   `col:"scope"`
	Grid         string   `col:"grid"`
	Block        string   `col:"block"`
}

// graphRow is a row of graphs.
type graphRow struct {
	Stage   string `col:"stage"`
	Mode    string `col:"mode"`
	Kernels *int64 `col:"kernels_per_replay"`
}

// lateRow is a row of late-ranks.
type lateRow struct {
	JobID        int64  `col:"job_id"`
	Range        string `col:"range"`
	Rank         string `col:"rank"`
	Device       int64  `col:"device"`
	LateNs       int64  `col:"late_ns"`
	SlowestCount int64  `col:"slowest_count"`
	PassCount    int64  `col:"pass_count"`
	MostNs       int64  `col:"most_ns"`
	Pass         *int64 `col:"pass"`
	ColdLateNs   int64  `col:"cold_late_ns"`
	ColdCount    int64  `col:"cold_count"`
	TotalNs      int64  `col:"total_ns"`
}

// SourceRow is a row of sources.
type SourceRow struct {
	SourceID   int64    `col:"source_id"`
	DurationNs *float64 `col:"duration_ns"`
	Kind       string   `col:"kind"`
	Form       string   `col:"form"`
	Version    string   `col:"tool_version"`
	Status     string   `col:"status"`
	Path       string   `col:"path"`
	Reason     string   `col:"reason"`
	SHA256     string   `col:"sha256"`
}

// DeviceRow is a row of devices.
type DeviceRow struct {
	Device int64  `col:"device"`
	Name   string `col:"name"`
	IsUsed *bool  `col:"is_used"`
}

// PartRow is a row of accounting.
type PartRow struct {
	Stage       string  `col:"stage"`
	Device      int64   `col:"device"`
	Passes      int64   `col:"passes"`
	SpanTotalNs float64 `col:"span_total_ns"`
	Part        string  `col:"part"`
	Kind        string  `col:"kind"`
	TotalNs     float64 `col:"total_ns"`
	MaxNs       float64 `col:"max_ns"`

	MedianPassNs     *float64 `col:"median_pass_ns"`
	MedianPassSpanNs *float64 `col:"median_pass_span_ns"`
}

// UseRow is a row of mfu.
type UseRow struct {
	PartOf        string   `col:"part_of"`
	MFURatio      *float64 `col:"mfu_ratio"`
	Stage         string   `col:"stage"`
	MBURatio      *float64 `col:"mbu_ratio"`
	Precision     string   `col:"precision"`
	Convention    string   `col:"convention"`
	Fault         string   `col:"fault"`
	IsLeast       bool     `col:"is_least"`
	AloneMFURatio *float64 `col:"alone_mfu_ratio"`
	AloneMBURatio *float64 `col:"alone_mbu_ratio"`
}

// StageRow is a row of stages.
type StageRow struct {
	Stage             string   `col:"stage"`
	Passes            int64    `col:"passes"`
	GPUSpanStdNs      *float64 `col:"gpu_span_std_ns"`
	GPUSpanTokensPerS *float64 `col:"gpu_span_tokens_per_s"`
	AloneClock        string   `col:"alone_clock"`
	AloneMedianNs     *float64 `col:"alone_median_ns"`
	AloneTokensPerS   *float64 `col:"alone_tokens_per_s"`
	GPUSpanMeanNs     *float64 `col:"gpu_span_mean_ns"`
	GPUSpanMedianNs   *float64 `col:"gpu_span_median_ns"`
	GPUSpanMinNs      *float64 `col:"gpu_span_min_ns"`
	GPUSpanMaxNs      *float64 `col:"gpu_span_max_ns"`
	CPUMeanNs         *float64 `col:"cpu_mean_ns"`
	CPUStdNs          *float64 `col:"cpu_std_ns"`
	CPUMedianNs       *float64 `col:"cpu_median_ns"`
	CPUMinNs          *float64 `col:"cpu_min_ns"`
	CPUMaxNs          *float64 `col:"cpu_max_ns"`
}

// ConservationRow is a row of conservation.
type ConservationRow struct {
	Capture         string `col:"capture"`
	KernelCount     int64  `col:"kernel_count"`
	KernelSumNs     int64  `col:"kernel_sum_ns"`
	AttributedCount int64  `col:"attributed_count"`
	AttributedNs    int64  `col:"attributed_ns"`
	OutsideCount    int64  `col:"outside_count"`
	OutsideNs       int64  `col:"outside_ns"`
	UnlaunchedCount int64  `col:"unlaunched_count"`
	UnlaunchedNs    int64  `col:"unlaunched_ns"`
	IsExact         bool   `col:"is_exact"`
	UnmetCount      int64  `col:"unmet_count"`
}

// throttleRow is a row of throttling.
type throttleRow struct {
	IsSlowdown     *bool    `col:"is_slowdown"`
	BusySamples    *int64   `col:"busy_samples"`
	Device         int64    `col:"device"`
	BusyShareRatio *float64 `col:"busy_share_ratio"`
	Reason         string   `col:"reason"`
	Pass           string   `col:"pass"`
}

// deviceUseRow is a row of device-use.
type deviceUseRow struct {
	OtherProcessMaxCount int64 `col:"other_process_max_count"`
	Device               int64 `col:"device"`
}

// activationRow is a row of activations.
type activationRow struct {
	PeakBytes     *float64 `col:"peak_bytes"`
	WrittenBytes  *float64 `col:"written_bytes"`
	Stage         string   `col:"stage"`
	PeakComponent string   `col:"peak_component"`
	LayerGroup    string   `col:"layer_group"`
}

// ModelRow is a row of models.
type ModelRow struct {
	Name                    string   `col:"name"`
	Family                  string   `col:"family"`
	Architecture            string   `col:"architecture"`
	DType                   string   `col:"dtype"`
	ParameterCount          int64    `col:"parameter_count"`
	EmbeddingParameterCount int64    `col:"embedding_parameter_count"`
	VisionParameterCount    int64    `col:"vision_parameter_count"`
	ActiveParameterCount    *int64   `col:"active_parameter_count"`
	LayerCount              *int64   `col:"layer_count"`
	MaxContextCount         *int64   `col:"max_context_count"`
	ImageTokenCount         *int64   `col:"image_token_count"`
	WeightBytes             *float64 `col:"weight_bytes"`
	KVTokenBytes            *float64 `col:"kv_token_bytes"`
	StateBytes              *float64 `col:"state_bytes"`
	SourceTokenBytes        *float64 `col:"source_token_bytes"`
	IsCounted               bool     `col:"is_counted"`
	Model                   int64    `col:"model"`
}

// modelBytesRow is a row of model-bytes.
type modelBytesRow struct {
	Model            int64    `col:"model"`
	DType            string   `col:"dtype"`
	WeightBytes      float64  `col:"weight_bytes"`
	KVTokenBytes     *float64 `col:"kv_token_bytes"`
	StateBytes       *float64 `col:"state_bytes"`
	SourceTokenBytes *float64 `col:"source_token_bytes"`
}

// layerRow is a row of model-layers.
type layerRow struct {
	Model          int64  `col:"model"`
	Part           string `col:"part"`
	ParameterCount int64  `col:"parameter_count"`
	Component      string `col:"component"`
	Kind           string `col:"kind"`
	LayerCount     int64  `col:"layer_count"`
	WindowSize     *int64 `col:"window_size"`
}

// flopRow is a row of layer-flops.
type flopRow struct {
	Stage    string `col:"stage"`
	Part     string `col:"part"`
	Flop     *int64 `col:"flop"`
	Operator string `col:"operator"`
	View     string `col:"view"`
}

// idleTimes are the parts of idle time.
type idleTimes struct {
	LaunchNs        float64 `col:"launch_ns"`
	LaunchDelayNs   float64 `col:"launch_delay_ns"`
	LaunchLatencyNs float64 `col:"launch_latency_ns"`
	WaitNs          float64 `col:"wait_ns"`
	CallNs          float64 `col:"call_ns"`
	HostNs          float64 `col:"host_ns"`
	ProfilerNs      float64 `col:"profiler_ns"`
	QueuedNs        float64 `col:"queued_ns"`
	UnknownNs       float64 `col:"unknown_ns"`
}

// gapRow is a row of gaps.
type gapRow struct {
	Stage    string `col:"stage"`
	GapCount int64  `col:"gap_count"`
	idleTimes
}

// longGapRow is a row of longest-gaps.
type longGapRow struct {
	DurationNs float64 `col:"duration_ns"`
	StartNs    float64 `col:"start_ns"`
	SourceID   int64   `col:"source_id"`
	PID        *int64  `col:"pid"`
	idleTimes
}

// categoryRow is a row of time-breakdown.
type categoryRow struct {
	Stage    string `col:"stage"`
	Category string `col:"category"`
	Kind     string `col:"kind"`
	TotalNs  int64  `col:"total_ns"`
	StageNs  int64  `col:"stage_ns"`
}
