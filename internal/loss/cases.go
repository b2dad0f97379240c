package loss

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/internal/diagnosis"
	"prof/internal/exports"
)

// Form is how a capture is written.
type Form int

const (
	AsRead Form = iota
	Traces      // of prof's own tracer
)

// Base is a capture that loses something.
type Base struct {
	Name  string
	Files []string // below testdata
	In    []string // names of ranges in which it may lose; "" for anywhere
	Form  Form
}

// Load reads a base from the folder of captures.
func (b Base) Load(captures string) (*diagnosis.Capture, error) {
	if b.Name == "four-ranks" {
		return fourRanks(captures, b.Files)
	}
	return diagnosis.Base{Files: b.Files}.Load(captures)
}

// fourRanks makes the ranks of a job of two those of one of four: two more with the same work, as other processes of other ranks.
func fourRanks(captures string, paths []string) (*diagnosis.Capture, error) {
	files, names := map[string][]byte{}, []string{}
	for rank := range 4 {
		data, err := exports.Unpack(filepath.Join(captures, filepath.FromSlash(paths[rank%2])))
		if err != nil {
			return nil, err
		}
		text := string(data)
		for from, to := range map[string]string{
			fmt.Sprintf(`"rank": %d, "world_size": 2`, rank%2): fmt.Sprintf(`"rank": %d, "world_size": 4`, rank),
			fmt.Sprintf(`"pid": %d,`, 918-rank%2):              fmt.Sprintf(`"pid": %d,`, 918-rank),
			fmt.Sprintf(`"device": %d,`, rank%2):               fmt.Sprintf(`"device": %d,`, rank),
		} {
			if !strings.Contains(text, from) {
				return nil, fmt.Errorf("%s has no %s", paths[rank%2], from)
			}
			text = strings.ReplaceAll(text, from, to)
		}
		name := fmt.Sprintf("rank%d.trace.json", rank)
		files[name], names = []byte(text), append(names, name)
	}
	return diagnosis.Trace(files, names...)
}

// Write writes the files of a base's capture into a folder and returns what of it to ingest.
func (b Base) Write(c *diagnosis.Capture, dir string) ([]string, error) {
	paths, err := c.Write(dir, "lost")
	if err != nil || b.Form == AsRead {
		return paths, err
	}
	tables, err := exports.ReadFile(paths[0])
	if err != nil {
		return nil, err
	}
	traces := filepath.Join(dir, "traces")
	if err := exports.WriteTraces(traces, exports.Traced(tables)); err != nil {
		return nil, err
	}
	if err := os.Remove(paths[0]); err != nil {
		return nil, err
	}
	return []string{traces}, nil
}

// stages are the ranges of the usual stages.
var stages = []string{"", "decode", "prefill", ""}

// Bases are the captures: of Nsight Systems, of PyTorch's profiler and of prof's tracer, of one process and of several, with CUDA graphs and without.
var Bases = []Base{
	{"kernels", []string{"nsys/kernels/kernels.sqlite.gz"}, stages, AsRead},
	{"lost-tp4", []string{"lost/tp4-all-ranks.sqlite.gz"}, []string{"", "decode"}, AsRead},
	{"variants-node", []string{"nsys/variants-node/variants-node.sqlite.gz"}, []string{""}, AsRead},
	{"variants-graph", []string{"nsys/variants-graph/variants-graph.sqlite.gz"}, []string{""}, AsRead},
	{"graph-node", []string{"graph/node.sqlite.gz"}, stages, AsRead},
	{"graph-whole", []string{"graph/whole.sqlite.gz"}, stages, AsRead},
	{"engine-node", []string{"engine/engine-node.sqlite.gz"}, []string{""}, AsRead},
	{"engine-graph", []string{"engine/engine-graph.sqlite.gz"}, []string{""}, AsRead},
	{"events", []string{"events/streams.sqlite.gz"}, stages, AsRead},
	{"cpu-gil", []string{"cpu/gil.sqlite.gz"}, stages, AsRead},
	{"ncu-llama", []string{"ncu/llama.sqlite.gz"}, stages, AsRead},
	{"ranks-nsys", []string{"ranks/rank0.sqlite.gz"}, []string{""}, AsRead},
	{"traced-tp4", []string{"lost/tp4-all-ranks.sqlite.gz"}, []string{"", "decode"}, Traces},
	{"traced-graph-node", []string{"graph/node.sqlite.gz"}, stages, Traces},
	{"traced-kernels", []string{"nsys/kernels/kernels.sqlite.gz"}, stages, Traces},
	{"traced-ncu-llama", []string{"ncu/llama.sqlite.gz"}, stages, Traces},
	{"lost-steps", []string{"lost/steps-full.trace.json.gz"}, []string{""}, AsRead},
	{"ranks", []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz"}, []string{""}, AsRead},
	{"torch-graph", []string{"torch/graph.trace.json.gz"}, stages, AsRead},
	{"graph-trace", []string{"graph/graph.trace.json.gz"}, stages, AsRead},
	{"torch-bert", []string{"torch/models/bert.trace.json.gz"}, []string{""}, AsRead},
	{"torch-mixtral", []string{"torch/models/mixtral.trace.json.gz"}, []string{""}, AsRead},
	{"train", []string{"torch/train.trace.json.gz"}, []string{""}, AsRead},
	{"torch-hot", []string{"torch/lines/hot.trace.json.gz"}, []string{""}, AsRead},
	{"vllm-decode", []string{"engine/vllm-decode.trace.json.gz"}, []string{""}, AsRead},
	{"events-sync", []string{"events/sync.trace.json.gz"}, stages, AsRead},
	{"four-ranks", []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz"}, []string{""}, AsRead},
	{"averages", []string{"lost/profiler_out_0.txt"}, []string{""}, AsRead},
	{"stats", []string{"nsys/emit-nvtx/stats/emit-nvtx_cuda_gpu_kern_sum.csv"}, []string{""}, AsRead},
	{"rocprof", []string{"foreign/rocprofv3_kernel_trace.csv"}, []string{""}, AsRead},
	{"nccl2", []string{"nsys/nccl2/nccl2.sqlite.gz"}, []string{""}, AsRead},
	{"wrapped-compiled", []string{"torch/wrapped/compiled.trace.json.gz"}, []string{""}, AsRead},
}

// Case is a loss of a base.
type Case struct {
	Number int
	Base   Base
	Loss
}

// String names a case as the arguments that make it again.
func (c Case) String() string {
	return fmt.Sprintf("%d: %s of %s, part %g, in %q", c.Number, c.Kind, c.Base.Name, c.Part, c.In)
}

// Says are the kinds of losses of which one must be said.
func (c Case) Says() []string {
	for _, k := range Kinds {
		if k.Name == c.Kind {
			return k.Says
		}
	}
	return nil
}

// plan says how many cases there are of a kind, of which bases: all, or those named.
type plan struct {
	kind  string
	count int
	bases string
}

const (
	graphed = "variants-node graph-node engine-node traced-graph-node torch-graph graph-trace"
	tabled  = "kernels variants-node graph-whole lost-tp4 traced-kernels torch-bert engine-graph ranks-nsys"
	named   = "four-ranks averages stats rocprof" // only where they are
	several = "four-ranks lost-tp4 traced-tp4 ranks nccl2"
)

var plans = []plan{
	{"rank", 4, "four-ranks"}, {"rows", 6, "averages stats"}, {"rows-doubled", 2, "rocprof"}, {counted, 4, "kernels graph-node engine-node ncu-llama"}, {"work-scattered", 15, ""}, {"work-window", 23, ""}, {"work-head", 10, ""}, {"work-tail", 14, ""}, {"work-gpu", 8, several}, {"work-stream", 7, "events variants-node events-sync lost-tp4"},
	{"work-table", 6, "kernels lost-tp4 traced-kernels torch-bert lost-steps graph-whole"}, {"work-all", 6, ""}, {"nodes", 12, graphed},
	{"calls-scattered", 14, ""}, {"calls-window", 12, ""}, {"calls-head", 5, ""}, {"calls-tail", 6, ""}, {"calls-all", 5, several + " kernels train"},
	{"doubled-scattered", 7, ""}, {"doubled-window", 6, ""}, {"doubled-all", 3, ""}, {"doubled-both", 3, ""},
	{"shuffled", 5, ""}, {"swapped", 4, ""}, {"stretched", 3, ""}, {"whole-interval", 2, ""}, {"no-time", 3, ""},
	{"clock-early", 2, ""}, {"clock-late", 1, "ncu-llama"}, {"clock-back", 1, ""}, {"clock-forth", 1, ""},
}

var silent = []plan{{"gone-process", 6, "lost-tp4 traced-tp4"}, {"gone-end", 8, ""}, {"gone-begin", 6, ""}, {"gone-launches", 10, ""}}

// parts are the sizes of losses: one record, some, many.
var parts = []float64{0, 0.05, 0.3, 0.8}

// Cases are losses that leave evidence, Silent those that leave none.
func Cases() []Case  { return cases(plans, 0) }
func Silent() []Case { return cases(silent, 1000) }

func cases(plans []plan, first int) (list []Case) {
	for at, p := range plans {
		var bases []Base
		for _, b := range Bases {
			if p.bases == "" && !strings.Contains(" "+named+" ", " "+b.Name+" ") || strings.Contains(" "+p.bases+" ", " "+b.Name+" ") {
				bases = append(bases, b)
			}
		}
		for i := range p.count {
			n := i
			if p.bases == "" {
				n = 5*i + 7*at // bases beside each other are alike
			}
			b := bases[n%len(bases)]
			l := Loss{p.kind, parts[(i+i/len(parts))%len(parts)], b.In[(i+at)%len(b.In)], uint64(i)}
			list = append(list, Case{first + len(list) + 1, b, l})
		}
	}
	return list
}
