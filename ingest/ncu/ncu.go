// Package ncu reads what Nsight Compute captured: its reports (.ncu-rep), which need no ncu to be read, and the CSV pages that
// ncu prints. Both give the same Results, with values in ncu's base units.
package ncu

// Kind is what was profiled as one result.
type Kind uint8

// The kinds of results.
const (
	Kernel  Kind = iota // a kernel launch
	Range               // a range of work, replayed as a whole
	Graph               // a CUDA graph, replayed as a whole
	Cmdlist             // a command list
)

func (k Kind) String() string { return [...]string{"kernel", "range", "graph", "cmdlist"}[k] }

// Result is one kernel launch, range, graph or command list with what was measured of it.
type Result struct {
	ID      int32 // ncu's number of it within its report: 0, 1, ...
	Kind    Kind
	PID     int32
	TID     int32 // 0 when not said
	Process string
	Host    string
	// Device, Context and Stream are -1 when not said.
	Device, Context, Stream int32
	Capability              int    // compute capability of the device, 90 for 9.0; 0 when not said
	Name                    string // of a kernel, its demangled name as ncu spells it
	Function                string // of a kernel, its base function name; "" when not said
	Symbol                  string // of a kernel, its mangled name; "" when not said
	Grid, Block             [3]int32
	Created                 int64 // Unix time in seconds; 0 when not said
	ClockLocked             *bool // whether ncu held the clocks; nil when not said
	HasNVTX                 bool  // whether NVTX was captured, so that no Ranges means outside every range
	Ranges                  []NVTXRange
	Metrics                 []Metric
	Findings                []Finding
}

// NVTXRange is a range that was open when the work was launched. Ranges are in the order they were opened, outermost first.
type NVTXRange struct {
	StartEnd bool   // opened by nvtxRangeStart and not by nvtxRangePush
	Domain   string // "" for the default domain
	Name     string
}

// Metric is one measured value.
type Metric struct {
	Name   string
	Value  float64
	Text   string // the value when IsText
	IsText bool
	// Unit is ncu's base unit; "" is a plain number. It is UnknownUnit when nobody says.
	Unit string
}

// UnknownUnit is the unit of a metric whose unit is not known.
const UnknownUnit = "?"

// Finding is what one of ncu's rules says of a result.
type Finding struct {
	Rule     string // identifier, or the title where only that is known
	Title    string
	Section  string // identifier or title of the section; "" when not said
	Severity string // optimization, warning, error, ok or none
	Message  string
	Scope    string  // global or local; "" when no speedup is estimated
	Speedup  float64 // estimated saving, 0-1
	Metrics  []FindingMetric
	Cells    []FindingCell
}

// FindingCell is a cell of a table of a Finding.
type FindingCell struct {
	Table       int32 // 1, 2, ... of the finding
	Title       string
	Row, Column int32 // 1, 2, ...
	Header      string
	Value       float64
	Text        string // when IsText
	IsText      bool
}

// FindingMetric is a metric that a Finding rests on.
type FindingMetric struct {
	Name   string
	Value  float64
	Advice string
}

// SectionMetric is a place where ncu shows a metric.
type SectionMetric struct {
	Section    string // identifier, e.g. SpeedOfLight
	Title      string // display name
	Position   int32  // 1, 2, ... within the section
	Metric     string // name of the metric
	Label      string // what it is called there
	IsTimeline bool   // its samples are drawn there; sections name those of every GPU, and the result has some
}

// DefaultDomain is how ncu names the NVTX domain that has no name.
const DefaultDomain = "<default domain>"
