package diff_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge/diff"
	"prof/schema"
)

// held is a warehouse that does not change, and who asks it: what several comparisons ask is asked once.
type held struct {
	*schema.Warehouse
	asker *queries.Asker
}

// TestWarehouse holds comparisons of real captures.
func TestWarehouse(t *testing.T) {
	t.Parallel()
	w := held{testkit.All(t), queries.NewAsker(testkit.All(t))}
	for name, test := range map[string]func(*testing.T, held){"totals": testTotalsOfTables, "attention": testAttention, "same": testSame, "names": testNames, "sums": testSums, "other dimensions": testOtherDimensions, "windows": testWindows, "wrong options": testWrongOptions, "trees": testTrees} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

func side(t testing.TB, w held, label string) diff.Side {
	t.Helper()
	s := diff.Side{Label: label}
	for name := range strings.SplitSeq(label, ",") {
		run, err := w.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		s.Runs = append(s.Runs, diff.Run(run))
	}
	return s
}

func runs(t testing.TB, w held, a, b string, o diff.Options) *diff.Result {
	t.Helper()
	r, err := diff.Runs(t.Context(), w.asker, side(t, w, a), side(t, w, b), o)
	if err != nil {
		t.Fatalf("%s against %s: %v", a, b, err)
	}
	return r
}

// testTotalsOfTables holds that what both sides of a comparison add up to is the device work of the tables less that of warm-up passes,
// and that items, ledger and stages agree, for captures of several kinds.
func testTotalsOfTables(t *testing.T, w held) {
	for _, pair := range [][2]string{{"eager", "sdpa-1"}, {"nccl2", "eager"}, {"variants-node", "ncu-llama"}, {"windows-before", "windows-after"}} {
		for _, by := range []diff.Dimension{diff.ByKernel, diff.ByFamily, diff.ByGrid} {
			r := runs(t, w, pair[0], pair[1], diff.Options{By: by})
			var a, b int64
			stages := map[string]int64{}
			for _, it := range r.Items {
				if it.Kind != "idle" && it.Kind != "overlap" && it.Kind != "other" {
					a, b = a+it.A.TotalNs, b+it.B.TotalNs
				}
				stages[it.Stage] += it.Delta.Ns
			}
			for i, got := range []int64{a, b} {
				if want := measured(t, w, pair[i]); got != want {
					t.Errorf("%s by %s: items of %s add up to %d ns, its tables to %d", pair, by, pair[i], got, want)
				}
			}
			for _, st := range r.Stages {
				var ledger int64
				for _, it := range st.Ledger {
					ledger += it.Delta.Ns
				}
				if st.Delta != nil && (stages[st.Name] != st.Delta.Ns || ledger != st.Delta.Ns || st.Delta.Ns != st.B.PerUnitNs-st.A.PerUnitNs) {
					t.Errorf("%s by %s: items of %s change by %d, the ledger by %d, the stage by %d", pair, by, st.Name, stages[st.Name], ledger, st.Delta.Ns)
				}
			}
		}
	}
}

// measured returns the sum of the durations of the device work of a run's timeline outside its warm-up passes.
func measured(t testing.TB, w held, run string) int64 {
	t.Helper()
	var all int64
	err := w.DB.QueryRowContext(t.Context(), `WITH r AS (SELECT run_id FROM run WHERE name = ?), d AS (
			SELECT run_id, duration_ns FROM kernel UNION ALL SELECT run_id, duration_ns FROM memop UNION ALL SELECT run_id, duration_ns FROM graph_launch WHERE mode = 'graph')
		SELECT sum(d.duration_ns)::BIGINT FROM d JOIN r ON r.run_id = d.run_id`, run).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.asker.Ask(t.Context(), "passes", queries.Args{"run": run})
	if err != nil {
		t.Fatal(err)
	}
	warmup, sum := f.Index("is_warmup"), f.Index("gpu_sum_ns")
	for _, row := range f.Rows {
		if ns, ok := row[sum].(int64); ok && row[warmup] == true {
			all -= ns
		}
	}
	return all
}

// testAttention holds what is said of a model whose attention was written out: the whole is too noisy to tell, the GPU's work is not.
func testAttention(t *testing.T, w held) {
	r := runs(t, w, "sdpa-1", "eager", diff.Options{Top: 5})
	if len(r.Items) > 3*(5+4) || // at most a rest each of families, idle time and copies, and the overlap
		len(r.Stages) != 3 || r.Stages[0].Level != "repeats" || r.Stages[0].A.Passes != 27 {
		t.Fatalf("%d items, %+v", len(r.Items), r.Stages)
	}
	for _, st := range r.Stages[:2] {
		if !strings.Contains(st.Words, "ts GPU work is certain to take ") || !strings.Contains(st.Words, "kernels per pass instead of") || st.Verdict != diff.CannotTell {
			t.Errorf("%s: %s", st.Verdict, st.Words)
		}
	}
	busy := runs(t, w, "sdpa-1", "eager", diff.Options{Metric: "gpu_busy_ns"})
	if busy.Verdict != diff.Worse || strings.Contains(busy.Words, "idle") || !strings.Contains(busy.Words, "decode") {
		t.Errorf("%s: %s", busy.Verdict, busy.Words)
	}
	if len(busy.Queries) < 6 || !slices.ContainsFunc(busy.Queries, func(s diff.Source) bool { return s.Query == "pass-work.v1" && s.Run == "eager" }) {
		t.Errorf("queries %+v", busy.Queries)
	}
}

// testNames compares a capture by Nsight Systems with one by PyTorch's profiler of the same model, which write names in different ways: a kernel is
// one row all the same. Only in one are other tiles of matrix products, and one of cuDNN's.
func testNames(t *testing.T, w held) {
	r := runs(t, w, "ncu-llama", "torch-llama", diff.Options{})
	both, alone := 0, []string(nil)
	for _, it := range r.Items {
		switch {
		case it.Kind != "kernel" || it.Stage != "prefill" && it.Stage != "decode":
		case it.Status == diff.Both:
			both++
		default:
			alone = append(alone, it.Name)
		}
	}
	if both != 55 || len(alone) != 7 || slices.ContainsFunc(alone, func(name string) bool {
		return !strings.Contains(name, "nvjet_") && !strings.Contains(name, "cudnn::fusion::")
	}) {
		t.Errorf("%d kernels are in both; only in one of them are\n%s", both, strings.Join(alone, "\n"))
	}
	if !slices.ContainsFunc(r.Queries, func(s diff.Source) bool { return s.Query == "kernel-spellings.v1" && s.Run == "torch-llama" }) {
		t.Errorf("queries %+v", r.Queries)
	}
}

// testSame holds that a run does not differ from itself, nor from runs of the same captures.
func testSame(t *testing.T, w held) {
	for _, run := range []string{"nccl2", "variants-node", "sdpa-1"} {
		r := runs(t, w, run, run, diff.Options{})
		if !r.Same || r.Verdict != diff.NoChange {
			t.Errorf("%s: %s: %s", run, r.Verdict, r.Words)
		}
		for _, it := range r.Items {
			if *it.Delta != (diff.Delta{}) || it.Status != diff.Both || it.Verdict != diff.NoChange && it.Verdict != "" {
				t.Errorf("%s: %s is %s %s by %+v", run, it.Name, it.Status, it.Verdict, it.Delta)
			}
		}
	}
}

// testOtherDimensions holds items that are told of whole runs against the queries that tell them.
func testOtherDimensions(t *testing.T, w held) {
	for _, c := range []struct {
		by           diff.Dimension
		a, b         string
		query, total string
		args         queries.Args
	}{
		{diff.ByOperator, "torch-llama", "torch-llama", "top-operators", "self_device_ns", queries.Args{"top": "0"}},
		{diff.ByRange, "sdpa-1", "eager", "ranges", "gpu_span_total_ns", nil},
		{diff.ByMetric, "ncu-llama", "ncu-llama", "kernel-metrics", "", nil},
	} {
		r := runs(t, w, c.a, c.b, diff.Options{By: c.by})
		args := queries.Args{"run": c.a}
		for k, v := range c.args {
			args[k] = v
		}
		f, err := w.asker.Ask(t.Context(), c.query, args)
		if err != nil {
			t.Fatal(err)
		}
		var got, want int64
		for _, it := range r.Items {
			got += it.A.TotalNs
			if it.Delta != nil && it.Delta.Ns != it.B.PerUnitNs-it.A.PerUnitNs || c.a == c.b && (it.Status != diff.Both || it.A.Calls != it.B.Calls) {
				t.Errorf("by %s: %+v %+v", c.by, it, it.Delta)
			}
		}
		at := f.Index(c.total)
		for _, row := range f.Rows {
			if at < 0 {
				break
			}
			if ns, ok := row[at].(int64); ok {
				want += ns
			}
		}
		if got != want || len(r.Items) == 0 {
			t.Errorf("by %s: %d items of %d ns in all, query %s tells %d", c.by, len(r.Items), got, c.query, want)
		}
		if !slices.ContainsFunc(r.Queries, func(s diff.Source) bool { return strings.HasPrefix(s.Query, c.query+".v") }) {
			t.Errorf("by %s: %s is not among the queries", c.by, c.query)
		}
	}
	if r := runs(t, w, "variants-node", "variants-node", diff.Options{By: diff.ByOperator}); len(r.Items) != 0 || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "has nothing to compare by operator") }) {
		t.Errorf("%d operators, notes %q", len(r.Items), r.Notes)
	}
	for _, it := range runs(t, w, "graph-node", "graph-whole", diff.Options{By: diff.ByOperator}).Items {
		if it.Name == "aten::addmm" && (it.A.MeanNs != nil || it.Delta.DurationNs != it.Delta.Ns || it.B.MeanNs == nil) || it.Name == "(graph replay)" && it.Status != diff.New {
			t.Errorf("replays count as the time of calls: %+v %+v", it, it.Delta)
		}
	}
	stages := runs(t, w, "sdpa-1", "eager", diff.Options{By: diff.ByStage})
	for i, it := range stages.Items {
		if st := stages.Stages[i]; it.Name != st.Name || *it.Delta != *st.Delta || it.A.TotalNs != st.A.TimeNs || it.Verdict != st.Verdict {
			t.Errorf("stage %+v is told as %+v", st, it)
		}
	}
}

// testWrongOptions holds what is refused.
func testWrongOptions(t *testing.T, w held) {
	a, none := side(t, w, "variants-node"), diff.Side{Label: "nobody"}
	for want, c := range map[string]struct {
		a diff.Side
		o diff.Options
	}{
		`judged by gpu_span_ns`:               {a, diff.Options{Metric: "span"}},
		`compared by kernel, family`:          {a, diff.Options{By: "colour"}},
		`noise of -1 is not a share`:          {a, diff.Options{AssumeNoise: new(-1.0)}},
		`neither side has a stage "training"`: {a, diff.Options{Stage: "training"}},
		`nobody is not a run`:                 {none, diff.Options{}},
	} {
		if _, err := diff.Runs(t.Context(), w.asker, c.a, a, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// testWindows holds that two captures of 0.3 s without stages are compared by their steps, which take 14 % longer, and not by how long they
// last: 300 and 299 ms.
func testWindows(t *testing.T, w held) {
	r := runs(t, w, "windows-before", "windows-after", diff.Options{})
	if len(r.Stages) != 2 || r.Stages[0].Name != "steps" || r.Stages[1].Name != "(none)" {
		t.Fatalf("%+v", r.Stages)
	}
	st := r.Stages[0]
	c := st.Comparison
	if st.Unit != diff.PerStep || st.Level != "steps" || c.NA != 15 || c.NB != 14 || st.A.Passes != 15 || st.B.Passes != 14 {
		t.Errorf("%d and %d %s for a %s", c.NA, c.NB, st.Level, st.Unit)
	}
	for i, run := range []string{"windows-before", "windows-after"} { // the mean step of a GPU, as step-times has it
		side := []diff.StageSide{st.A, st.B}[i]
		f, err := w.asker.Ask(t.Context(), "step-times", queries.Args{"run": run})
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, row := range f.Rows {
			if mean += row[f.Index("mean_ns")].(float64) / 2; row[f.Index("timed_count")] != side.Passes {
				t.Errorf("%s: %v steps of a GPU are timed, %d compared", run, row[f.Index("timed_count")], side.Passes)
			}
		}
		if got := float64(side.PerUnitNs) / 2; math.Abs(got-mean) > 1 || math.Abs(got-[]float64{17.47e6, 19.98e6}[i]) > 1e4 {
			t.Errorf("%s: the mean step of a GPU takes %.0f ns, want %.0f", run, got, mean)
		}
	}
	if c.Effect == nil || *c.Effect < 0.1 || st.Verdict == diff.NoChange || st.Verdict == diff.Better {
		t.Errorf("%s: %+v", st.Verdict, c)
	}
	if words := strings.Join(r.Notes, " "); !strings.Contains(words, "not whole captures") || !strings.Contains(st.Words, "per step") {
		t.Errorf("%s: %s", words, st.Words)
	}
	if one := runs(t, w, "windows-before", "windows-after", diff.Options{Stage: "steps"}); len(one.Stages) != 1 || one.Stages[0].Comparison.B != c.B || one.Stages[0].Comparison.NA != c.NA {
		t.Errorf("the stage steps alone: %+v", one.Stages)
	}
	s, err := diff.Sample(t.Context(), w.asker, side(t, w, "windows-before"), side(t, w, "windows-after"), diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := s.Metric("steps", "gpu_span_ns"); len(f.A) != 15 || len(f.B) != 14 || f.Unit != diff.PerStep || f.Level != "steps" || f.NoMeasure != "" {
		t.Errorf("%+v", f)
	}
}

// testSums holds a comparison with sums of nsys stats to what such sums can say: kernels by name, and neither stages nor noise.
func testSums(t *testing.T, w held) {
	for _, pair := range [][2]string{{"kernels-stats", "kernels"}, {"kernels", "kernels-stats"}} {
		for _, by := range []diff.Dimension{diff.ByKernel, diff.ByGrid} {
			r := runs(t, w, pair[0], pair[1], diff.Options{By: by})
			if len(r.Stages) != 1 || r.Stages[0].Name != "" || r.Options.Metric != "gpu_sum_ns" || len(r.Stages[0].More) > 0 {
				t.Fatalf("%v: %+v", pair, r.Stages)
			}
			kernels := 0
			for _, it := range r.Items {
				if it.Kind != "kernel" && it.Kind != "grid" && it.Kind != "copy" && it.Kind != "fill" || it.Status != diff.Both || it.Delta.Ns != 0 || it.A.Calls != it.B.Calls || it.A.TotalNs != it.B.TotalNs {
					t.Errorf("%v: %s: %s by %+v", pair, it.Name, it.Status, it.Delta)
				}
				if it.Kind == "kernel" || it.Kind == "grid" {
					kernels++
				}
				if a, b := it.A.StdNs, it.B.StdNs; (a == nil) != (b == nil) || a != nil && math.Abs(*a-*b) > 0.1 {
					t.Errorf("%v: %s: the deviations are %v and %v", pair, it.Name, a, b)
				}
			}
			if kernels != 4 {
				t.Errorf("%v has %d kernels", pair, kernels)
			}
			if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "kernels-stats: a tool added up all GPU work") }) {
				t.Errorf("%v: %q", pair, r.Notes)
			}
		}
	}
	r := runs(t, w, "kernels-stats", "nccl2-stats", diff.Options{})
	if r.Verdict == diff.Better || r.Verdict == diff.Worse || r.Verdict == diff.NoChange {
		t.Errorf("one sum a side says %s: %s", r.Verdict, r.Words)
	}
	for _, it := range r.Items {
		if it.Verdict == diff.Better || it.Verdict == diff.Worse {
			t.Errorf("one sum a side says %s of %s", it.Verdict, it.Name)
		}
	}
	r = runs(t, w, "kernels-stats", "kernels", diff.Options{Stage: "decode"})
	if r.Verdict == diff.Better || r.Verdict == diff.Worse || r.Verdict == diff.NoChange {
		t.Errorf("decode, which one side does not know: %s", r.Words)
	}
}

// testWrapped aligns a model with the same one in wrappers, of which it is known what they add.
func testWrapped(t *testing.T, w held) {
	for _, it := range runs(t, w, "tree-sdpa", "wrapped-ddp", diff.Options{By: diff.ByTree, Unfold: true}).Items {
		if it.Status != diff.Both || it.How != "" || it.A.PerUnitCalls != it.B.PerUnitCalls {
			t.Errorf("in DistributedDataParallel %s is %s %s", it.Name, it.Status, it.How)
		}
	}
	added := map[string]int{}
	for _, it := range runs(t, w, "tree-sdpa", "wrapped-lora", diff.Options{By: diff.ByTree, Unfold: true}).Items {
		_, inside, isAdapter := strings.Cut(it.Name, " > Adapter_")
		switch {
		case isAdapter && it.Status == diff.New:
			_, what, _ := strings.Cut(inside, " > ")
			added[strings.TrimRight(what, "0123456789")]++
		case it.Status != diff.Both || it.How != "" || it.A.PerUnitCalls != it.B.PerUnitCalls:
			t.Errorf("with adapters %s is %s %s", it.Name, it.Status, it.How)
		}
	}
	if want := map[string]int{"Linear_": 8, "aten::add": 4}; !maps.Equal(added, want) { // two of each adapter, of which there are two in each of two layers
		t.Errorf("adapters add %v, want %v", added, want)
	}
	compiled := map[string]string{}
	for _, it := range runs(t, w, "tree-sdpa", "wrapped-compiled", diff.Options{By: diff.ByTree, Unfold: true}).Items {
		compiled[it.Name[strings.LastIndex(it.Name, " ")+1:]] = it.How
	}
	if want := map[string]string{"aten::silu": "fused", "aten::mm": "other shapes", "aten::_cudnn_attention_forward": "other shapes"}; !maps.Equal(compiled, want) {
		t.Errorf("compiled, operators are %v, want %v", compiled, want)
	}
	attention := slices.DeleteFunc(runs(t, w, "tree-eager", "tree-sdpa", diff.Options{By: diff.ByTree, Unfold: true}).Items, func(i diff.Item) bool { return i.Partner != "aten::scaled_dot_product_attention" })
	for _, i := range attention { // with scale, mask and copies
		if i.How != "fused" || i.A.PerUnitCalls != 11 || i.B.PerUnitCalls != 2 || strings.Count(i.Name, " + ") != 6 {
			t.Errorf("%s became %s: %s", i.Name, i.Partner, i.How)
		}
	}
	if len(attention) != 2 {
		t.Errorf("%d layers of two have their attention in a row", len(attention))
	}
}

// testFolded: what is the same in both layers of a model is one row, unless each place is asked for.
func testFolded(t *testing.T, w held) {
	fused := map[string]int{}
	for _, it := range runs(t, w, "tree-sdpa", "tree-norm", diff.Options{By: diff.ByTree}).Items {
		if it.How == "fused" {
			fused[strings.Split(it.Name, " > aten::")[0]] = it.Places
		}
	}
	in := "LlamaForCausalLM_0 > LlamaModel_0 > "
	if want := map[string]int{in + "LlamaDecoderLayer_* > LlamaRMSNorm_*": 4, in + "LlamaRMSNorm_4": 1}; !maps.Equal(fused, want) {
		t.Errorf("norms are fused in %v places, want %v", fused, want)
	}
}

// testTrees aligns each capture with operators with each: all device work of both is in one row, and a run is the same as itself.
func testTrees(t *testing.T, w held) {
	names := []string{"torch-llama", "llama-stack", "train", "graph-node", "tree-sdpa", "tree-norm", "tree-eager", "wrapped-lora", "wrapped-compiled"}
	measured := map[string]int64{} // device work of nodes outside warm-up
	for _, name := range names {
		var part, nodes, work, calls int64
		err := w.DB.QueryRowContext(t.Context(), `SELECT (sum(n.total_ns) FILTER (NOT n.is_warmup))::BIGINT, sum(n.total_ns)::BIGINT, (SELECT sum(k.total_ns) FROM operator_kernels($1) k)::BIGINT, sum(n.calls)::BIGINT
			FROM operator_nodes($1) n`, name).Scan(&part, &nodes, &work, &calls)
		if measured[name] = part; err != nil || nodes != work || calls == 0 || part == 0 {
			t.Errorf("%s: nodes hold %d ns of %d, %d calls: %v", name, nodes, work, calls, err)
		}
	}
	var pairs [][2]string
	for _, a := range names {
		for _, b := range names {
			pairs = append(pairs, [2]string{a, b})
		}
	}
	for _, pair := range sample.Of(pairs, 4) { // every other pair of the same run twice is one of them
		a, b := pair[0], pair[1]
		r, change := runs(t, w, a, b, diff.Options{By: diff.ByTree}), map[string]int64{}
		for _, it := range runs(t, w, a, b, diff.Options{By: diff.ByTree, Unfold: true}).Items {
			change[it.Stage] += it.Delta.Ns
		}
		got := [2]int64{}
		for _, it := range r.Items {
			got[0], got[1] = got[0]+it.A.TotalNs, got[1]+it.B.TotalNs
			change[it.Stage] -= it.Delta.Ns
			if a == b && (it.Delta.Ns != 0 || it.Status != diff.Both || it.How != "") {
				t.Errorf("%s against itself: %s changed by %d ns: %s %s", a, it.Name, it.Delta.Ns, it.Status, it.How)
			}
		}
		for stage, left := range change {
			if left != 0 {
				t.Errorf("%s against %s: %s changes by %d ns more where layers are rows of their own", a, b, stage, left)
			}
		}
		for i, name := range []string{a, b} {
			if got[i] != measured[name] {
				t.Errorf("%s against %s: rows of %s add up to %d ns, want %d", a, b, name, got[i], measured[name])
			}
		}
	}
	norms := 0
	for _, it := range runs(t, w, "tree-sdpa", "tree-norm", diff.Options{By: diff.ByTree, Unfold: true}).Items { // each norm of the model is one operator in place of eight kernels
		switch {
		case it.How == "fused" && it.Partner == "aten::rms_norm" && strings.Contains(it.Name, "LlamaRMSNorm_") && it.A.PerUnitCalls == 8 && it.B.PerUnitCalls == 1:
			norms++
		case it.Status != diff.Both || it.How != "":
			t.Errorf("besides the norms %s is %s %s", it.Name, it.Status, it.How)
		}
	}
	if norms != 5 {
		t.Errorf("%d of 5 norms are fused", norms)
	}
	testFolded(t, w)
	testWrapped(t, w)
	for _, c := range []struct{ a, b, stage, note string }{
		{"torch-llama", "llama-stack", "decode", "operators of decode launch 0.75 times as much in B as in A with the same inputs: B does another amount of work, such as other numbers of tokens"},
		{"train", "tree-sdpa", "", "train recorded no modules: operators are aligned without them; with_stack=True records them"},
	} {
		if r := runs(t, w, c.a, c.b, diff.Options{By: diff.ByTree, Stage: c.stage}); !slices.Contains(r.Notes, c.note) {
			t.Errorf("%s against %s: %q lack %q", c.a, c.b, r.Notes, c.note)
		}
	}
	if r := runs(t, w, "nccl2", "torch-llama", diff.Options{By: diff.ByTree}); len(r.Items) > 0 || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "nccl2 has no operators") }) {
		t.Errorf("a run without operators gives %d items and %q", len(r.Items), r.Notes)
	}
}
