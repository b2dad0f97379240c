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
)

// made is what the query gives of five kernels: of a warm-up pass, of a stage with and without operators, outside every stage, without a launch.
func made() *frame.Frame {
	f := &frame.Frame{Query: Query}
	for name := range strings.FieldsSeq("stage pass is_warmup ranges operators kernel family role source_id pid rank_id device stream calls total_ns launch_ns") {
		f.Columns = append(f.Columns, frame.Column{Name: name, Unit: frame.UnitOf(name)})
	}
	row := func(stage string, pass any, isWarmup bool, ranges any, operators, kernel string, calls, total int64, launch any) {
		f.Rows = append(f.Rows, []any{stage, pass, isWarmup, ranges, operators, kernel, "gemm", nil, int64(1), int64(42), int64(3), int64(0), int64(7), calls, total, launch})
	}
	row("decode", int64(1), true, `["generate","decode"]`, `[]`, "k<int>(A;B)", 1, 1000, int64(10))
	row("decode", int64(2), false, `["generate","decode"]`, `["aten::mm"]`, "k<int>(A;B)", 2, 200, int64(20))
	row("decode", int64(3), false, `["generate","decode"]`, `["aten::mm"]`, "k<int>(A;B)", 3, 300, int64(30))
	row("prefill", int64(1), false, `["step \"1\""]`, `[]`, "k<float>(A;B)", 4, 40, nil)
	row("(none)", nil, false, `[]`, `[]`, "k<int>(A;B)", 5, 5, nil)
	row("(none)", nil, false, nil, `[]`, "k<int>(A;B)", 6, 6, nil)
	return f
}

func TestFolded(t *testing.T) {
	list, omitted, err := Read(made(), Options{})
	if err != nil || omitted != 1 {
		t.Fatalf("omitted %d, %v", omitted, err)
	}
	var out bytes.Buffer
	if err := writeFolded(&out, list, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `(no launch);k<int>(A:B) 6
(none);k<int>(A:B) 5
generate;decode;aten::mm;k<int>(A:B) 500
prefill;step "1";k<float>(A:B) 40
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

// TestPprof reads a profile back: sums, stacks from the leaf on, labels.
func TestPprof(t *testing.T) {
	o := Options{Run: "a run", Captured: time.Unix(1, 2), Warmup: true}
	list, omitted, err := Read(made(), o)
	if err != nil || omitted != 0 {
		t.Fatalf("omitted %d, %v", omitted, err)
	}
	var out bytes.Buffer
	if err := writePprof(&out, list, o); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	var sums [3]int64
	functions := map[string]bool{}
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
		functions[s.Location[0].Line[0].Function.Name] = true
	}
	if sums != [3]int64{1551, 21, 60} || p.TimeNanos != 1_000_000_002 || len(p.Sample) != 6 {
		t.Errorf("sums %v of %d samples at %d", sums, len(p.Sample), p.TimeNanos)
	}
	if got := slices.Sorted(maps.Keys(functions)); !slices.Equal(got, []string{"k<float>(A;B)", "k<int>(A;B)"}) {
		t.Errorf("leaves %q", got)
	}
	s := p.Sample[1]
	if len(s.Location) != 4 || s.Location[3].Line[0].Function.Name != "generate" || s.Label["stage"][0] != "decode" || s.NumLabel["pass"][0] != 2 || s.NumLabel["rank"][0] != 3 || s.Label["role"] != nil {
		t.Errorf("sample %+v", s)
	}
	if _, isThere := p.Sample[4].NumLabel["pass"]; isThere {
		t.Error("a kernel outside passes has a pass")
	}
}

// TestBadStacks gives what the query never does.
func TestBadStacks(t *testing.T) {
	f := made()
	f.Rows[1][4] = "aten::mm"
	if _, _, err := Read(f, Options{}); err == nil || !strings.Contains(err.Error(), "kernel-stacks: row 2: operators") {
		t.Errorf("not JSON: %v", err)
	}
	f.Columns = f.Columns[:3]
	if _, _, err := Read(f, Options{}); err == nil {
		t.Error("a frame without columns is read")
	}
}
