package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/capture/capturetest"
)

// Where ncu refuses the kernels of graphs with conditional nodes, a recording more profiles graphs as wholes; who asks for that gets it at once.
func TestCaptureGraphs(t *testing.T) {
	t.Parallel()
	const note = "Nsight Compute cannot profile kernels of CUDA graphs that have conditional nodes: a recording more profiles graphs as wholes"
	for name, c := range map[string]struct {
		how, args, passes string
		graphs            []bool // of each recording under ncu
	}{
		"beside other kernels": {"conditional", "", "nsys-1,ok,0,\nncu-1,ok,0,\nncu-2,ok,0,\n", []bool{false, true}},
		"nothing else":         {"allconditional", "", "nsys-1,ok,0,\nncu-1,not_run,0,\"?all kernels to profile are in CUDA graphs that have conditional nodes: they are profiled as wholes\"?\nncu-2,ok,0,\n", []bool{false, true}},
		"asked for":            {"conditional", "--ncu-arg=--graph-profiling --ncu-arg=graph", "nsys-1,ok,0,\nncu-1,ok,0,\n", []bool{true}},
		"refused still":        {"conditional", "--ncu-arg=--graph-profiling=node", "nsys-1,ok,0,\nncu-1,ok,0,\n", []bool{false}},
		"none":                 {"", "", "nsys-1,ok,0,\nncu-1,ok,0,\n", []bool{false}},
		"known, nothing else":  {"", "while", "nsys-1,ok,0,\nncu-1,ok,0,\n", []bool{true}},
		"known, refused still": {"", "while --ncu-arg=--graph-profiling=node", "nsys-1,ok,0,\nncu-1,not_run,-,\"?cannot choose kernels for ncu: all kernels to profile are in CUDA graphs that have conditional nodes, .*\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).storing()
			b.work = func(*capturetest.Process) int { return 0 }
			args, isWhile := strings.CutPrefix(c.args, "while")
			if isWhile { // its timeline has nothing but replays of a graph with a WHILE node
				b.nsys.SQLite = write(t, filepath.Join(b.temp, "while.sqlite"), unpacked(t, "../odd/while-node.sqlite.gz"))
			}
			var graphs []bool
			var last string
			b.ncu.How, b.ncu.Asked = c.how, func(argv []string) {
				last = strings.Join(argv, " ")
				graphs = append(graphs, strings.Contains(last, "--graph-profiling graph"))
			}
			got := b.prof(append(append([]string{"capture", "--run", "r", "--ncu-top", "3", "--ncu-launches", "2"}, strings.Fields(args)...), "--", "work")...)
			if got.code != min(1, strings.Count(c.passes, "not_run,-")) || !slices.Equal(graphs, c.graphs) || strings.Contains(got.err, note) != (len(c.graphs) > 1) {
				t.Errorf("exit %d, graphs %v, stderr:\n%s", got.code, graphs, got.err)
			}
			if len(c.graphs) > 1 && !strings.Contains(last, "--graph-profiling graph --kernel-name-base function --kernel-name regex:^graph$ --launch-count 6 ") {
				t.Errorf("ncu was asked for %s", last)
			}
			b.wantPasses("r", c.passes)
		})
	}
}
