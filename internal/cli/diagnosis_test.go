package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/diagnosis"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/testdata"
)

// said is what the program says first of a capture that it does not say of the unharmed one.
type said struct {
	rule, stage, about string
	saving             float64 // ns, over all passes
}

// foundOne is a finding as explain gives it.
type foundOne struct {
	ID, Stage, Subject, Title string
	Device                    int64
	Saving                    float64 `json:"saving_ns"`
	Span                      float64 `json:"span_ns"`
}

func (p *place) decoded(v any, args ...string) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.ok(args...)), v); err != nil {
		p.t.Fatalf("%q: %v", args, err)
	}
}

func (p *place) findings(run string, args ...string) []foundOne {
	p.t.Helper()
	var out struct{ Findings []foundOne }
	p.decoded(&out, append([]string{"explain", run, "--format", "json"}, args...)...)
	return out.Findings
}

// grown returns the first finding that is new or has grown, by more than the hundredth of its stage from which on findings are shown.
func grown(base, now []foundOne) said {
	for _, x := range now {
		was := 0.0
		for _, y := range base {
			if y.ID == x.ID && y.Stage == x.Stage && y.Device == x.Device && (y.Subject == x.Subject || !slices.Contains([]string{"small-grids", "wave-tail"}, x.ID)) {
				was = max(was, y.Saving)
			}
		}
		if x.Saving-was >= 0.01*x.Span {
			return said{x.ID, x.Stage, cmp.Or(x.Subject, x.Title), x.Saving - was}
		}
	}
	return said{}
}

type rowsOf struct{ Rows []map[string]any }

func number(v any) float64 { n, _ := v.(float64); return n }

// coldPasses returns passes that are cold and were not.
func (p *place) coldPasses(base, run string) said {
	p.t.Helper()
	var was, now rowsOf
	p.decoded(&was, "query", "cold-passes", "--run", base, "--format", "json")
	p.decoded(&now, "query", "cold-passes", "--run", run, "--format", "json")
	var out said
	for _, r := range now.Rows {
		if !slices.ContainsFunc(was.Rows, func(o map[string]any) bool { return o["stage"] == r["stage"] && o["pass"] == r["pass"] }) {
			out = said{"cold-passes", fmt.Sprint(r["stage"]), fmt.Sprint("pass ", r["pass"]), out.saving + number(r["excess_ns"])}
		}
	}
	return out
}

// slowSteps returns the slowest steps: those over the median by more than half of what the slowest is.
func (p *place) slowSteps(run string) said {
	p.t.Helper()
	var now rowsOf
	p.decoded(&now, "query", "slow-steps", "--run", run, "--format", "json")
	var out said
	for _, r := range now.Rows {
		if excess := number(r["excess_ns"]); excess >= 0.5*number(now.Rows[0]["excess_ns"]) {
			out = said{"slow-steps", fmt.Sprint(r["stage"]), fmt.Sprint(r["cause"]), out.saving + excess}
		}
	}
	return out
}

// worseKernel returns the kernel that diff calls worse, or that it says stands in place of another, by most.
func (p *place) worseKernel(base, run string) said {
	p.t.Helper()
	d := p.diff(base, run)
	var out said
	for _, it := range d.Items {
		ns := it.Delta.Ns
		for _, other := range d.Items {
			if it.Partner != "" && other.Name == it.Partner && other.Stage == it.Stage {
				ns += other.Delta.Ns
			}
		}
		if it.Kind == "kernel" && (it.Verdict == "worse" || it.Delta.New > 0) && float64(ns) > out.saving {
			out = said{"worse-kernel", it.Stage, it.Name, float64(ns)}
		}
	}
	if passes := p.measuredPasses(run, out.stage); passes > 0 {
		out.saving *= passes
	}
	out.stage = strings.TrimPrefix(out.stage, "steps")
	return out
}

// measuredPasses is how many measured passes a stage has, or steps a run without stages.
func (p *place) measuredPasses(run, stage string) float64 {
	p.t.Helper()
	var list rowsOf
	if stage == "steps" {
		p.decoded(&list, "query", "steps", "--run", run, "--format", "json")
		return float64(len(list.Rows))
	}
	p.decoded(&list, "query", "stages", "--run", run, "--format", "json")
	for _, r := range list.Rows {
		if r["stage"] == stage {
			return number(r["passes"])
		}
	}
	return 0
}

// firstSaid returns what is said first of a harmed run, by what is wanted: each has its place.
func (p *place) firstSaid(want string, was []foundOne, run string) said {
	p.t.Helper()
	switch want {
	case "cold-passes":
		return p.coldPasses("base", run)
	case "slow-steps":
		return p.slowSteps(run)
	case "worse-kernel":
		return p.worseKernel("base", run)
	}
	return grown(was, p.findings(run))
}

// diagnosed is a row of the table.
type diagnosed struct {
	row     string
	isRight bool
}

// harmedRun is the run of a capture that is made of a base.
func harmedRun(b diagnosis.Base, name string, made func() *diagnosis.Capture) testkit.Run {
	sources := []string{"internal/diagnosis", "internal/exports"}
	for _, of := range append(slices.Clone(b.Files), b.Profile, b.Samples) {
		if of != "" {
			sources = append(sources, "testdata/"+of)
		}
	}
	return testkit.Run{Name: name, Sources: sources, Make: func(dir string) ([]string, error) { return made().Write(dir, name) }}
}

// everyCase is how many cases TestDiagnosis has for each one that it tries with -whole, without which it tries a sixth of those: all take two minutes of
// CPU.
const everyCase = 3

// TestDiagnosis puts causes into real captures and holds what is said of them to what was put in. docs/verdicts.md says the same. With
// -update it tries all and writes the table, else some, whose rows must be those of the table.
func TestDiagnosis(t *testing.T) {
	tried := func(i int) bool {
		return *update || i%everyCase == 0 && (*sample.Whole || i/everyCase%6 == 0)
	}
	rows := make([]diagnosed, len(diagnosis.Cases))
	t.Run("captures", func(t *testing.T) {
		for _, b := range diagnosis.Bases {
			t.Run(b.Name, func(t *testing.T) {
				t.Parallel()
				base, err := b.Load(filepath.Join("..", "..", "testdata"))
				if err != nil {
					t.Fatal(err)
				}
				stored := []testkit.Run{harmedRun(b, "base", func() *diagnosis.Capture { return base })}
				for i, k := range diagnosis.Cases {
					if k.Base == b.Name && tried(i) {
						stored = append(stored, harmedRun(b, fmt.Sprint("case-", i), func() *diagnosis.Capture { harmed, _ := k.Harm(base); return harmed }))
					}
				}
				for i, k := range diagnosis.Controls {
					if k.Base == b.Name && tried(i) {
						stored = append(stored, harmedRun(b, fmt.Sprint("control-", i), func() *diagnosis.Capture { return k.Make(base) }))
					}
				}
				if len(stored) == 1 {
					return
				}
				p := reading(t, stored)
				was := p.findings("base", "--top", "0", "--min-share", "0")
				for i, k := range diagnosis.Cases {
					if k.Base == b.Name && tried(i) {
						_, cost := k.Harm(base)
						rows[i] = judged(t, k, p.firstSaid(k.Want, was, fmt.Sprint("case-", i)), float64(cost))
					}
				}
				for i, k := range diagnosis.Controls {
					if k.Base == b.Name && tried(i) {
						run := fmt.Sprint("control-", i)
						for _, raised := range []said{grown(was, p.findings(run)), p.coldPasses("base", run), p.worseKernel("base", run)} {
							if raised != (said{}) {
								t.Errorf("%s, %s: raises %+v", k.Base, k.Change, raised)
							}
						}
					}
				}
			})
		}
	})
	var out strings.Builder
	out.WriteString("| capture | cause | costs | first said | where | saving | |\n|---|---|---|---|---|---|---|\n")
	right := 0
	for _, r := range rows {
		out.WriteString(r.row)
		if r.isRight {
			right++
		}
	}
	fmt.Fprintf(&out, "\n%d of %d are right. Of %d controls none raises anything.\n", right, len(rows), len(diagnosis.Controls))
	path := filepath.Join("..", "..", "docs", "verdicts.md")
	old, changed, err := testdata.Marked(path, "diagnosis", out.String())
	switch {
	case err != nil:
		t.Fatal(err)
	case t.Failed():
	case *update && !slices.ContainsFunc(rows, func(r diagnosed) bool { return r.row == "" }): // all captures were asked for
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	case !*update:
		for i, r := range rows {
			if r.row != "" && !strings.Contains(old, r.row) {
				t.Errorf("docs/verdicts.md lacks this row of case %d; -update writes it:\n%s", i, r.row)
			}
		}
	}
}

// nearby is how far from what a cause costs its saving may be.
const nearby = 0.2

// judged compares what is said of a case with what is wanted.
func judged(t *testing.T, k diagnosis.Case, got said, cost float64) diagnosed {
	t.Helper()
	where := strings.TrimPrefix(got.stage+", "+got.about, ", ")
	if text := []rune(where); len(text) > 60 {
		where = string(text[:59]) + "…"
	}
	d := diagnosed{isRight: got.rule == k.Want && got.stage == k.Stage && strings.Contains(got.about, k.About) && math.Abs(got.saving-cost) <= nearby*cost}
	verdict := map[bool]string{true: "right", false: "missed"}[d.isRight]
	d.row = fmt.Sprintf("| %s | %s | %.3g ms | %s | %s | %.3g ms | %s |\n", k.Base, k.Cause, cost/1e6, got.rule, strings.ReplaceAll(where, "|", "\\|"), got.saving/1e6, verdict)
	if !d.isRight {
		t.Errorf("missed: want %s %s %s of %.3f ms\n%s", k.Want, k.Stage, k.About, cost/1e6, d.row)
	}
	return d
}
