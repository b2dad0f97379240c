package screen

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/typeset"
	"prof/render/words"
)

// findings is an answer of the query of that name.
func findings(rows ...[]any) *frame.Frame {
	f := &frame.Frame{Query: "findings", Version: 1, Rows: rows}
	for _, c := range []struct {
		name string
		is   frame.Type
	}{{"rank", frame.Int}, {"finding", frame.Text}, {"stage", frame.Text}, {"saving_ns", frame.Int}, {"share_ratio", frame.Float}, {"bound", frame.Text}, {"title", frame.Text},
		{"evidence", frame.Text}, {"subject", frame.Text}, {"advice", frame.Text}, {"device", frame.Int}, {"device_count", frame.Int}, {"command", frame.Text}, {"run_device_count", frame.Int}, {"passes", frame.Int}, {"span_ns", frame.Int}, {"detail_command", frame.Text}} {
		f.Columns = append(f.Columns, frame.Column{Name: c.name, Type: c.is, Unit: frame.UnitOf(c.name)})
	}
	return f
}

func idle(more ...any) []any {
	row := []any{int64(1), "launch-bound", "decode", int64(631_584_123), 0.5287, "at most", "GPU idle: launches arrive too late", "the GPU is busy 9.9 % of the time; launched one by one: 15,680 kernels a pass", nil,
		"replay the work as a CUDA graph, or launch fewer and larger kernels", int64(0), int64(1), "prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0",
		int64(1), int64(3), int64(1_194_000_000), nil}
	for i := 0; i < len(more); i += 2 {
		row[more[i].(int)] = more[i+1]
	}
	return row
}

func TestFindings(t *testing.T) {
	f := findings(idle(), idle(0, int64(12), 2, nil, 3, int64(800), 4, 1.0, 8, "k<1>\x1b[2J", 11, int64(8), 13, int64(8), 15, int64(800), 16, "prof query stragglers --run a"))
	f.Notes = []string{"savings overlap and do not add up: fixing one changes the others"}
	for limit, want := range map[int]string{60: ` 1  decode: at most 632 ms of 1.19 s in 3 passes (52.9 %)
    GPU idle: launches arrive too late (launch-bound)
    the GPU is busy 9.9 % of the time; launched one by one:
    15,680 kernels a pass
    try: replay the work as a CUDA graph, or launch fewer
         and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

12  all device work: at most 800 ns of 800 ns (100.0 %) on
    GPU 0, the most of 8 GPUs
    GPU idle: launches arrive too late (launch-bound)
    k<1>\x1b[2J
    the GPU is busy 9.9 % of the time; launched one by one:
    15,680 kernels a pass
    try: replay the work as a CUDA graph, or launch fewer
         and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0
         prof query stragglers --run a

note: savings overlap and do not add up: fixing one changes
      the others
`, 0: ` 1  decode: at most 632 ms of 1.19 s in 3 passes (52.9 %)
    GPU idle: launches arrive too late (launch-bound)
    the GPU is busy 9.9 % of the time; launched one by one: 15,680 kernels a pass
    try: replay the work as a CUDA graph, or launch fewer and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

12  all device work: at most 800 ns of 800 ns (100.0 %) on GPU 0, the most of 8 GPUs
    GPU idle: launches arrive too late (launch-bound)
    k<1>\x1b[2J
    the GPU is busy 9.9 % of the time; launched one by one: 15,680 kernels a pass
    try: replay the work as a CUDA graph, or launch fewer and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0
         prof query stragglers --run a

note: savings overlap and do not add up: fixing one changes the others
`} {
		if got := written(t, f, typeset.Options{Width: limit}); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", limit, got, want)
		}
	}
	if got := written(t, f, typeset.Options{Color: true}); !strings.HasPrefix(got, typeset.Bold+" 1  decode: at most 632 ms of 1.19 s in 3 passes (52.9 %)\x1b[0m\n") {
		t.Errorf("in colour: %q", got)
	}
	if got := written(t, findings(), typeset.Options{}); got != "There are no findings.\n" {
		t.Errorf("without findings: %q", got)
	}
}

// TestFindingHeadline holds when a GPU is named, and the words for passes.
func TestFindingHeadline(t *testing.T) {
	for want, row := range map[string][]any{
		"decode: at most 632 ms of 1.19 s in 1 pass (52.9 %)":                                idle(14, int64(1)),
		"decode: at most 632 ms of 1.19 s in 1,234 passes (52.9 %)":                          idle(14, int64(1234)),
		"decode: at most 632 ms of 1.19 s in 3 passes (52.9 %) on GPU 0":                     idle(13, int64(2)),
		"decode: at most 632 ms of 1.19 s in 3 passes (52.9 %) on GPU 1, the most of 2 GPUs": idle(10, int64(1), 11, int64(2), 13, int64(2)),
		"all device work: at most 632 ms of 1.19 s (52.9 %)":                                 idle(2, nil, 14, int64(2)),
	} {
		list, err := words.Findings(findings(row))
		if err != nil || list[0].Headline != want {
			t.Errorf("%v: %q, want %q", err, list, want)
		}
	}
}

// TestFindingSpans holds the lines that findings follow: stages where there are any, else the whole run, without what has no time.
func TestFindingSpans(t *testing.T) {
	whole := []any{"(run)", int64(0), "compute", "busy", int64(600), int64(2), int64(1000)}
	stages := [][]any{whole, {"prefill", int64(0), "compute", "busy", int64(300), int64(1), int64(1000)}, {"prefill", int64(0), "copy", "busy", int64(100), int64(1), int64(1000)},
		{"prefill", int64(0), "wait", "wait", int64(600), int64(1), int64(1000)}, {"prefill", int64(1), "host", "host", int64(2000), int64(1), int64(2000)},
		{"decode", int64(0), "graph", "busy", int64(118_000_000), int64(1234), int64(1_194_000_000)}}
	for _, c := range []struct {
		rows        [][]any
		stage, want string
	}{
		{stages, "", "run a\\x1b\nprefill: 1 us in 1 pass on GPU 0, busy 40.0 %\nprefill: 2 us in 1 pass on GPU 1, busy 0 %\ndecode: 1.19 s in 1,234 passes on GPU 0, busy 9.9 %\nnote: n\n\n"},
		{stages, "decode", "run a\\x1b\ndecode: 1.19 s in 1,234 passes on GPU 0, busy 9.9 %\nnote: n\n\n"},
		{stages, "(none)", "run a\\x1b\nnote: n\n\n"},
		{[][]any{whole}, "(none)", "run a\\x1b\nall device work: 1 us on GPU 0, busy 60.0 %\nnote: n\n\n"},
		{[][]any{whole}, "", "run a\\x1b\nall device work: 1 us on GPU 0, busy 60.0 %\nnote: n\n\n"},
		{[][]any{whole}, "decode", "run a\\x1b\nnote: n\n\n"},
		{nil, "", "run a\\x1b\nnote: n\n\n"},
	} {
		var out bytes.Buffer
		f := rendertest.FrameOf("accounting", "stage device part kind total_ns passes span_total_ns", whole)
		f.Rows = c.rows
		if err := FindingSpans(&out, "a\x1b", c.stage, f, []string{"n"}, typeset.Options{}); err != nil || out.String() != c.want {
			t.Errorf("stage %q: %v\n%q\nwant\n%q", c.stage, err, out.String(), c.want)
		}
	}
	if err := FindingSpans(&bytes.Buffer{}, "a", "", findings(idle()), nil, typeset.Options{}); err == nil || err.Error() != "query findings: no column kind" {
		t.Errorf("of another frame: %v", err)
	}
}

// TestFindingsOfOtherFrames holds that a frame without the columns is refused.
func TestFindingsOfOtherFrames(t *testing.T) {
	f := findings(idle())
	short := &frame.Frame{Query: "other", Columns: slices.Clone(f.Columns[:3]), Rows: [][]any{f.Rows[0][:3]}}
	torn := findings(idle()[:4])
	for want, f := range map[string]*frame.Frame{"query other: no column saving_ns": short, "query findings: row 1 has 4 values for 17 columns": torn} {
		if err := Findings(&bytes.Buffer{}, f, typeset.Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func written(t *testing.T, f *frame.Frame, o typeset.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Findings(&out, f, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
