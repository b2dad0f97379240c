package cli

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// TestDiffUsage holds what is refused before anything is opened.
func TestDiffUsage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, c := range []struct{ args, want string }{
		{"diff", "diff takes two runs or more, the base first; see `prof help diff`"},
		{"diff a", "diff takes two runs or more, the base first; see `prof help diff`"},
		{"diff a b --top -1", "--top -1 is below 0"},
		{"diff a b --format yaml", "unknown format \"yaml\": use one of table, md, html, blocks, csv, json"},
		{"diff a b --fail-over 5", "--fail-over 5: write 5%, or 500% if you mean a ratio"},
		{"diff a b --min-effect 0.01", "--min-effect 0.01: write 0.01%, or 1% if you mean a ratio"},
		{"diff a b --assume-noise -2%", "--assume-noise -2%: write a percentage such as 5%"},
		{"diff a b --fail-over= ", "--fail-over : write a percentage such as 5%"},
		{"diff a b --fail-over much%", "--fail-over much%: write a percentage such as 5%"},
		{"diff a b --alpha 1", "--alpha 1: write the error rate as a number above 0 and below 0.5, such as 0.01"},
		{"diff a b --alpha 0%", "--alpha 0%: write the error rate as a number above 0 and below 0.5, such as 0.01"},
		{"diff a b --by range --stage decode", "--by range covers whole runs, warm-up included: omit --stage"},
		{"diff a b --by operator --stage decode", "--by operator covers whole runs, warm-up included: omit --stage"},
		{"diff a b --bye x", "unknown option --bye; did you mean --by?"},
	} {
		p.want(result{2, "", "prof: " + c.want + "\n"}, strings.Fields(c.args)...)
	}
}

// TestDiffForms compares runs whose captures differ by one slower kernel in every form, and judges them.
func TestDiffForms(t *testing.T) {
	t.Parallel()
	slower := madeTrace(2)
	decode(&slower, flash).Ns *= 1.4
	p := reading(t, []testkit.Run{madeRun("base", madeTrace(1), madeSteps+1), madeRun("slower", slower, madeSteps+1)})
	if got, want := p.ok("diff", "base", "slower", "-f", "md"), "## ❌ slower against base\n\n**Decode"; !strings.HasPrefix(got, want) {
		t.Errorf("Markdown begins with %.200s", got)
	}
	for _, by := range []string{"kernel", "grid", "stage"} {
		p.addsUp(by)
	}
	page := p.path("out/diff.html")
	p.want(result{0, page + "\n", ""}, "diff", "base", "slower", "--out", page)
	if text := string(read(t, page)); !strings.HasPrefix(text, "<!DOCTYPE html>\n") || !strings.Contains(text, "<h1>slower against base</h1>") {
		t.Errorf("the file holds %.300s", text)
	}
	var several struct {
		Comparisons []struct{ B struct{ Label string } }
	}
	if err := json.Unmarshal([]byte(p.ok("diff", "base", "slower", "base", "-f", "json")), &several); err != nil || len(several.Comparisons) != 2 || several.Comparisons[0].B.Label != "slower" || several.Comparisons[1].B.Label != "base" {
		t.Errorf("several: %v %+v", err, several)
	}
	if sql := p.ok("diff", "base", "slower", "--explain"); !strings.HasPrefix(sql, "-- ") || !strings.Contains(sql, "-- stage-samples.v5 of run base\n") || !strings.Contains(sql, ";\n\n") {
		t.Errorf("the SQL is %.300s", sql)
	}
	p.wantLike(0, ".*no change.*", "", "diff", "base", "base", "--fail-over", "0%")
	p.wantLike(exitRegression, "Decode .* slower.*", "prof: slower against base, stage decode: slower by .* %, more than 5 %\n", "diff", "base", "slower", "--fail-over", "5%")
	p.wantLike(0, "Decode .* faster.*", "", "diff", "slower", "base", "--fail-over", "5%")
	p.wantLike(2, "", "prof: .*kernel, family, .*colour.*", "diff", "base", "slower", "--by", "colour")
	p.wantLike(1, "", "prof: .*neither side has a stage \"nowhere\".*", "diff", "base", "slower", "--stage", "nowhere")
	p.wantLike(1, "", "prof: no such run: \"nobody\".*", "diff", "base", "nobody")
}

// addsUp holds that the rows of the parts of each stage add up to its row in CSV.
func (p *place) addsUp(by string) {
	p.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(p.ok("diff", "base", "slower", "-f", "csv", "--by", by, "--top", "3"))).ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	stages, parts := map[string]int64{}, map[string]int64{}
	for _, row := range rows[1:] {
		to := parts
		if row[at["kind"]] == "stage" {
			to = stages
		}
		for _, column := range []string{"a_per_unit_ns", "b_per_unit_ns", "delta_ns"} {
			n, err := strconv.ParseInt(row[at[column]], 10, 64)
			if err != nil {
				p.t.Fatalf("--by %s: %s of %q: %v", by, column, row, err)
			}
			to[row[at["stage"]]+" "+column] += n
		}
	}
	if len(stages) < 6 || len(stages) != len(parts) || stages["decode delta_ns"] <= 0 {
		p.t.Errorf("--by %s: stages have %v, their parts %v", by, stages, parts)
	}
	for key, n := range stages {
		if parts[key] != n {
			p.t.Errorf("--by %s: %s is %d of the stage and %d of its parts", by, key, n, parts[key])
		}
	}
}

// TestPercentText holds that large changes are told as factors.
func TestPercentText(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0.005: "0.5 %", 0.126: "12.6 %", 2: "200 %", 8.9: "890 %", 9: "a factor of 10", 32.8: "a factor of 33.8", 99: "a factor of 100", 1e160: "a factor of more than 100"} {
		if got := percentText(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

// TestDiffCannotTell holds that two runs of one pass each are not judged, but with an assumption.
func TestDiffCannotTell(t *testing.T) {
	t.Parallel()
	one, other := madeTrace(1), madeTrace(2)
	one.Passes, other.Passes = 1, 1
	decode(&other, flash).Ns *= 2
	p := reading(t, []testkit.Run{madeRun("one", one, madeSteps+1), madeRun("other", other, madeSteps+1)})
	p.wantLike(exitCannotTell, "Decode: cannot tell.*", "(prof: other against one, stage [a-z]+: .*\n)+", "diff", "one", "other", "--fail-over", "5%")
	p.wantLike(exitRegression, "Decode .* slower.*", "prof: other against one, stage decode: slower by .*\n", "diff", "one", "other", "--fail-over", "5%", "--assume-noise", "3%")
}

// TestFailStage holds the judgement of single stages.
func TestFailStage(t *testing.T) {
	t.Parallel()
	p, effect := 0.001, func(v float64) *float64 { return &v }
	stage := func(v diff.Verdict, c stats.Comparison) diff.Stage {
		return diff.Stage{Name: "s", Verdict: v, Comparison: c, A: diff.StageSide{Passes: 3}, B: diff.StageSide{Passes: 3}}
	}
	outside := stage(diff.CannotTell, stats.Comparison{Effect: effect(2)})
	outside.Name = "(none)"
	gone := stage(diff.CannotTell, stats.Comparison{})
	gone.B.Passes = 0
	for _, c := range []struct {
		name  string
		stage diff.Stage
		same  bool
		code  int
		why   string
	}{
		{"slower by more", stage(diff.Worse, stats.Comparison{Effect: effect(0.08), P: &p}), false, exitRegression, "slower by 8 %, more than 5 %"},
		{"slower by less", stage(diff.Worse, stats.Comparison{Effect: effect(0.04), P: &p}), false, exitOK, ""},
		{"just the limit", stage(diff.Worse, stats.Comparison{Effect: effect(0.05), P: &p}), false, exitOK, ""},
		{"faster", stage(diff.Better, stats.Comparison{Effect: effect(-0.3), P: &p}), false, exitOK, ""},
		{"no change", stage(diff.NoChange, stats.Comparison{Effect: effect(0.01), P: effect(0.3), Smallest: effect(0.04)}), false, exitOK, ""},
		{"looks slower", stage(diff.CannotTell, stats.Comparison{Effect: effect(0.08), P: effect(0.3), Why: "p is 0.3."}), false, exitCannotTell, "looks slower by 8 %, which is more than 5 % but uncertain: p is 0.3"},
		{"within noise", stage(diff.CannotTell, stats.Comparison{Effect: effect(0.08), P: &p, Why: "noise is 9 %"}), false, exitCannotTell, "looks slower by 8 %, which is more than 5 % but uncertain: noise is 9 %"},
		{"looks faster", stage(diff.CannotTell, stats.Comparison{Effect: effect(-0.08), P: effect(0.3), Why: "p is 0.3."}), false, exitCannotTell, "cannot tell: p is 0.3"},
		{"no reason", stage(diff.CannotTell, stats.Comparison{Effect: effect(-0.08)}), false, exitCannotTell, "cannot tell: there are too few samples"},
		{"one sample", stage(diff.CannotTell, stats.Comparison{Effect: effect(0.01), Why: "one sample a side"}), false, exitCannotTell, "cannot tell: one sample a side"},
		{"the same captures", stage(diff.CannotTell, stats.Comparison{}), true, exitOK, ""},
		{"outside stages", outside, false, exitOK, ""},
		{"on one side only", gone, false, exitCannotTell, "cannot tell: only the base has it"},
	} {
		if code, why := failStage(0.05, c.same, c.stage); code != c.code || why != c.why {
			t.Errorf("%s: %d %q, want %d %q", c.name, code, why, c.code, c.why)
		}
	}
}
