package queries_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// replayedOf is the time of the kernels of graph replays, by what their names hold.
const replayedOf = `SELECT sum(duration_ns)::BIGINT FROM kernels WHERE run = 'graph-node' AND graph_node_id IS NOT NULL AND kernel ILIKE '%%%s%%'`

// TestReplaysByOperator holds, on a program captured in three ways, that each piece of device work counts once, and with the operator
// that captured it where the capture says so. Which that is follows from the names of the kernels, which the attribution does not use.
func TestReplaysByOperator(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)                                   // torch-graph was captured before the trace began
	inside := filepath.Join(t.TempDir(), "inside.sqlite") // the same, but that each decode step reads as an operator
	text := regexp.MustCompile(`decode_step\[(\d)\]`).ReplaceAll(unpacked(t, "../testdata/graph/node.sqlite.gz"), []byte("xx, op_id = 9$1"))
	if err := os.WriteFile(inside, text, 0o600); err != nil {
		t.Fatal(err)
	}
	moving := testkit.Warehouse(t, testkit.Run{Name: "inside", Files: []string{inside}, Facts: replayFacts})
	of := func(run string) *schema.Warehouse {
		if run == "inside" {
			return moving
		}
		return w
	}
	at := func(args queries.Args) map[string]int64 {
		out := map[string]int64{}
		args["top"] = "0"
		f := testkit.Query(t, of(args["run"]), "top-operators", args)
		shares := 0.0
		for _, r := range f.Rows {
			share, _ := r[f.Index("share_ratio")].(float64)
			shares += share
			name := r[f.Index("operator")].(string)
			out[name+" calls"] += number(f, r, "calls")
			out[name+" replay"] += number(f, r, "replay_ns")
			out[name+" total"] += number(f, r, "total_device_ns")
			out[name] += number(f, r, "self_device_ns")
			out["all"] += number(f, r, "self_device_ns")
		}
		if args["operator"] == "" && math.Abs(shares-1) > 1e-9 {
			t.Errorf("%v: the shares add up to %v", args, shares)
		}
		return out
	}
	for _, run := range []string{"graph-node", "inside", "graph-whole", "graph-trace"} {
		device := one(t, of(run), fmt.Sprintf(`SELECT (SELECT sum(duration_ns) FROM kernels WHERE run = '%[1]s')::BIGINT + coalesce((SELECT sum(duration_ns) FROM memops WHERE run = '%[1]s'), 0)::BIGINT
			+ coalesce((SELECT sum(duration_ns) FROM graph_launch WHERE mode = 'graph' AND run_id = _run_id('%[1]s')), 0)::BIGINT`, run))
		for _, by := range []string{"name", "name+shape"} {
			if got := at(queries.Args{"run": run, "by": by})["all"]; got != device {
				t.Errorf("%s by %s: operators and the rest have %d ns, the device %d", run, by, got, device)
			}
		}
		for _, by := range []string{"self", "outermost"} {
			if got := total(testkit.Query(t, of(run), "operator-kernels", queries.Args{"run": run, "by": by}), "total_ns"); got != device {
				t.Errorf("%s: operator-kernels by %s have %d ns, the device %d", run, by, got, device)
			}
		}
	}

	for _, stage := range []string{"", "decode"} { // all replays are in decode, and no other call of these four is
		args := queries.Args{"run": "graph-node"}
		if stage != "" {
			args["stage"] = stage
		}
		got := at(args)
		for operator, kernel := range map[string]string{"aten::addmm": "nvjet", "aten::gelu": "gelu", "aten::native_layer_norm": "layer_norm", "aten::add": "CUDAFunctor_add"} {
			want := one(t, w, fmt.Sprintf(replayedOf, kernel))
			if want == 0 || got[operator+" replay"] != want || stage == "decode" && (got[operator] != want || got[operator+" calls"] != 0) {
				t.Errorf("%s in %q: %d ns, of replays %d, in %d calls; want %d", operator, stage, got[operator], got[operator+" replay"], got[operator+" calls"], want)
			}
		}
		if got["(graph replay)"] != 0 || got["aten::linear total"] != got["aten::addmm"] {
			t.Errorf("in %q: %d ns of replays are of no operator, linear has %d, addmm %d", stage, got["(graph replay)"], got["aten::linear total"], got["aten::addmm"])
		}
	}
	kernels := testkit.Query(t, w, "operator-kernels", queries.Args{"run": "graph-node", "operator": "aten::linear", "stage": "decode"})
	if got, want := total(kernels, "total_ns"), one(t, w, fmt.Sprintf(replayedOf, "nvjet")); got != want {
		t.Errorf("the kernels of aten::linear in decode have %d ns, not %d", got, want)
	}
	tree := byKey(testkit.Query(t, w, "operator-tree", queries.Args{"run": "graph-node", "stage": "decode", "min_ratio": "0"}), "operator")
	if tree["aten::linear"] == nil || tree["  aten::addmm"] == nil {
		t.Errorf("the tree of decode is %v", tree)
	}
	if f := testkit.Query(t, w, "operator-shapes", queries.Args{"run": "graph-node", "operator": "aten::addmm", "top": "0"}); total(f, "self_device_ns") != at(queries.Args{"run": "graph-node"})["aten::addmm"] {
		t.Errorf("by shapes aten::addmm has %d ns", total(f, "self_device_ns"))
	} else {
		for _, r := range f.Rows {
			if mean, _ := r[f.Index("mean_ns")].(float64); mean < float64(number(f, r, "min_ns")) || mean > float64(number(f, r, "max_ns")) {
				t.Errorf("replays are in the mean of a call: %v", r)
			}
		}
	}

	// What launches a replay does not have the work that others captured, neither itself nor in its tree.
	node, moved := at(queries.Args{"run": "graph-node"}), at(queries.Args{"run": "inside"})
	eager := node["aten::copy_"] + node["aten::mul"]
	if moved["xx"] != 0 || moved["xx total"] != eager || eager == 0 || moved["xx calls"] != 16 || moved["aten::addmm"] != node["aten::addmm"] {
		t.Errorf("an operator that launches replays has %d of %d ns in %d calls, not 0 of %d in 16; aten::addmm has %d", moved["xx"], moved["xx total"], moved["xx calls"], eager, moved["aten::addmm"])
	}
	if r := byKey(testkit.Query(t, moving, "operator-tree", queries.Args{"run": "inside", "min_ratio": "0"}), "operator")["xx"]; r == nil || r[4] != eager || r[5] != int64(0) {
		t.Errorf("in the tree it has %v", r)
	}
	if got, want := at(queries.Args{"run": "graph-whole"})["(graph replay)"], one(t, w, "SELECT sum(duration_ns)::BIGINT FROM graph_launch WHERE run_id = _run_id('graph-whole')"); got != want || want == 0 {
		t.Errorf("replays traced as a whole have %d ns, not %d", got, want)
	}
	want := one(t, w, "SELECT sum(duration_ns)::BIGINT FROM kernels WHERE run = 'torch-graph' AND launch_api = 'cudaGraphLaunch'")
	f := testkit.Query(t, w, "top-operators", queries.Args{"run": "torch-graph"})
	if got := at(queries.Args{"run": "torch-graph"})["(graph replay)"]; got != want || want == 0 {
		t.Errorf("of a trace that does not say what captured a graph, replays have %d ns, not %d", got, want)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "is graph replays, and the capture does not say") {
		t.Errorf("the notes are %q", f.Notes)
	}
	if part := at(queries.Args{"run": "graph-trace", "operator": "aten::addmm"}); part["aten::addmm"] == 0 || part["all"] != part["aten::addmm"] {
		t.Errorf("a glob picks %v", part)
	}
}
