package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"prof/queries"
)

// findings is an answer of the query of that name.
func findings(rows ...[]any) *queries.Frame {
	f := &queries.Frame{Query: "findings", Version: 1, Rows: rows}
	for _, c := range []struct {
		name string
		is   queries.Type
	}{{"rank", queries.Int}, {"finding", queries.Text}, {"stage", queries.Text}, {"saving_ns", queries.Int}, {"share_ratio", queries.Float}, {"bound", queries.Text}, {"title", queries.Text},
		{"evidence", queries.Text}, {"subject", queries.Text}, {"advice", queries.Text}, {"device", queries.Int}, {"device_count", queries.Int}, {"command", queries.Text}} {
		f.Columns = append(f.Columns, queries.Column{Name: c.name, Type: c.is, Unit: queries.UnitOf(c.name)})
	}
	return f
}

func idle(more ...any) []any {
	row := []any{int64(1), "launch-bound", "decode", int64(631_584_123), 0.5287, "at most", "GPU idle for want of launches", "the GPU is busy 9.9 % of 1.19 s; 15680 kernels a pass are launched one by one", nil,
		"replay the work as a CUDA graph, or launch fewer and larger kernels", int64(0), int64(1), "prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0"}
	for i := 0; i < len(more); i += 2 {
		row[more[i].(int)] = more[i+1]
	}
	return row
}

func TestFindings(t *testing.T) {
	f := findings(idle(), idle(0, int64(12), 2, nil, 3, int64(800), 4, 1.0, 8, "k<1>\x1b[2J", 11, int64(8)))
	f.Notes = []string{"savings overlap and do not add up: taking one away changes the others"}
	for limit, want := range map[int]string{60: ` 1  decode: at most 632 ms, 52.9 % of the span
    GPU idle for want of launches (launch-bound)
    the GPU is busy 9.9 % of 1.19 s; 15680 kernels a pass
    are launched one by one
    try: replay the work as a CUDA graph, or launch fewer
         and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

12  all device work: at most 800 ns, 100.0 % of the span on
    GPU 0, where it is most of 8
    GPU idle for want of launches (launch-bound)
    k<1>\x1b[2J
    the GPU is busy 9.9 % of 1.19 s; 15680 kernels a pass
    are launched one by one
    try: replay the work as a CUDA graph, or launch fewer
         and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

note: savings overlap and do not add up: taking one away
      changes the others
`, 0: ` 1  decode: at most 632 ms, 52.9 % of the span
    GPU idle for want of launches (launch-bound)
    the GPU is busy 9.9 % of 1.19 s; 15680 kernels a pass are launched one by one
    try: replay the work as a CUDA graph, or launch fewer and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

12  all device work: at most 800 ns, 100.0 % of the span on GPU 0, where it is most of 8
    GPU idle for want of launches (launch-bound)
    k<1>\x1b[2J
    the GPU is busy 9.9 % of 1.19 s; 15680 kernels a pass are launched one by one
    try: replay the work as a CUDA graph, or launch fewer and larger kernels
    see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

note: savings overlap and do not add up: taking one away changes the others
`} {
		if got := written(t, f, Options{Width: limit}); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", limit, got, want)
		}
	}
	if got := written(t, f, Options{Color: true}); !strings.HasPrefix(got, bold+" 1  decode: at most 632 ms, 52.9 % of the span\x1b[0m\n") {
		t.Errorf("in colour: %q", got)
	}
	if got := written(t, findings(), Options{}); got != "no rule finds time that could be saved\n" {
		t.Errorf("without findings: %q", got)
	}
}

// TestFindingsOfOtherFrames holds that a frame without the columns is refused.
func TestFindingsOfOtherFrames(t *testing.T) {
	f := findings(idle())
	short := &queries.Frame{Query: "other", Columns: slices.Clone(f.Columns[:3]), Rows: [][]any{f.Rows[0][:3]}}
	torn := findings(idle()[:4])
	for want, f := range map[string]*queries.Frame{"render other: it has no column saving_ns": short, "render findings: row 1 has 4 values for 13 columns": torn} {
		if err := Findings(&bytes.Buffer{}, f, Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func written(t *testing.T, f *queries.Frame, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Findings(&out, f, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
