package report

import (
	"prof/queries/frame"
	"prof/render/typeset"
)

// What the files of a report read of answers.
var (
	runRows          = frame.RowsOf[runRow]("run-details")
	sourceRows       = frame.RowsOf[sourceRow]("sources")
	factRows         = frame.RowsOf[factRow]("facts")
	deviceRows       = frame.RowsOf[deviceRow]("devices")
	captureRows      = frame.RowsOf[captureRow]("captures")
	recordingRows    = frame.RowsOf[recordingRow]("capture-passes")
	inputRows        = frame.RowsOf[inputRow]("inputs")
	workloadRows     = frame.RowsOf[workloadRow]("workload-passes")
	diagnosticRows   = frame.RowsOf[diagnosticRow]("diagnostics")
	deviceUseRows    = frame.RowsOf[deviceUseRow]("device-use")
	throttleRows     = frame.RowsOf[throttleRow]("throttling")
	stageRows        = frame.RowsOf[stageRow]("stages")
	passRows         = frame.RowsOf[passRow]("passes")
	noteRows         = frame.RowsOf[noteRow]("stage-notes")
	partRows         = frame.RowsOf[partRow]("accounting")
	conservationRows = frame.RowsOf[conservationRow]("conservation")
	aggregateRows    = frame.RowsOf[aggregateRow]("aggregates")
	useRows          = frame.RowsOf[useRow]("mfu")
	bandwidthRows    = frame.RowsOf[bandwidthRow]("mbu")
	peakRows         = frame.RowsOf[peakRow]("peaks")
	modelRows        = frame.RowsOf[modelRow]("models")
	layerRows        = frame.RowsOf[layerRow]("model-layers")
	flopRows         = frame.RowsOf[flopRow]("layer-flops")
	activationRows   = frame.RowsOf[activationRow]("activations")
	kernelRows       = frame.RowsOf[kernelRow]("top-kernels")
	kernelShareRows  = frame.RowsOf[kernelShareRow]("kernel-devices")
	operatorRows     = frame.RowsOf[operatorRow]("top-operators")
	ruleRows         = frame.RowsOf[ruleRow]("finding-rules")
)

// What files for other programs have of answers, column by column.
var (
	sourceCells       = frame.RowsOf[sourceCell]("sources")
	readCells         = frame.RowsOf[readCell]("sources")
	deviceCells       = frame.RowsOf[deviceCell]("devices")
	captureCells      = frame.RowsOf[captureCell]("captures")
	recordingCells    = frame.RowsOf[recordingCell]("capture-passes")
	workloadCells     = frame.RowsOf[workloadCell]("workload-passes")
	conservationCells = frame.RowsOf[conservationCell]("conservation")
	peakCells         = frame.RowsOf[peakCell]("peaks")
)

// runRow is the row of run-details.
type runRow struct {
	Run       string `col:"run"`
	RunID     string `col:"run_id"`
	CreatedAt string `col:"created_at"`
	StartedAt string `col:"started_at"`
	Host      string `col:"host"`
	Command   string `col:"command"`
	Version   string `col:"prof_version"`
	Tags      string `col:"tags"`
}

// sourceRow is a row of sources.
type sourceRow struct {
	SourceID    int64    `col:"source_id"`
	Kind        string   `col:"kind"`
	Path        string   `col:"path"`
	ToolVersion string   `col:"tool_version"`
	Status      string   `col:"status"`
	Reason      string   `col:"reason"`
	DurationNs  *float64 `col:"duration_ns"`
}

// sourceCell is a source as env.json has it.
type sourceCell struct {
	SourceID      int64  `col:"source_id"`
	Kind          string `col:"kind"`
	Form          string `col:"form"`
	Path          string `col:"path"`
	RankID        *int64 `col:"rank_id"`
	ToolVersion   string `col:"tool_version"`
	SchemaVersion string `col:"schema_version"`
	SizeBytes     *int64 `col:"size_bytes"`
	SHA256        string `col:"sha256"`
	Status        string `col:"status"`
	Reason        string `col:"reason"`
}

// readCell is a source as inputs.yaml has it.
type readCell struct {
	SourceID  int64  `col:"source_id"`
	Kind      string `col:"kind"`
	Path      string `col:"path"`
	SizeBytes *int64 `col:"size_bytes"`
	SHA256    string `col:"sha256"`
}

// factRow is a row of facts.
type factRow struct {
	SourceID int64  `col:"source_id"`
	Key      string `col:"key"`
	Value    string `col:"value"`
}

// deviceRow is a row of devices.
type deviceRow struct {
	SourceID    int64  `col:"source_id"`
	Device      int64  `col:"device"`
	Name        string `col:"name"`
	KernelCount *int64 `col:"kernel_count"`
	Capability  string `col:"compute_capability"`
}

// works reports whether kernels ran on it.
func (d deviceRow) works() bool { return frame.Or(d.KernelCount, 0) > 0 }

// deviceCell is a GPU as env.json has it.
type deviceCell struct {
	SourceID    int64  `col:"source_id"`
	Device      int64  `col:"device"`
	Name        string `col:"name"`
	KernelCount *int64 `col:"kernel_count"`
	Capability  string `col:"compute_capability"`
	SMCount     *int64 `col:"sm_count"`
	ClockHz     *int64 `col:"clock_hz"`
	Memory      *int64 `col:"memory_bytes"`
	MemoryRate  *int64 `col:"memory_bytes_per_s"`
	L2          *int64 `col:"l2_bytes"`
	UUID        string `col:"uuid"`
	BusID       string `col:"bus_id"`
}

// captureRow is a row of captures.
type captureRow struct {
	Mode   string `col:"mode"`
	Status string `col:"status"`
}

// captureCell is a capture as env.json has it.
type captureCell struct {
	Mode        string `col:"mode"`
	Status      string `col:"status"`
	Reason      string `col:"reason"`
	GitCommit   string `col:"git_commit"`
	GitBranch   string `col:"git_branch"`
	IsGitDirty  *bool  `col:"is_git_dirty"`
	StartedAt   string `col:"started_at"`
	DurationNs  *int64 `col:"duration_ns"`
	Folder      string `col:"folder"`
	WorkloadKey string `col:"workload_key"`
	SourceID    *int64 `col:"source_id"`
}

// recordingRow is a row of capture-passes.
type recordingRow struct {
	Pass         string `col:"pass"`
	Tool         string `col:"tool"`
	Status       string `col:"status"`
	ClockControl string `col:"clock_control"`
}

// recordingCell is a recording as env.json has it.
type recordingCell struct {
	Pass         string `col:"pass"`
	Tool         string `col:"tool"`
	Mode         string `col:"mode"`
	Repeat       *int64 `col:"repeat"`
	Status       string `col:"status"`
	Reason       string `col:"reason"`
	ToolVersion  string `col:"tool_version"`
	ClockControl string `col:"clock_control"`
	StartedAt    string `col:"started_at"`
	WorkloadNs   *int64 `col:"workload_ns"`
	DurationNs   *int64 `col:"duration_ns"`
	ExitCode     *int64 `col:"exit_code"`
	Signal       string `col:"signal"`
}

// inputRow is a row of inputs.
type inputRow struct {
	Path      string `col:"path"`
	SizeBytes *int64 `col:"size_bytes"`
	SHA256    string `col:"sha256"`
}

// workloadRow is a row of workload-passes.
type workloadRow struct {
	Pass     *int64 `col:"pass"`
	IsWarmup bool   `col:"is_warmup"`
	Prefill  *int64 `col:"prefill_count"`
	Decode   *int64 `col:"decode_count"`
	Batch    *int64 `col:"batch_count"`
	Images   *int64 `col:"image_count"`
	Crops    *int64 `col:"crop_count"`
}

// workloadCell is a pass of the workload as inputs.yaml has it.
type workloadCell struct {
	SourceID *int64 `col:"source_id"`
	workloadRow
}

// diagnosticRow is a row of diagnostics.
type diagnosticRow struct {
	Severity string `col:"severity"`
}

// deviceUseRow is a row of device-use.
type deviceUseRow struct {
	Pass         string   `col:"pass"`
	Device       int64    `col:"device"`
	BusyClockHz  *float64 `col:"busy_sm_clock_mean_hz"`
	MostClockHz  *float64 `col:"sm_clock_max_hz"`
	MostPowerW   *float64 `col:"power_max_w"`
	MostCelsiusC *float64 `col:"temperature_max_c"`
}

// throttleRow is a row of throttling.
type throttleRow struct {
	Pass           string   `col:"pass"`
	Device         int64    `col:"device"`
	Reason         string   `col:"reason"`
	IsSlowdown     *bool    `col:"is_slowdown"`
	BusyShareRatio *float64 `col:"busy_share_ratio"`
}

// stageRow is a row of stages.
type stageRow struct {
	Stage        string `col:"stage"`
	Passes       int64  `col:"passes"`
	WarmupPasses int64  `col:"warmup_passes"`
}

// passRow is a row of passes.
type passRow struct {
	Stage    string `col:"stage"`
	Path     string `col:"path"`
	IsWarmup bool   `col:"is_warmup"`
}

// noteRow is a row of stage-notes.
type noteRow struct {
	Stage         string   `col:"stage"`
	Note          string   `col:"note"`
	Instances     int64    `col:"instances"`
	GPUSpanMeanNs *float64 `col:"gpu_span_mean_ns"`
	Passes        int64    `col:"passes"`
	PassMeanNs    *float64 `col:"pass_mean_ns"`
	PassStdNs     *float64 `col:"pass_std_ns"`
	ImageMeanNs   *float64 `col:"image_mean_ns"`
}

// partRow is a row of accounting.
type partRow struct {
	Stage       string   `col:"stage"`
	Device      int64    `col:"device"`
	Part        string   `col:"part"`
	Kind        string   `col:"kind"`
	TotalNs     *float64 `col:"total_ns"`
	ShareRatio  *float64 `col:"share_ratio"`
	MeanNs      *float64 `col:"mean_ns"`
	Passes      int64    `col:"passes"`
	SpanTotalNs *float64 `col:"span_total_ns"`
}

// conservationCell is a capture's kernel time as metrics.json has it.
type conservationCell struct {
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
}

// conservationRow is a row of conservation.
type conservationRow struct {
	conservationCell
	UnmetCount int64 `col:"unmet_count"`
}

// aggregateRow is a row of aggregates.
type aggregateRow struct {
	Metric string   `col:"metric"`
	Stage  string   `col:"stage"`
	Unit   string   `col:"unit"`
	Value  *float64 `col:"value"`
	Mean   *float64 `col:"mean"`
	Std    *float64 `col:"std"`
	Min    *float64 `col:"min"`
	Max    *float64 `col:"max"`
	Median *float64 `col:"median"`
	Passes int64    `col:"passes"`
	Basis  string   `col:"basis"`
}

// useRow is a row of mfu.
type useRow struct {
	Stage           string   `col:"stage"`
	Passes          int64    `col:"passes"`
	Flop            *float64 `col:"flop"`
	TimeBasis       string   `col:"time_basis"`
	TimeNs          *float64 `col:"time_ns"`
	PeakFlopPerS    *float64 `col:"peak_flop_per_s"`
	MFURatio        *float64 `col:"mfu_ratio"`
	MBURatio        *float64 `col:"mbu_ratio"`
	AloneTimeNs     *float64 `col:"alone_time_ns"`
	AloneMFURatio   *float64 `col:"alone_mfu_ratio"`
	AloneMBURatio   *float64 `col:"alone_mbu_ratio"`
	Precision       string   `col:"precision"`
	PrecisionOrigin string   `col:"precision_origin"`
	Convention      string   `col:"convention"`
	MLA             string   `col:"mla"`
	PeakOrigin      string   `col:"peak_origin"`
	DeviceCount     *int64   `col:"device_count"`
	PartOf          string   `col:"part_of"`
	IsLeast         bool     `col:"is_least"`
	Fault           string   `col:"fault"`
}

// peak is the dense peak of the GPUs of a pass together.
func (u useRow) peak() *float64 { return typeset.Finite(u.PeakFlopPerS) }

// bandwidthRow is a row of mbu.
type bandwidthRow struct {
	Stage         string   `col:"stage"`
	WeightBytes   *float64 `col:"weight_bytes"`
	KVBytes       *float64 `col:"kv_bytes"`
	TimeNs        *float64 `col:"time_ns"`
	PeakBytesPerS *float64 `col:"peak_bytes_per_s"`
	Fault         string   `col:"fault"`
}

// peakCell is a peak as metrics.json has it.
type peakCell struct {
	Device        string   `col:"device"`
	Resource      string   `col:"resource"`
	Accumulate    string   `col:"accumulate"`
	PeakFlopPerS  *float64 `col:"peak_flop_per_s"`
	PeakBytesPerS *float64 `col:"peak_bytes_per_s"`
	Origin        string   `col:"origin"`
	Doc           string   `col:"doc"`
	Reference     string   `col:"reference"`
	CheckedOn     string   `col:"checked_on"`
}

// isKnown reports whether the table of peaks has it.
func (p peakCell) isKnown() bool { return p.PeakFlopPerS != nil || p.PeakBytesPerS != nil }

// peakRow is a row of peaks.
type peakRow struct {
	peakCell
	PeakClockHz *float64 `col:"peak_clock_hz"`
	ClockHz     *float64 `col:"clock_hz"`
}

// modelRow is a row of models.
type modelRow struct {
	Name                 string `col:"name"`
	Family               string `col:"family"`
	DType                string `col:"dtype"`
	IsCounted            bool   `col:"is_counted"`
	HiddenSize           *int64 `col:"hidden_size"`
	LayerCount           *int64 `col:"layer_count"`
	VocabSize            *int64 `col:"vocab_size"`
	ParameterCount       *int64 `col:"parameter_count"`
	ActiveParameterCount *int64 `col:"active_parameter_count"`
}

// layerRow is a row of model-layers.
type layerRow struct {
	Part      string `col:"part"`
	Component string `col:"component"`
	Kind      string `col:"kind"`
	Shape     string `col:"shape"`
}

// flopRow is a row of layer-flops.
type flopRow struct {
	View string `col:"view"`
	Flop *int64 `col:"flop"`
}

// activationRow is a row of activations.
type activationRow struct {
	Stage        string   `col:"stage"`
	Part         string   `col:"part"`
	LayerCount   int64    `col:"layer_count"`
	WrittenBytes *float64 `col:"written_bytes"`
	PeakBytes    *float64 `col:"peak_bytes"`
}

// kernelRow is a row of top-kernels.
type kernelRow struct {
	Kernel         string   `col:"kernel"`
	Calls          int64    `col:"calls"`
	TotalNs        *float64 `col:"total_ns"`
	MeanNs         *float64 `col:"mean_ns"`
	MedianNs       *float64 `col:"median_ns"`
	ShareRatio     *float64 `col:"share_ratio"`
	Role           string   `col:"role"`
	Family         string   `col:"family"`
	Bound          string   `col:"bound,optional"`
	Limiter        string   `col:"limiter,optional"`
	RoofRatio      *float64 `col:"roof_ratio,optional"`
	OccupancyRatio *float64 `col:"occupancy_ratio,optional"`
	ProfiledRatio  *float64 `col:"profiled_ratio,optional"`
}

// kernelShareRow is a row of kernel-devices.
type kernelShareRow struct {
	Kernel     string   `col:"kernel"`
	Device     int64    `col:"device"`
	ShareRatio *float64 `col:"share_ratio"`
}

// operatorRow is a row of top-operators.
type operatorRow struct {
	Operator         string   `col:"operator"`
	Calls            *int64   `col:"calls"`
	SelfDeviceNs     *float64 `col:"self_device_ns"`
	TotalDeviceNs    *float64 `col:"total_device_ns"`
	SelfCPUNs        *float64 `col:"self_cpu_ns"`
	TotalCPUNs       *float64 `col:"total_cpu_ns"`
	ShareRatio       *float64 `col:"share_ratio"`
	WorkCount        *int64   `col:"work_count"`
	FlopCount        *float64 `col:"flop_count"`
	DeviceAllocBytes *float64 `col:"device_alloc_bytes"`
	DeviceNetBytes   *float64 `col:"device_net_bytes"`
}

// meanCPUMs is the CPU time of a call in ms, with the original's six decimals; not known without the number of calls.
func (o operatorRow) meanCPUMs() string {
	if o.Calls == nil || *o.Calls == 0 {
		return typeset.Null
	}
	return fixed(o.TotalCPUNs, nsPerMs*float64(*o.Calls), 6)
}

// ruleRow is a row of finding-rules.
type ruleRow struct {
	Finding string   `col:"finding"`
	Title   string   `col:"title"`
	Bound   string   `col:"bound"`
	Saving  string   `col:"saving"`
	Value   *float64 `col:"value"`
	Unit    string   `col:"unit"`
	Needs   string   `col:"needs"`
}
