package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestColdPasses holds which passes are cold: the first ones that take longer than the later half, for a reason that only first passes have.
func TestColdPasses(t *testing.T) {
	t.Parallel()
	type pass struct{ span, kernels, loads, loadNs int64 } // us, us, calls, us
	steady := pass{1000, 800, 0, 0}
	cases := []struct {
		name    string
		passes  []pass
		facts   *facts
		twoProc bool
		want    string // passes that are cold
	}{
		{"loading explains it", []pass{{1200, 800, 3, 150}, steady, steady}, nil, false, "1"},
		{"of two passes", []pass{{3000, 800, 30, 1500}, steady}, nil, false, "1"},
		{"alone", []pass{{3000, 800, 30, 1500}}, nil, false, ""},
		{"loading explains too little", []pass{{1400, 800, 3, 150}, steady, steady}, nil, false, ""},
		{"many loads, and half as long", []pass{{1600, 800, 30, 20}, steady, steady}, nil, false, "1"},
		{"as many loads that take longer", []pass{{4000, 800, 400, 1200}, {1000, 800, 400, 10}, {1000, 800, 400, 10}}, nil, false, "1"},
		{"loads in every pass", []pass{{1600, 800, 30, 20}, {1000, 800, 30, 20}, {1000, 800, 30, 20}}, nil, false, ""},
		{"a longer prompt that allocates", []pass{{5000, 4800, 30, 20}, steady, steady}, nil, false, ""},
		{"a longer prompt whose launches wait", []pass{{5000, 4800, 30, 3000}, steady, steady}, nil, false, ""},
		{"twice as long, without calls", []pass{{2100, 800, 0, 0}, steady, steady, steady}, nil, false, "1"},
		{"twice as long, but two later", []pass{{2100, 800, 0, 0}, steady, steady}, nil, false, ""},
		{"two of them", []pass{{5000, 800, 9, 900}, {1300, 800, 3, 200}, steady, steady}, nil, false, "1 2"},
		{"not behind a steady one", []pass{steady, {5000, 800, 30, 3000}, steady, steady, steady}, nil, false, ""},
		{"within a tenth", []pass{{1090, 800, 30, 90}, steady, steady}, nil, false, ""},
		{"the workload counts every pass", []pass{{3000, 800, 30, 1500}, steady, steady}, &facts{passes: "*9/9", warmups: "0"}, false, ""},
		{"the workload says tokens alone", []pass{{3000, 800, 30, 1500}, steady, steady}, &facts{passes: "*9/9"}, false, "1"},
		{"the workload calls one warm-up", []pass{steady, {3000, 800, 30, 1500}, steady, steady}, &facts{passes: "w9/9 9/9 9/9 9/9"}, false, ""},
		{"the workload lists fewer passes", []pass{{3000, 800, 30, 1500}, steady, steady}, &facts{passes: "9/9 9/9"}, false, ""},
		{"the workload lists the passes", []pass{{3000, 800, 30, 1500}, steady, steady}, &facts{passes: "9/9 9/9 9/9"}, false, "1"},
		{"one rank is cold, the other waits", []pass{{3000, 800, 30, 1500}, steady, steady, {3000, 2800, 0, 0}, steady, steady}, nil, true, "1 4"},
	}
	var drawings []drawing
	for n, c := range cases {
		processes := []string{strings.Repeat("P", len(c.passes))}
		if c.twoProc {
			half := len(c.passes) / 2
			processes = []string{strings.Repeat("P", half), strings.Repeat("P", half)}
		}
		base := 1000 * (n + 1)
		d := drawing{processes: processes, more: []string{"INSERT INTO api_name SELECT $run, 1, 'cuLibraryLoadData'"}}
		for i, p := range c.passes {
			d.more = append(d.more, fmt.Sprintf("UPDATE range_device SET last_end_ns = first_start_ns + %d, kernel_sum_ns = %d WHERE run_id = $run AND range_id = %d", 1000*p.span, 1000*p.kernels, base+i+1),
				fmt.Sprintf("INSERT INTO range_context SELECT $run, %[1]d, %[1]d, %[2]d, true", base+i+1, base+1))
			if p.loads > 0 {
				d.more = append(d.more, fmt.Sprintf("INSERT INTO api_call SELECT $run, 1, 1, 1, i, %d, 1, NULL, 0, %d FROM range(%d) r(i)", 1000*p.loadNs/p.loads, base+i+1, p.loads))
			}
		}
		if c.facts != nil {
			d.facts = []facts{*c.facts}
		}
		drawings = append(drawings, d)
	}
	w, names := drawAll(t, []string{"stage_pass"}, drawings...)
	cold := map[string][]string{}
	for _, r := range rowsOf(t, w, "SELECT r.name, p.range_id %% 1000 FROM stage_pass p JOIN run r USING (run_id) WHERE p.is_cold ORDER BY p.range_id") {
		cold[r[0].(string)] = append(cold[r[0].(string)], fmt.Sprint(r[1]))
	}
	for n, c := range cases {
		if got := strings.Join(cold[names[n]], " "); got != c.want {
			t.Errorf("%s: cold are the passes %q, want %q", c.name, got, c.want)
		}
	}
}

// TestColdCapture holds what is found in a capture of two ranks: the first pass of each stage, what it spent, and that means are without it.
func TestColdCapture(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	f := testkit.Query(t, w, "stages", queries.Args{"run": "nccl2"})
	for _, r := range f.Rows {
		if r[f.Index("passes")] != int64(5) || r[f.Index("warmup_passes")] != int64(1) {
			t.Errorf("%v", r)
		}
	}
	want := "the first prefill pass is cold and excluded: it takes 179 ms, 230 times the median pass of 778 us (loading code 42.0 ms, slow first launches 16.8 ms, allocating memory 28.7 ms); prof ingest --warmup 0 counts every pass"
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, want) || strings.Contains(notes, "warm-up pass") {
		t.Errorf("the notes are\n%s\nwithout\n%s", notes, want)
	}
	if got := rows(t, w, "SELECT pass, is_warmup FROM passes('nccl2') WHERE is_cold ORDER BY ALL"); fmt.Sprint(got) != "[[1 true] [1 true] [1 true] [1 true]]" {
		t.Errorf("cold are %v", got)
	}
	c := testkit.Query(t, w, "cold-passes", queries.Args{"run": "nccl2"})
	for _, r := range c.Rows {
		took, steady, loads := number(c, r, "time_ns"), r[c.Index("steady_ns")].(float64), number(c, r, "load_ns")
		if r[c.Index("excess_ns")] != float64(took)-steady || loads <= 0 || loads > took || number(c, r, "launch_ns") <= 0 {
			t.Errorf("%v", r)
		}
	}
	if len(c.Rows) != 4 {
		t.Errorf("%d cold passes", len(c.Rows))
	}
}

// TestWarmNotes holds that a query which counts warm-up and cold passes says so once, of the stage that it is asked for, and that one which excludes
// them does not; and what top-kernels says where results of Nsight Compute are asked for.
func TestWarmNotes(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	const all, one = "4 warm-up or cold passes included: 2 of decode, 2 of prefill; see prof query passes", "2 warm-up or cold passes of decode included; see prof query passes"
	for _, c := range []struct{ query, stage, want string }{
		{"launches", "", all}, {"launches", "decode", one}, {"launches", "(none)", ""}, {"gaps", "decode", ""}, {"top-kernels", "decode", ""}, {"kernel-grids", "", ""},
		{"ranges", "", all}, {"collectives", "decode", ""}, {"stages", "", ""}, {"accounting", "decode", ""}, {"late-ranks", "", ""},
	} {
		args := queries.Args{"run": "nccl2"}
		if c.stage != "" {
			args["stage"] = c.stage
		}
		var got []string
		for _, note := range testkit.Query(t, w, c.query, args).Notes {
			if strings.Contains(note, "included") {
				got = append(got, note)
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s of stage %q notes %q, want %q", c.query, c.stage, got, c.want)
		}
	}
	for with, want := range map[string]bool{"true": true, "false": false} {
		notes := strings.Join(testkit.Query(t, w, "top-kernels", queries.Args{"run": "nccl2", "with_ncu": with}).Notes, "\n")
		if got := strings.Contains(notes, "the run has no kernels profiled by Nsight Compute"); got != want {
			t.Errorf("--with-ncu=%s: %s", with, notes)
		}
	}
}
