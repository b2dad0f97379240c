package metrics

import (
	"math"
	"strings"
	"testing"
	"time"

	"prof/queries/frame"
)

// answer is a frame with the columns that the metrics of a query need, and rows of some of them.
func answer(query string, rows ...map[string]any) *frame.Frame {
	f := &frame.Frame{Query: query, Columns: []frame.Column{{Name: "stage", Type: frame.Text}}}
	put := func(name string) {
		if f.Index(name) < 0 {
			f.Columns = append(f.Columns, frame.Column{Name: name, Type: frame.Float, Unit: frame.UnitOf(name), Doc: "it \"is\"; NULL when not"})
		}
	}
	for _, x := range figures {
		if x.query == query {
			put(x.column)
			for _, l := range x.labels {
				put(l[1])
			}
			if x.unless != "" {
				put(x.unless)
			}
		}
	}
	for _, r := range rows {
		row := make([]any, len(f.Columns))
		for name, v := range r {
			row[f.Index(name)] = v
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// TestRead: what is unknown, infinite or cannot be right is no point, and labels hold any text.
func TestRead(t *testing.T) {
	answers := []*frame.Frame{
		answer("stages", map[string]any{"stage": "a\n\"b\"\\\xff", "cpu_mean_ns": 1.0, "gpu_span_mean_ns": nil, "busy_ratio": math.Inf(1), "gpu_span_std_ns": math.NaN()}),
		answer("mfu", map[string]any{"stage": "decode", "mfu_ratio": 1.5, "mbu_ratio": 0.5, "fault": "mfu-over-1"}, map[string]any{"stage": "prefill", "mfu_ratio": 0.5, "is_least": true}),
		answer("overhead"), answer("memory-peaks", // of two processes on a GPU, and of another GPU
			map[string]any{"stage": "decode", "basis": "x", "device": int64(0), "peak_bytes": 2.0}, map[string]any{"stage": "decode", "basis": "x", "device": int64(0), "peak_bytes": 7.0},
			map[string]any{"stage": "decode", "basis": "x", "device": int64(0), "peak_bytes": 3.0}, map[string]any{"stage": "decode", "basis": "x", "device": int64(1), "peak_bytes": 1.0}),
	}
	run := Run{Name: "r", Tags: []string{"a-b=1", "a.b=2=3", "c="}, At: time.Unix(10, 500e6)}
	list, err := Read(answers, run)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := writeOpenMetrics(&out, list, run); err != nil {
		t.Fatal(err)
	}
	const want = `# TYPE prof_stage_cpu_mean_seconds gauge
# UNIT prof_stage_cpu_mean_seconds seconds
# HELP prof_stage_cpu_mean_seconds it \"is\"
prof_stage_cpu_mean_seconds{run="r",tag_a_b="1",tag_a_b__2="2=3",stage="a\n\"b\"\\` + "\uFFFD" + `"} 1e-09 10.5
# TYPE prof_stage_mfu_ratio gauge
# UNIT prof_stage_mfu_ratio ratio
# HELP prof_stage_mfu_ratio it \"is\"
prof_stage_mfu_ratio{run="r",tag_a_b="1",tag_a_b__2="2=3",stage="prefill",lower_bound="true"} 0.5 10.5
# TYPE prof_stage_memory_peak_bytes gauge
# UNIT prof_stage_memory_peak_bytes bytes
# HELP prof_stage_memory_peak_bytes it \"is\"; the largest of any process and recording
prof_stage_memory_peak_bytes{run="r",tag_a_b="1",tag_a_b__2="2=3",stage="decode",basis="x",device="0"} 7 10.5
prof_stage_memory_peak_bytes{run="r",tag_a_b="1",tag_a_b__2="2=3",stage="decode",basis="x",device="1"} 1 10.5
# EOF
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if _, err := Read(answers[1:], run); err == nil {
		t.Error("no error without the answer of stages")
	}
}
