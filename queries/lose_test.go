package queries_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"text/tabwriter"

	"prof/internal/diagnosis"
	"prof/internal/loss"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge/diff"
	"prof/queries/judge/gate"
	"prof/schema"
)

// unsaid are the kinds and bases of losses that nothing is said of, with the reason.
var unsaid = map[[2]string]string{
	{"work-window", "vllm-decode"}:   "they are of the only replay of a graph, and nothing in the trace says how many kernels that has",
	{"nodes", "torch-graph"}:         "the trace does not say which graph a replay is of, and replays of different graphs differ",
	{"nodes", "graph-trace"}:         "the trace does not say which graph a replay is of, and replays of different graphs differ",
	{"work-table", "traced-kernels"}: "they are fills, of which those of no bytes have calls and no records",
	{"rows", "averages"}:             "the row is of a call or an annotation, which have no GPU time of their own",
}

// mostUnsaid is how many of all losses may be unsaid.
const mostUnsaid = 10

// TestLosses holds that captures which lost something are said to have, by the kind of the loss, and that no verdict is given and no gate passes on
// them, but on what is left by a loss that only shows as the end of a capture does: 200 losses with -whole, some without.
func TestLosses(t *testing.T) {
	t.Parallel()
	l := newLoser(t)
	count := map[string]*[2]int{}
	missed := 0
	for _, c := range sample.Of(loss.Cases(), 70) {
		f := l.try(c)
		if count[c.Kind] == nil {
			count[c.Kind] = &[2]int{}
		}
		count[c.Kind][0]++
		if f.isSaid {
			count[c.Kind][1]++
		} else {
			missed++
			if why := unsaid[[2]string{c.Kind, c.Base.Name}]; why != "" {
				t.Logf("unsaid: %v: %d records: %s", c, f.records, why)
			} else {
				t.Errorf("unsaid: %v: %d records; said are %v", c, f.records, f.kinds)
			}
		}
		for _, text := range f.judged {
			t.Errorf("%v: %d records; %v: %s", c, f.records, f.kinds, text)
		}
	}
	if missed > mostUnsaid {
		t.Errorf("%d losses are unsaid", missed)
	}
	out := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "loss\tcases\tsaid")
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(out, "%s\t%d\t%d\n", kind, count[kind][0], count[kind][1])
	}
	out.Flush()
}

// TestSilentLosses lists losses of which no file shows anything, and holds that nothing is made up about them.
func TestSilentLosses(t *testing.T) {
	t.Parallel()
	l := newLoser(t)
	for _, c := range sample.Of(loss.Silent(), 30) {
		records, run := l.lose(c)
		if kinds, _ := l.losses(run.Label); len(kinds) > 0 {
			t.Errorf("%v: %d records: %v, of which the file shows nothing", c, records, kinds)
		}
		t.Logf("no file can show %v: %d records", c, records)
	}
}

// loser holds captures that lost something to what is said of them.
type loser struct {
	*testing.T
	w     *schema.Warehouse
	asker *queries.Asker
	rules map[string][]gate.Rule // that hold of a whole capture, by base
	whole map[string]diff.Side   // by base
	runs  int
}

// noWork is a base of operators, without device work: nothing compares it.
const noWork = "averages"

// loserFacts are what losses, verdicts and gates are told by.
var loserFacts = []string{"loss", "caveat_loss", "stage_pass", "work_sum", "run_condition", "step", "cold_pass", "unlike_pass"}

// fate is what is said of a capture that lost something.
type fate struct {
	records int
	kinds   []string // losses that are said
	isSaid  bool
	isCut   bool     // all of them are said to be what the beginning or the end of the capture cut off
	judged  []string // verdicts and gates that there should not be
}

func newLoser(t *testing.T) *loser {
	w := testkit.Copy(t)
	return &loser{T: t, w: w, asker: queries.NewAsker(w), rules: map[string][]gate.Rule{}, whole: map[string]diff.Side{}}
}

// ingest stores a capture as a run.
func (l *loser) ingest(name string, b loss.Base, c *diagnosis.Capture) diff.Side {
	l.Helper()
	dir := l.TempDir()
	defer os.RemoveAll(dir)
	files, err := b.Write(c, dir)
	if err != nil {
		l.Fatalf("%s: %v", name, err)
	}
	l.runs++
	if err := testkit.Ingest(l.Context(), l.w, l.runs, testkit.Run{Name: name, Files: files, Facts: loserFacts}); err != nil {
		l.Fatalf("%s: %v", name, err)
	}
	run, err := l.w.Resolve(l.Context(), name)
	if err != nil {
		l.Fatal(err)
	}
	return diff.Side{Label: name, Runs: []diff.Run{diff.Run(run)}}
}

// lose stores a capture that lost what a case says.
func (l *loser) lose(c loss.Case) (records int, run diff.Side) {
	l.Helper()
	capture, err := c.Base.Load(testkit.Path(""))
	if err != nil {
		l.Fatal(err)
	}
	if _, ok := l.whole[c.Base.Name]; !ok && len(c.Says()) > 0 {
		l.whole[c.Base.Name] = l.ingest("whole-"+c.Base.Name, c.Base, capture)
		if kinds, _ := l.losses("whole-" + c.Base.Name); len(kinds) > 0 {
			l.Errorf("%s is whole, and said to have %v", c.Base.Name, kinds)
		}
		if c.Base.Name != noWork {
			l.rules[c.Base.Name] = l.holding(l.whole[c.Base.Name])
		}
	}
	if records, err = c.Put(capture); err != nil {
		l.Errorf("%v: %v", c, err)
	}
	return records, l.ingest(fmt.Sprintf("lost-%d", c.Number), c.Base, capture)
}

// holding are the rules that a whole capture holds, compared with itself: those that it cannot be judged by prove nothing.
func (l *loser) holding(whole diff.Side) []gate.Rule {
	l.Helper()
	rules, err := gate.Parse("rules", "stage.*.gpu_busy_ns <= +3%\nstage.*.gpu_sum_ns <= +3%\nstage.*.launches <= +0%\nstage.(none).gpu_sum_ns <= +3%\nstage.(none).launches <= +0%\n")
	if err != nil {
		l.Fatal(err)
	}
	g := l.gate(whole, whole, rules)
	rules = slices.DeleteFunc(rules, func(r gate.Rule) bool {
		return slices.ContainsFunc(g.Checks, func(c gate.Check) bool { return c.Rule.Text == r.Text && c.Outcome != gate.Holds })
	})
	return rules
}

func (l *loser) gate(whole, run diff.Side, rules []gate.Rule) *gate.Result {
	l.Helper()
	noise := 0.0
	g, err := gate.Judge(l.Context(), l.asker, run, &whole, rules, gate.Options{AssumeNoise: &noise})
	if err != nil {
		l.Fatalf("check %s: %v", run.Label, err)
	}
	return g
}

// try loses what a case says and asks what is said of it.
func (l *loser) try(c loss.Case) (f fate) {
	l.Helper()
	var run diff.Side
	f.records, run = l.lose(c)
	f.kinds, f.isCut = l.losses(run.Label)
	f.isSaid = slices.ContainsFunc(f.kinds, func(k string) bool { return slices.Contains(c.Says(), k) })
	rules := l.rules[c.Base.Name]
	if len(rules) == 0 {
		return f
	}
	whole, noise := l.whole[c.Base.Name], 0.0
	r, err := diff.Runs(l.Context(), l.asker, whole, run, diff.Options{AssumeNoise: &noise})
	if err != nil {
		l.Errorf("%v: diff: %v", c, err)
		return f
	}
	for _, st := range r.Stages {
		if st.Verdict == diff.Better || st.Verdict == diff.Worse {
			f.judged = append(f.judged, fmt.Sprintf("diff: %s %s: %s", st.Name, st.Verdict, st.Words))
		}
	}
	switch g := l.gate(whole, run, rules); {
	case g.Outcome == gate.Holds && f.isCut:
		l.Logf("%v: %v: check: what the capture did not cut off holds: %s", c, f.kinds, g.Words)
	case g.Outcome != gate.CannotTell:
		f.judged = append(f.judged, fmt.Sprintf("check: %s: %s", g.Outcome, g.Words))
	}
	return f
}

// losses are the kinds of losses that are said of a run, and whether the ends of its capture cut off all of it.
func (l *loser) losses(run string) (kinds []string, isCut bool) {
	l.Helper()
	f := testkit.Query(l, l.w, "losses", queries.Args{"run": run})
	isCut = len(f.Rows) > 0
	for _, row := range f.Rows {
		kinds = append(kinds, fmt.Sprint(row[f.Index("kind")]))
		isCut = isCut && row[f.Index("is_cut")] == true
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), isCut
}
