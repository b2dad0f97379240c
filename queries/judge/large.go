package judge

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/schema/say"
)

// LargeKernel is a kernel that takes a tenth of the GPU time of a stage's median pass or more, with what limits it.
type LargeKernel struct {
	Stage       string // "" for all device work
	Name        string
	Device      int64 // of which it takes the largest share
	DeviceCount int64 // GPUs on which it takes so much
	ShareRatio  float64
	Calls       int64 // in the measured passes
	TotalNs     int64
	Passes      int64
	PassCalls   float64 // in the median pass
	PassNs      float64
	PathPassNs  *float64 // by how much that pass would be shorter at most without it; nil when unknown
	Limit       string   // as large-kernels has it; "" when unknown
	RoofRatio   *float64
	Findings    []string // rules with a finding about it that is listed
	Found       string   // the same in words; "" without one
	Takes       string   // what it takes, in words
	Why         string   // what limits it, or that nothing is known
	Without     string   // what a pass would take without it; "" when unknown
	Advice      string   // what to do about it, where no finding says so; "" for nothing
	Command     string   // shows more, or captures what is missing; "" for none
	Detail      string   // another one that shows more; "" for none
	Open        string   // command that opens the timeline at it, or where its name is too long at a pass with it
}

// tensorAdvice is for products of small numbers outside tensor cores, which no setting of the model is to blame for.
const tensorAdvice = "get a kernel that uses tensor cores: for convolutions memory_format=torch.channels_last, torch.backends.cudnn.benchmark = True or another version of cuDNN; for matrix products sizes and strides that are multiples of 8"

// NoTool is said of what bounds kernels on GPUs of other makers.
const NoTool = "prof reads no tool that measures it on this GPU"

// addLarge says of each kernel that takes much of a stage what limits it.
func (s *summariser) addLarge() error {
	list, err := read(s, largeKernelRows)
	if err != nil {
		return err
	}
	listed, err := findingRows.Of(s.r.Frame("findings"))
	if err != nil {
		return fmt.Errorf("summary of %s: %w", s.name, err)
	}
	unknown := "limit unknown: profile it with Nsight Compute"
	if s.isForeign {
		unknown = "limit unknown: " + NoTool
	}
	for _, r := range list {
		unknown := unknown
		if len(s.bounds[r.Kernel]) > 0 {
			unknown = "limit unknown: what Nsight Compute profiled is less than 90 % of its time"
		}
		k := LargeKernel{Stage: r.Stage, Name: r.Kernel, Device: r.Device, DeviceCount: r.DeviceCount, ShareRatio: r.ShareRatio, Calls: r.Calls, TotalNs: r.TotalNs, Passes: r.Passes,
			PassCalls: r.PassCalls, PassNs: r.PassNs, PathPassNs: r.PathPassNs, Limit: r.Limit, RoofRatio: r.RoofRatio, Takes: r.takes(), Why: r.why(unknown), Without: r.without(),
			Open: commandOf("prof open", s.name, "stage", r.Stage, "device", fmt.Sprint(r.Device), "find", shownKernel(r.Kernel, "kernel"), "source", s.r.Source)}
		for _, x := range listed {
			if x.Stage == r.Stage && x.Subject == r.Kernel && slices.Contains(strings.Split(r.Findings, ", "), x.Finding) {
				k.Findings = append(k.Findings, x.Finding)
			}
		}
		if len(k.Findings) > 0 {
			k.Found = "see also " + say.List(k.Findings)
		}
		switch {
		case r.Limit == "ranks" && len(s.out.Ranks) == 0: // such as a capture of one rank
			k.Command = s.command("collectives", "stage", r.Stage, "source", s.r.Source)
		case r.Limit == "ranks":
			k.Command = s.command("late-ranks", "stage", r.Stage, "source", s.r.Source)
		case r.Limit == "tensor-cores" && r.InputPrecision != "fp32" && len(k.Findings) == 0:
			k.Advice = tensorAdvice
		case r.Limit == "" && !s.isForeign:
			k.Command = "prof capture --run " + ShellWord(s.name+"-2") + " --tools nsys,ncu -- CMD..."
			if rank := frame.Or(r.PlanRank, 0); rank > planned {
				k.Command = fmt.Sprintf("prof capture --run %s --tools nsys,ncu --ncu-top %d -- CMD...", ShellWord(s.name+"-2"), rank)
			}
		}
		if f := s.r.Frame("models"); r.Role == "gemm" && r.Stage != "" && f != nil && len(f.Rows) > 0 {
			k.Detail = s.command("gemm-speed", "stage", r.Stage, "source", s.r.Source)
		}
		s.out.Large = append(s.out.Large, k)
	}
	return nil
}

// LargestWithAdvice are the kernels that take most of their stage, where something is to be done about them that no finding says.
func (s Summary) LargestWithAdvice() []LargeKernel {
	var out []LargeKernel
	for i, k := range s.Large { // by stage, the largest first
		if k.Advice != "" && (i == 0 || s.Large[i-1].Stage != k.Stage) {
			out = append(out, k)
		}
	}
	return out
}

// fewBlocks is the share of the SMs below which large-kernels says that a grid has too few blocks.
const fewBlocks = 0.9

// planned is how many kernels prof capture profiles unless it is told otherwise.
const planned = 10

// takes words what the kernel takes.
func (r largeKernelRow) takes() string {
	of := "of the median pass's GPU time"
	if r.Stage == "" {
		of = "of the GPU time"
	}
	text := fmt.Sprintf("%s %s: %s", percentText(r.ShareRatio), of, DurationText(r.PassNs))
	if r.PassCalls < 1 { // the mean of two passes, of which one has it
		return text
	}
	return text + " in " + say.Mean(r.PassCalls, "call", "calls")
}

// why words what limits it: all that is known, with unknown first where that is no limit.
func (r largeKernelRow) why(unknown string) string {
	var parts []string
	switch {
	case r.Limit == "ranks":
		return "its time includes waiting for other ranks"
	case r.Limit == "roof" && r.RoofBasis == "ncu":
		parts = append(parts, fmt.Sprintf("near its roof: %s of the %s, by Nsight Compute", percentText(*r.RoofRatio), r.peak())+r.limiter())
	case r.Limit == "roof":
		parts = append(parts, fmt.Sprintf("near its roof: %s of the %s, by the %s", percentText(*r.RoofRatio), r.peak(), r.inputs()))
	case r.Limit == "below-roof" && r.RoofBasis == "ncu":
		text := fmt.Sprintf("reaches %s of its roof, by Nsight Compute", percentText(*r.RoofRatio))
		if r.Bound != "" {
			text += "; bound by " + r.Bound + r.limiter()
		}
		parts = append(parts, text)
	case r.Limit == "below-roof":
		parts = append(parts, fmt.Sprintf("reaches %s of its roof (%s), by the %s", percentText(*r.RoofRatio), r.Bound, r.inputs()))
	}
	if r.InputPrecision != "" {
		parts = append(parts, "multiplies "+strings.ToUpper(r.InputPrecision)+" in FP32, outside tensor cores")
	}
	if r.Blocks != nil && r.MostBlocks != nil && r.SMCount != nil && float64(*r.MostBlocks) < fewBlocks*float64(*r.SMCount) {
		blocks := say.Count(*r.MostBlocks, "block", "blocks")
		if *r.Blocks < *r.MostBlocks {
			blocks = fmt.Sprintf("%d to %s", *r.Blocks, blocks)
		}
		parts = append(parts, fmt.Sprintf("%s on %d SMs", blocks, *r.SMCount))
	}
	if r.Limit == "" {
		parts = append([]string{unknown}, parts...)
	}
	return strings.Join(parts, "; ")
}

// inputs names what its work is counted from, where Nsight Compute did not measure it.
func (r largeKernelRow) inputs() string {
	if r.RoofBasis == "product" {
		return "sizes of the model's matrix products"
	}
	return "inputs of " + r.Operator
}

// peak names the peak that it is near.
func (r largeKernelRow) peak() string {
	if r.Bound == "" {
		return "peak"
	}
	return r.Bound + " peak"
}

func (r largeKernelRow) limiter() string {
	if r.Limiter == "" {
		return ""
	}
	return " (" + r.Limiter + ")"
}

// without words what, as traced, a pass, or all work, would take less without it.
func (r largeKernelRow) without() string {
	what := "as traced, the pass"
	if r.Stage == "" {
		what = "as traced, the work"
	}
	switch {
	case r.PathPassNs == nil:
		return ""
	case *r.PathPassNs < 1:
		return what + " would take as long without it: by the critical path, launches, which tracing delays, or other work end later"
	}
	return fmt.Sprintf("%s would be at most %s shorter without it, by the critical path", what, DurationText(*r.PathPassNs))
}
