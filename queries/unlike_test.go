package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestUnlikePasses holds which passes do other work than the others of their stage: few, by far, and not where work varies by itself.
func TestUnlikePasses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		kernels []string // by process and pass; with g: graph replays
		facts   *facts
		want    string // passes that are set apart
	}{
		{"an eighth of the steps", []string{"100 800 800 800"}, nil, "1"},
		{"in the middle, and more", []string{"800 800 1700 800 790"}, nil, "3"},
		{"two of eight", []string{"100 100 800 800 800 800 800 800"}, nil, "1 2"},
		{"two of seven", []string{"100 100 800 800 800 800 800"}, nil, ""},
		{"two alike are no rule", []string{"100 800 800"}, nil, ""},
		{"not by far", []string{"450 800 800 800"}, nil, ""},
		{"variety", []string{"121 82 121 82 121 40"}, nil, ""},
		{"all of several lengths", []string{"100 200 400 800 1600 3200"}, nil, ""},
		{"without records", []string{"0 800 800 800"}, nil, ""},
		{"replays traced as a whole", []string{"4g 32g 32g 32g"}, nil, "1"},
		{"one eager pass among replays", []string{"800 1g 1g 1g"}, nil, ""},
		{"both ranks warm up", []string{"100 800 800 800", "100 800 800 800"}, nil, "1 5"},
		{"one rank has more to do", []string{"800 800 800 800", "800 800 7000 800"}, nil, ""},
		{"the workload counts every pass", []string{"100 800 800 800"}, &facts{passes: "*9/9", warmups: "0"}, ""},
		{"the workload says one size", []string{"100 800 800 800"}, &facts{passes: "*9/9"}, "1"},
		{"the workload says two sizes", []string{"100 800 800 800"}, &facts{passes: "9/1 9/9 9/9 9/9"}, ""},
	}
	var drawings []drawing
	for n, c := range cases {
		base := 1000 * (n + 1)
		d, id := drawing{}, base
		for _, kernels := range c.kernels {
			list := strings.Fields(kernels)
			d.processes = append(d.processes, strings.Repeat("P", len(list)))
			for _, count := range list {
				id++
				column := "kernel_count"
				if whole, isGraph := strings.CutSuffix(count, "g"); isGraph {
					column, count = "graph_count", whole
				}
				d.more = append(d.more, fmt.Sprintf("UPDATE range_device SET %s = %s WHERE run_id = $run AND range_id = %d", column, count, id))
			}
		}
		if c.facts != nil {
			d.facts = []facts{*c.facts}
		}
		drawings = append(drawings, d)
	}
	w, names := drawAll(t, []string{"stage_pass"}, drawings...)
	unlike := map[string][]string{}
	for _, r := range rowsOf(t, w, "SELECT r.name, p.range_id %% 1000 FROM stage_pass p JOIN run r USING (run_id) WHERE p.is_unlike AND p.is_warmup ORDER BY p.range_id") {
		unlike[r[0].(string)] = append(unlike[r[0].(string)], fmt.Sprint(r[1]))
	}
	for n, c := range cases {
		if got := strings.Join(unlike[names[n]], " "); got != c.want {
			t.Errorf("%s: set apart are the passes %q, want %q", c.name, got, c.want)
		}
	}
}

// TestUnlikeCaptures holds that the warm-up of a real capture, which decodes 4 of 32 tokens, is the only pass of all captures that is set apart.
func TestUnlikeCaptures(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	got := rows(t, w, "SELECT r.name, p.stage, p.pass_id, p.kernel_count, p.is_warmup FROM stage_pass p JOIN run r USING (run_id) WHERE p.is_unlike ORDER BY ALL")
	if fmt.Sprint(got) != "[[llama-graph-node decode 1 3308 true]]" {
		t.Errorf("set apart are %v", got)
	}
	f := testkit.Query(t, w, "stages", queries.Args{"run": "llama-graph-node"})
	for _, r := range f.Rows {
		if std := r[f.Index("gpu_span_std_ns")].(float64); r[f.Index("passes")] != int64(3) || std > 0.02*r[f.Index("gpu_span_mean_ns")].(float64) {
			t.Errorf("%v", r)
		}
	}
	const want = "1 decode pass does other work and is excluded: it has 8 times fewer kernels than the others (26464); see prof query passes; prof ingest --warmup 0 counts every pass"
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, want) {
		t.Errorf("the notes are\n%s\nwithout\n%s", notes, want)
	}
}

// TestUnseenWork holds that a pass whose first work waited for work from before the capture begins behind it: SGLang's step of 32 sequences takes 10.5 ms,
// not the 474 ms that one hipMemcpyWithStream waited. No other capture begins so.
func TestUnseenWork(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	if got := rows(t, w, "SELECT r.name, u.device_id, u.start_ns, u.duration_ns, s.stage FROM unseen_work u JOIN run r USING (run_id) LEFT JOIN pass_context s ON s.run_id = u.run_id AND s.range_context_id = u.range_context_id"); fmt.Sprint(got) != "[[sglang-decode 9 84835 463295405 decode]]" {
		t.Errorf("unseen is %v", got)
	}
	f := testkit.Query(t, w, "stages", queries.Args{"run": "sglang-decode"})
	r := f.Rows[0]
	if span, rate := r[f.Index("gpu_span_mean_ns")], r[f.Index("gpu_span_tokens_per_s")].(float64); span != 10450292.0 || int(rate) != 3062 {
		t.Errorf("a pass takes %v ns, %v tokens/s", span, rate)
	}
	const want = "the capture begins while the GPU does work from before it, for 463 ms (hipMemcpyWithStream waits for it): the time of decode begins behind it"
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, want) {
		t.Errorf("the notes are\n%s\nwithout\n%s", notes, want)
	}
	if got := rows(t, w, "SELECT count(*) FROM longest_gaps('sglang-decode') WHERE duration_ns > 1000000"); fmt.Sprint(got) != "[[0]]" {
		t.Errorf("%v long gaps", got)
	}
}
