package stacks

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
)

// made is what the query gives of six kernels: of a warm-up pass, of a stage with and without operators, outside every stage, without a launch; and of an operator
// that launched several. PyTorch's formulas cover more of the time than Nsight Compute.
func made() *frame.Frame {
	f := &frame.Frame{Query: Query}
	for name := range strings.FieldsSeq("stage pass is_warmup ranges modules operators kernel family role source_id pid rank_id device stream calls total_ns launch_ns measured_flop measured_ns dram_bytes dram_ns formula_flop formula_ns") {
		f.Columns = append(f.Columns, frame.Column{Name: name, Unit: frame.UnitOf(name)})
	}
	row := func(stage string, pass any, isWarmup bool, ranges any, operators string, kernel any, calls, total int64, launch any, work ...any) {
		modules := `[]`
		if operators != `[]` {
			modules = `["Llama_0","Linear_1"]`
		}
		work = append(work, make([]any, 6-len(work))...)
		f.Rows = append(f.Rows, append([]any{stage, pass, isWarmup, ranges, modules, operators, kernel, "gemm", nil, int64(1), int64(42), int64(3), int64(0), int64(7), calls, total, launch}, work...))
	}
	row("decode", int64(1), true, `["generate","decode"]`, `[]`, "k<int>(A;B)", 1, 1000, int64(10), 7.0, int64(1000))
	row("decode", int64(2), false, `["generate","decode"]`, `["aten::mm"]`, "k<int>(A;B)", 2, 200, int64(20), 1000.4, int64(200), 99.6, int64(200), int64(2000), int64(200))
	row("decode", int64(3), false, `["generate","decode"]`, `["aten::mm"]`, "k<int>(A;B)", 3, 300, int64(30), nil, nil, nil, nil, nil, int64(300))
	row("decode", int64(3), false, `["generate","decode"]`, `["aten::conv2d"]`, nil, 0, 0, nil, nil, nil, nil, nil, int64(50))
	row("prefill", int64(1), false, `["step \"1\""]`, `[]`, "k<float>(A;B)", 4, 40, nil)
	row("(none)", nil, false, `[]`, `[]`, "k<int>(A;B)", 5, 5, nil)
	row("(none)", nil, false, nil, `[]`, "k<int>(A;B)", 6, 6, nil)
	return frametest.Typed(f)
}

func TestFolded(t *testing.T) {
	p, err := Read(made(), Options{})
	if err != nil || p.Omitted != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	var out bytes.Buffer
	if err := writeFolded(&out, p, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `(no launch);k<int>(A:B) 6
(none);k<int>(A:B) 5
generate;decode;Llama_0;Linear_1;aten::mm;k<int>(A:B) 500
prefill;step "1";k<float>(A:B) 40
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

// written is a profile as its readers have it, with the sum of each sample type.
func written(t *testing.T, p *Profile, o Options) (*profile.Profile, map[string]int64) {
	t.Helper()
	var out bytes.Buffer
	if err := writePprof(&out, p, o); err != nil {
		t.Fatal(err)
	}
	got, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for i, v := range got.SampleType {
		sums[v.Type+"/"+v.Unit] = 0
		for _, s := range got.Sample {
			sums[v.Type+"/"+v.Unit] += s.Value[i]
		}
	}
	return got, sums
}

// TestPprof reads a profile back: sums, stacks from the leaf on, labels.
func TestPprof(t *testing.T) {
	o := Options{Run: "a run", Captured: time.Unix(1, 2), Warmup: true}
	list, err := Read(made(), o)
	if err != nil || list.Omitted != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	p, sums := written(t, list, o)
	if want := map[string]int64{"gpu_time/nanoseconds": 1551, "kernels/count": 21, "launch_time/nanoseconds": 60, "flop/count": 1007, "bytes/bytes": 100}; !maps.Equal(sums, want) || p.TimeNanos != 1_000_000_002 || len(p.Sample) != 6 {
		t.Errorf("sums %v of %d samples at %d, want %v", sums, len(p.Sample), p.TimeNanos, want)
	}
	if got, want := strings.Join(p.Comments, "\n"), "run a run\nFLOP known for 77.4 % of the GPU time: Nsight Compute, mean of the profiled launches of a kernel, grid and block\n"+
		"bytes known for 12.9 % of the GPU time: Nsight Compute, mean of the profiled launches of a kernel, grid and block, DRAM"; got != want {
		t.Errorf("comments\n%s\nwant\n%s", got, want)
	}
	functions := map[string]bool{}
	for _, s := range p.Sample {
		functions[s.Location[0].Line[0].Function.Name] = true
	}
	if got := slices.Sorted(maps.Keys(functions)); !slices.Equal(got, []string{"k<float>(A;B)", "k<int>(A;B)"}) {
		t.Errorf("leaves %q", got)
	}
	s := p.Sample[1]
	if len(s.Location) != 6 || s.Location[5].Line[0].Function.Name != "generate" || s.Label["stage"][0] != "decode" || s.NumLabel["pass"][0] != 2 || s.NumLabel["rank"][0] != 3 || s.Label["role"] != nil {
		t.Errorf("sample %+v", s)
	}
	if _, isThere := p.Sample[4].NumLabel["pass"]; isThere {
		t.Error("a kernel outside passes has a pass")
	}
}

// TestPprofWork leaves the warm-up out, so that formulas cover more than Nsight Compute, and then all work.
func TestPprofWork(t *testing.T) {
	list, err := Read(made(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, sums := written(t, list, Options{})
	if sums["flop/count"] != 2050 || sums["bytes/bytes"] != 100 || sums["kernels/count"] != 20 || !strings.HasPrefix(p.Comments[1], "FLOP known for 90.7 % of the GPU time: PyTorch's formulas") {
		t.Errorf("sums %v, comments %q", sums, p.Comments)
	}
	if s := p.Sample[2]; s.Location[0].Line[0].Function.Name != "aten::conv2d" || s.Value[0] != 0 || s.Value[3] != 50 {
		t.Errorf("an operator's FLOP: %+v", s)
	}
	f := made()
	for _, r := range f.Rows {
		clear(r[len(r)-6:])
	}
	if list, err = Read(f, Options{}); err != nil {
		t.Fatal(err)
	}
	if p, sums := written(t, list, Options{}); len(sums) != 3 || len(p.Sample) != 5 || !strings.HasPrefix(p.Comments[1], "no FLOP and bytes of kernels are known") {
		t.Errorf("without work: sums %v of %d samples, comments %q", sums, len(p.Sample), p.Comments)
	}
}

// TestBadStacks gives what the query never does.
func TestBadStacks(t *testing.T) {
	f := made()
	f.Rows[1][5] = "aten::mm"
	if _, err := Read(f, Options{}); err == nil || !strings.Contains(err.Error(), "kernel-stacks: row 2: operators") {
		t.Errorf("not JSON: %v", err)
	}
	f = made()
	f.Rows[0][17] = 1e19
	if _, err := Read(f, Options{Warmup: true}); err == nil || !strings.Contains(err.Error(), "kernel-stacks: row 1: FLOP is 1e+19") {
		t.Errorf("more than fits: %v", err)
	}
	f.Columns = f.Columns[:3]
	if _, err := Read(f, Options{}); err == nil {
		t.Error("a frame without columns is read")
	}
}
