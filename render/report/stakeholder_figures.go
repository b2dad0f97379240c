package report

import (
	"fmt"
	"slices"
	"strings"

	"prof/render/typeset"
	"prof/render/words"
)

// aggregates are the figures to quote, in the original's order; those that the workload measured itself come last.
func (p *stakeholder) aggregates() error {
	p.title("Aggregates")
	list, err := answers(p.r, "aggregates", "metric", "stage", "unit", "value", "mean", "std", "passes", "basis")
	if err != nil || len(list) == 0 {
		p.line("Not known: %s", typeset.MarkdownLine(typeset.Neutral(p.whyNoFigures("aggregates"))))
		return err
	}
	slices.SortStableFunc(list, func(x, y answered) int { return metricPlace(x) - metricPlace(y) })
	var rows [][]string
	for _, r := range list {
		unit, name := 1.0, metricName(r)
		if r.Text("unit") == "ns" {
			unit = nsPerMs
		}
		if isRate(r) && r.Count("passes") > 1 { // the rate to quote is not the mean of the passes' rates, which their deviation is about
			rows = append(rows, []string{typeset.MarkdownText(typeset.Neutral(name + overAll)), r.digits("value", unit), typeset.Null, r.word("passes")})
			name += ", of a pass"
		}
		rows = append(rows, []string{typeset.MarkdownText(typeset.Neutral(name)), r.digits("mean", unit), r.digits("std", unit), r.word("passes")})
	}
	p.table([]string{"Metric", "Mean", "Std", "n"}, rows)
	p.line("\nA token is a piece of a word or image. Rates are by the time on the GPU; the one over all passes is that to quote. Std: standard deviation over n passes. Query %s", typeset.MarkdownSpan(sourceOf(p.r.Frame("aggregates"))))
	return nil
}

// overAll names the figure that is the sum of one thing over all passes by the sum of another.
const overAll = ", all passes together"

// isRate says whether a metric is one thing by another, of which the mean over passes is not what their sums give.
func isRate(r answered) bool {
	return r.Text("unit") == "tokens_per_s" || strings.HasSuffix(r.Text("metric"), "_per_token")
}

// whyNoFigures says why there are no figures of stages; that there are no stages is said where these are.
func (p *stakeholder) whyNoFigures(key string) string {
	if len(p.s.Stages) == 0 {
		return "no stage was measured, see Per-Stage Timings"
	}
	return whyNone(p.r, key)
}

// metricPlace puts times first, then tokens, then rates, and what the workload says of itself last.
func metricPlace(r answered) int {
	place := slices.Index([]string{"ns", "count", "tokens_per_s"}, r.Text("unit"))
	if strings.HasSuffix(r.Text("metric"), "_per_token") {
		place = 3
	}
	if r.Text("basis") == "workload" {
		place += 10
	}
	return place
}

// metricName gives a metric as the original's tables word it: Prefill ms.
func metricName(r answered) string {
	stage := r.Text("stage")
	if stage != "" {
		stage = strings.ToUpper(stage[:1]) + stage[1:]
	}
	what := map[string]string{"ns": "ms", "count": "tokens", "tokens_per_s": "tokens/s"}[r.Text("unit")]
	if strings.HasSuffix(r.Text("metric"), "_per_token") {
		what = "ms per token"
	}
	if r.Text("basis") == "workload" {
		what += ", by the workload"
	}
	return stage + " " + what
}

// digits writes a number in a larger unit with three digits, or as many as its whole part has.
func (r answered) digits(column string, unit float64) string {
	x, ok := r.Finite(column)
	if !ok {
		return typeset.Null
	}
	return typeset.Digits(x / unit)
}

// stages are the times of stages. Vision is work inside prefill: a note, never a row.
func (p *stakeholder) stages() error {
	p.title("Per-Stage Timings")
	var rows [][]string
	onCPU := false
	for _, s := range p.s.Stages {
		spread := typeset.Null
		if s.Passes > 1 {
			spread = words.PassRange(s)
		}
		median, share := typeset.Nanoseconds(s.MedianNs), typeset.Percent(s.ShareRatio)
		if s.IsCPU {
			median, share, onCPU = median+" (on the CPU)", typeset.Null, true
		}
		rows = append(rows, []string{typeset.MarkdownText(typeset.Neutral(s.Stage)), median, spread, fmt.Sprint(s.Passes), share})
	}
	if len(rows) == 0 {
		why := whyNone(p.r, "stages")
		if len(p.s.WarmOnly) > 0 {
			why = "all passes of " + strings.Join(p.s.WarmOnly, ", ") + " count as warm-up"
		}
		p.line("Not known: %s", typeset.MarkdownLine(typeset.Neutral(why)))
		return nil
	}
	p.table([]string{"Stage", "Median", "Range", "n", "Share of time"}, rows)
	p.line("\nPrefill reads the prompt, decode writes the answer token by token. Median over the n measured passes: from the first to the last work of the GPU in a pass. Query %s", typeset.MarkdownSpan(sourceOf(p.r.Frame("stages"))))
	if onCPU {
		p.line("\nOn the CPU: the time of the stage's range on its thread, since no work on a GPU is known to be its own. It has no share of the time on the GPU.")
	}
	parts, err := answers(p.r, "stage-notes", "stage", "note", "gpu_span_mean_ns", "pass_mean_ns", "instances")
	inside, order := map[string][]string{}, []string{}
	for _, r := range parts {
		stage, ns := r.Text("stage"), typeset.Null
		if x, ok := r.Finite("pass_mean_ns"); ok { // a pass may execute a part several times
			ns = typeset.Nanoseconds(x)
		} else if x, ok := r.Finite("gpu_span_mean_ns"); ok && stage == "(none)" {
			ns = typeset.Nanoseconds(x)
		}
		if inside[stage] == nil {
			order = append(order, stage)
		}
		inside[stage] = append(inside[stage], fmt.Sprintf("%s %s", typeset.MarkdownText(typeset.Neutral(r.Text("note"))), ns))
	}
	for _, stage := range order {
		where := "Inside " + typeset.MarkdownText(typeset.Neutral(stage)) + ", and part of its time"
		if stage == "(none)" {
			where = "Outside every stage"
		}
		p.line("\n%s: %s (mean of each execution).", where, strings.Join(inside[stage], ", "))
	}
	return err
}

// utilisation is how far from the hardware's limit each part is.
func (p *stakeholder) utilisation() error {
	p.title("MFU")
	list, err := answers(p.r, "mfu", "stage", "mfu_ratio", "mbu_ratio", "is_least", "precision", "convention", "time_basis", "part_of")
	if err != nil || len(list) == 0 {
		p.line("Not known: %s", typeset.MarkdownLine(typeset.Neutral(p.whyNoFigures("mfu"))))
		return err
	}
	slices.SortStableFunc(list, func(x, y answered) int { return scopePlace(x) - scopePlace(y) })
	var rows [][]string
	known := slices.ContainsFunc(list, func(r answered) bool { return r.value("mfu_ratio") != nil })
	for _, r := range list {
		name := r.Text("stage")
		switch {
		case name == "model":
			name = "Model-level"
		case r.Text("part_of") != "":
			name += " (part of " + r.Text("part_of") + ")"
		}
		rows = append(rows, []string{typeset.MarkdownText(typeset.Neutral(name)), ratioText(r, "mfu_ratio"), ratioText(r, "mbu_ratio")})
	}
	p.table([]string{"Scope", "MFU", "MBU"}, rows)
	p.line("\nMFU is the share of the arithmetic that the GPU could do at most which the model needs; MBU is the same of reading its memory, by which decode is judged. 100 %% is the limit of the hardware.")
	if known {
		p.line("Peak: dense %s; convention of counting: %s; time: %s. Query %s", typeset.MarkdownText(typeset.Neutral(list[0].Text("precision"))), conventionText(list[0].Text("convention")),
			basisText(list[0].Text("time_basis")), typeset.MarkdownSpan(sourceOf(p.r.Frame("mfu"))))
	}
	for _, r := range list {
		if r.Text("part_of") != "" && r.value("mfu_ratio") == nil {
			p.line("\nMFU of %s is not known: what it has to compute was not counted.", typeset.MarkdownText(typeset.Neutral(r.Text("stage"))))
		}
	}
	said := map[string]bool{}
	for _, s := range p.s.Stages {
		if s.MFU == nil && !said[s.Unknown] {
			said[s.Unknown] = true
			p.line("\nMFU of %s is not known: %s", typeset.MarkdownText(typeset.Neutral(s.Stage)), typeset.MarkdownText(typeset.Neutral(s.Unknown)))
		}
	}
	return nil
}

// conventionText says how attention is counted.
func conventionText(convention string) string {
	switch convention {
	case "full":
		return "full (attention of every token with every other, as PyTorch counts)"
	case "causal":
		return "causal (attention of a token with those before it)"
	}
	return typeset.MarkdownText(typeset.Neutral(convention))
}

// basisText says what time is taken.
func basisText(basis string) string {
	if basis == "gpu_span" {
		return "from the first to the last work of the GPU in a pass"
	}
	return typeset.MarkdownText(typeset.Neutral(basis))
}

func scopePlace(r answered) int {
	if at := slices.Index([]string{"model", "vision", "prefill", "decode"}, r.Text("stage")); at >= 0 {
		return at
	}
	return 4
}

func ratioText(r answered, column string) string {
	if x, ok := r.Finite(column); ok {
		return words.UseText(x, r.value("is_least") == true)
	}
	return "unknown"
}
