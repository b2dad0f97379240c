package findings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/schema/facts/sql/findings"
)

// TestRules holds that each rule is of one name, complete, and found by SQL beside it.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var sql strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sql.Write(text)
	}
	seen := map[string]bool{}
	for _, r := range findings.Rules {
		if seen[r.ID] {
			t.Errorf("two rules are called %s", r.ID)
		}
		seen[r.ID] = true
		for what, text := range map[string]string{"ID": r.ID, "Title": r.Title, "Saving": r.Saving, "Advice": r.Advice, "Query": r.Query, "Needs": r.Needs, "Reference": r.Reference} {
			if text == "" {
				t.Errorf("%s has no %s", r.ID, what)
			}
		}
		if r.Bound != findings.AtMost && r.Bound != findings.About {
			t.Errorf("%s is %q its saving", r.ID, r.Bound)
		}
		if r.Value != 0 && r.Unit == "" {
			t.Errorf("%s has the threshold %g without a unit", r.ID, r.Value)
		}
		if !strings.Contains(sql.String(), "'"+r.ID+"'") {
			t.Errorf("no SQL here finds %s", r.ID)
		}
	}
}

// TestUnknown holds that words leave out what is not known: it is not 0.
func TestUnknown(t *testing.T) {
	for _, c := range [][3]string{
		{"graph-gaps", `{"busy_ratio":0.5,"launch_ns":1e6,"launch_delay_ns":0,"launch_latency_ns":0,"max_ns":1,"median_ns":1,"pass_count":1,"single_count":0,"single_ns":0,"replay_count":2,"graph_ratio":null}`,
			"GPU busy 50.0 % of the time; idle 1.00 ms inside launching calls; 2 graph replays"},
		{"call", `{"max_ns":1,"median_ns":1,"pass_count":1,"call_count":null,"calls_ns":null,"is_load":null}`, "GPU idle 5.00 ms during CUDA calls that neither launch nor wait"},
		{"collective-wait", `{"collective_count":4,"collectives_ns":2e7,"exposed_ns":1e7,"wait_ns":5e6,"max_ns":1,"median_ns":1,"pass_count":1,"rank_count":8,"shared_count":null,"shared_ns":null,"streams":null,"late":[
			{"device":3,"wait_ns":2e6,"longest_ns":1e6,"cause":"call","cause_ns":9e5,"call":"cudaMalloc","call_ns":8e5},{"device":1,"wait_ns":1e6,"longest_ns":1e6,"cause":null,"cause_ns":null,"call":null,"call_ns":null},
			{"device":2,"wait_ns":9e5,"longest_ns":1e5,"cause":null,"cause_ns":null,"call":null,"call_ns":null},{"device":5,"wait_ns":1e5,"longest_ns":1e5,"cause":null,"cause_ns":null,"call":null,"call_ns":null}]}`,
			"collectives take 20.00 ms in 4 calls, 10.00 ms of it not overlapped (50.0 %); waiting for later GPUs takes 5.00 ms of that (2.00 ms for GPU 3, 1.00 ms for GPU 1, 900.00 us for GPU 2 and the rest for 1 other); in the longest wait (1.00 ms) GPU 3 has 900.00 us idle in other CUDA calls (cudaMalloc takes 800.00 us)"},
		{"collective-wait", `{"collective_count":4,"collectives_ns":2e7,"exposed_ns":1e7,"wait_ns":5e6,"max_ns":1,"median_ns":1,"pass_count":1,"rank_count":2,"shared_count":null,"shared_ns":null,"streams":null,"late":[
			{"device":1,"wait_ns":5e6,"longest_ns":1e6,"cause":null,"cause_ns":null,"call":null,"call_ns":null}]}`,
			"collectives take 20.00 ms in 4 calls, 10.00 ms of it not overlapped (50.0 %); waiting for later GPUs takes 5.00 ms of that"},
		{"below-roof", `{"call_count":2,"calls_ns":2e6,"grid":"8","block":"128","roof_ratio":0.5,"occupancy_ratio":null,"bound":"unknown","limiter":null,"hidden_ns":0}`,
			"2 executions take 2.00 ms in total; the grid with the most time (8, blocks of 128) reaches 50.0 % of its roof"},
		{"low-occupancy", `{"call_count":2,"calls_ns":2e6,"grid":"8","block":"128","roof_ratio":null,"occupancy_ratio":0.25,"bound":"latency","limiter":"occupancy","hidden_ns":0}`,
			"2 executions take 2.00 ms in total; the grid with the most time (8, blocks of 128) reaches 25.0 % occupancy"},
		{"pageable-copies", `{"copy_count":3,"copied_bytes":null,"copies_ns":1e6,"alone_ns":1e6,"call_ns":2e6,"max_ns":1,"median_ns":1,"pass_count":1}`,
			"3 copies from pageable memory take 1.00 ms on the GPU and 2.00 ms in their calls"},
		{"exposed-copies", `{"copy_count":3,"pinned_count":0,"copied_bytes":null,"copies_ns":1e6,"all_ns":1e6,"shared_count":null,"shared_ns":null,"streams":null}`, "mostly memset: 3 calls, 1.00 ms"},
	} {
		n, err := findings.ReadFigures(c[0], c[1])
		if err != nil {
			t.Error(err)
			continue
		}
		subject := ""
		if c[0] == "exposed-copies" {
			subject = "memset"
		}
		if got := n.Words(findings.Found{Subject: subject, SavingNs: 5e6, Passes: 1}); got != c[2] {
			t.Errorf("%s: %q", c[0], got)
		}
	}
}

// TestMedianPass holds that what a pass would be shorter by is said once: of launches the critical path says it, where it is known.
func TestMedianPass(t *testing.T) {
	figures, err := findings.ReadFigures("launch-bound", `{"busy_ratio":0.5,"launch_ns":5e6,"launch_delay_ns":0,"launch_latency_ns":0,"max_ns":2e6,"median_ns":1e6,"pass_count":4,"single_count":0,"single_ns":0,"replay_count":0,"graph_ratio":0}`)
	if err != nil {
		t.Fatal(err)
	}
	for isByPath, want := range map[bool]string{
		false: "; up to 2.00 ms per pass over 4 passes; without it the median pass is 1.00 ms shorter",
		true:  "; up to 2.00 ms per pass over 4 passes; 1.00 ms in the median pass",
	} {
		if got := figures.Words(findings.Found{Stage: "decode", SavingNs: 5e6, Passes: 4, IsByPath: isByPath}); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want it to end in %q", got, want)
		}
	}
}

// TestFigures holds that figures are exactly those of their rule.
func TestFigures(t *testing.T) {
	for _, r := range findings.Rules {
		whole, err := json.Marshal(r.Figures)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := findings.ReadFigures(r.ID, string(whole)); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
		if _, err := findings.ReadFigures(r.ID, `{"wrong":1}`); err == nil {
			t.Errorf("%s takes figures of no rule", r.ID)
		}
	}
	if _, err := findings.ReadFigures("none", "{}"); err == nil {
		t.Error("a rule that is not there has figures")
	}
}
