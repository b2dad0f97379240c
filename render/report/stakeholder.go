package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// stakeholder is the page stakeholder_summary.md as it is written.
type stakeholder struct {
	*reader
	s   judge.Summary
	g   *glance
	out *bytes.Buffer
}

// writeStakeholder writes stakeholder_summary.md: one page in plain words for a reader without tools. Its sections stand in the order in
// which such summaries have always had them; what is not known is said in its place, and each figure names its query.
func writeStakeholder(out *bytes.Buffer, r *reader) {
	s, err := r.Summary()
	r.keep(err)
	g, err := newGlance(r.Report)
	r.keep(err)
	if g == nil {
		r.keep(errors.New("query stakeholder_summary.md: the report was made without the queries stages and accounting"))
		return
	}
	p := stakeholder{r, s, g, out}
	p.line("# %s: summary\n\n%s\n", escaped(reportTitle(r.Report)), typeset.MarkdownLine(g.Lead))
	p.about()
	p.environment()
	p.aggregates()
	p.stages()
	p.utilisation()
	p.takeaways()
	p.operators()
	p.kernels()
	p.recommendations()
	writeDoubts(out, "\n## How far to trust this\n\n", g.Doubts)
	p.line("\nAll times exclude warm-up passes, except those of operators and kernels. The same figures in full, with the query behind each, are in report.html and report.md.")
}

// escaped is text that reads in Markdown as typed.
func escaped(text string) string { return typeset.MarkdownText(typeset.Neutral(text)) }

func (p *stakeholder) title(text string) { p.line("\n## %s\n", text) }

func (p *stakeholder) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// query names the query behind an answer.
func (p *stakeholder) query(key string) string {
	return "Query " + typeset.MarkdownSpan(sourceOf(p.Frame(key)))
}

// unknown says in place of a section why there is none.
func (p *stakeholder) unknown(why string) {
	p.line("Not known: %s", typeset.MarkdownLine(typeset.Neutral(why)))
}

// figures begins a table of a column of words and columns of numbers.
func figures(first string, others ...string) table.Table {
	t := table.Table{Columns: []table.Column{{Title: first, Full: true}}}
	for _, title := range others {
		t.Columns = append(t.Columns, table.Column{Title: title, Right: true, Full: true})
	}
	return t
}

// about says what was run and when: the time is the run's own, so that the file is the same whenever it is written.
func (p *stakeholder) about() {
	for _, key := range [][3]string{{"captured", "Generated", "from the capture of "}, {"command", "What was run"}, {"model", "Model"}} {
		value := "not known"
		if at := slices.IndexFunc(p.Facts, func(f [2]string) bool { return f[0] == key[0] }); at >= 0 {
			value = key[2] + p.Facts[at][1]
		}
		p.line("- %s: %s", key[1], typeset.MarkdownLine(typeset.Neutral(value)))
	}
}

// environment names the GPUs and what they can do at most.
func (p *stakeholder) environment() {
	p.title("Environment")
	var names []string
	count := map[string]map[int64]bool{}
	for _, d := range p.rows("devices", "name", "device", "kernel_count") {
		name := d.Text("name")
		if name == "" {
			continue
		}
		if count[name] == nil {
			names, count[name] = append(names, name), map[int64]bool{}
		}
		count[name][d.Count("device")] = true
	}
	devices := "not known: the capture does not name it"
	for i, name := range names {
		if n := len(count[name]); n > 1 {
			names[i] = fmt.Sprintf("%d × %s", n, name)
		}
		devices = strings.Join(names, ", ")
	}
	t := table.Table{Columns: []table.Column{{Title: "Key", Full: true}, {Title: "Value", Full: true}}}
	t.AddRow("Device", devices)
	t.AddRow("Peak TFLOPs", p.peakFlop())
	t.AddRow("Peak memory bandwidth", p.peakBandwidth())
	for _, f := range p.rows("facts", "key", "value") {
		if f.Text("key") == "driver.version" {
			t.AddRow("Driver", f.Text("value"))
			break
		}
	}
	t.Markdown(p.out)
}

// peakFlop words the limit that MFU is measured by: of the GPUs that worked in a pass together.
func (p *stakeholder) peakFlop() string {
	for _, r := range p.rows("mfu", "peak_flop_per_s", "precision", "peak_origin", "device_count") {
		if r.value("peak_flop_per_s") == nil {
			continue
		}
		text := fmt.Sprintf("%s TFLOP/s, dense %s", r.fixed("peak_flop_per_s", 1e12, 2), r.Text("precision"))
		if n := r.Count("device_count"); n > 1 {
			text += fmt.Sprintf(", %d GPUs together", n)
		}
		if origin := r.Text("peak_origin"); origin != "" {
			text += " (" + origin + ")"
		}
		return text
	}
	return "not known"
}

// peakBandwidth words the limit that MBU is measured by.
func (p *stakeholder) peakBandwidth() string {
	for _, r := range p.rows("mbu", "peak_bytes_per_s") {
		if r.value("peak_bytes_per_s") != nil {
			return r.fixed("peak_bytes_per_s", 1e9, 0) + " GB/s"
		}
	}
	return "not known"
}

// aggregates are the figures to quote, in the original's order; those that the workload measured itself come last.
func (p *stakeholder) aggregates() {
	p.title("Aggregates")
	list := p.rows("aggregates", "metric", "stage", "unit", "value", "mean", "std", "passes", "basis")
	if len(list) == 0 {
		p.unknown(p.whyNoFigures("aggregates"))
		return
	}
	slices.SortStableFunc(list, func(x, y answered) int { return metricPlace(x) - metricPlace(y) })
	t := figures("Metric", "Mean", "Std", "n")
	for _, r := range list {
		unit, name := 1.0, metricName(r)
		if r.Text("unit") == "ns" {
			unit = nsPerMs
		}
		if isRate(r) && r.Count("passes") > 1 { // the rate to quote is not the mean of the passes' rates, which their deviation is about
			t.AddRow(name+", all passes together", r.digits("value", unit), typeset.Null, r.word("passes"))
			name += ", per pass"
		}
		t.AddRow(name, r.digits("mean", unit), r.digits("std", unit), r.word("passes"))
	}
	t.Markdown(p.out)
	p.line("\nA token is a piece of a word or an image. Rates are per second of GPU time; quote the one over all passes. Std is the standard deviation over n passes. %s", p.query("aggregates"))
}

// isRate reports whether a metric is one thing by another, of which the mean over passes is not what their sums give.
func isRate(r answered) bool { return r.Text("unit") == "tokens_per_s" || isPerToken(r) }

func isPerToken(r answered) bool { return strings.HasSuffix(r.Text("metric"), "_per_token") }

// whyNoFigures says why there are no figures of stages; that there are no stages is said where these are.
func (p *stakeholder) whyNoFigures(key string) string {
	if len(p.s.Stages) == 0 {
		return "no stage was measured, see Per-Stage Timings"
	}
	return p.whyNone(key)
}

// metricPlace puts times first, then tokens, then rates, and what the workload says of itself last.
func metricPlace(r answered) int {
	place := slices.Index([]string{"ns", "count", "tokens_per_s"}, r.Text("unit"))
	if isPerToken(r) {
		place = 3
	}
	if r.Text("basis") == "workload" {
		place += 10
	}
	return place
}

// metricName returns a metric as the original's tables word it: Prefill ms.
func metricName(r answered) string {
	what := map[string]string{"ns": "ms", "count": "tokens", "tokens_per_s": "tokens/s"}[r.Text("unit")]
	if isPerToken(r) {
		what = "ms per token"
	}
	switch r.Text("basis") {
	case "workload":
		what += ", by the workload"
	case "alone":
		what += ", without a profiler"
	}
	return typeset.Sentence(r.Text("stage")) + " " + what
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
func (p *stakeholder) stages() {
	p.title("Per-Stage Timings")
	t, onCPU := figures("Stage", "Median", "Range", "n", "Share of time"), false
	for _, s := range p.s.Stages {
		spread, median, share := typeset.Null, typeset.Nanoseconds(s.MedianNs), typeset.Percent(s.ShareRatio)
		if s.Passes > 1 {
			spread = words.PassRange(s)
		}
		if s.IsCPU {
			median, share, onCPU = median+" (on the CPU)", typeset.Null, true
		}
		t.AddRow(s.Stage, median, spread, fmt.Sprint(s.Passes), share)
	}
	switch {
	case len(t.Rows) > 0:
	case len(p.s.WarmOnly) > 0:
		p.unknown("all passes of " + strings.Join(p.s.WarmOnly, ", ") + " count as warm-up")
		return
	default:
		p.unknown(p.whyNone("stages"))
		return
	}
	t.Markdown(p.out)
	p.line("\nPrefill reads the prompt; decode writes the answer token by token. Each time is the median over n measured passes, from the first to the last GPU work of a pass. %s", p.query("stages"))
	if onCPU {
		p.line("\nOn the CPU: no GPU work can be attributed to the stage, so its time is that of its range on the CPU thread, and it has no share of GPU time.")
	}
	p.parts()
}

// parts are the times of the parts inside stages, all executions per pass together, and of those outside stages, per execution.
func (p *stakeholder) parts() {
	inside, order := map[string][]string{}, []string{}
	for _, r := range p.rows("stage-notes", "stage", "note", "gpu_span_mean_ns", "pass_mean_ns", "instances") {
		stage, time := r.Text("stage"), "pass_mean_ns"
		if stage == outside {
			time = "gpu_span_mean_ns"
		}
		text := typeset.Null
		if ns, ok := r.Finite(time); ok {
			text = typeset.Nanoseconds(ns)
		}
		if inside[stage] == nil {
			order = append(order, stage)
		}
		inside[stage] = append(inside[stage], escaped(r.Text("note"))+" "+text)
	}
	for _, stage := range order {
		where, each := "Inside "+escaped(stage)+", as part of its time", "pass"
		if stage == outside {
			where, each = "Outside any stage", "execution"
		}
		p.line("\n%s: %s (mean per %s).", where, strings.Join(inside[stage], ", "), each)
	}
}

// outside is the stage of what happens outside all stages.
const outside = "(none)"

// utilisation is how far from the hardware's limit each part is.
func (p *stakeholder) utilisation() {
	p.title("MFU")
	list := p.rows("mfu", "stage", "mfu_ratio", "mbu_ratio", "is_least", "precision", "convention", "time_basis", "part_of")
	if len(list) == 0 {
		p.unknown(p.whyNoFigures("mfu"))
		return
	}
	slices.SortStableFunc(list, func(x, y answered) int { return scopePlace(x) - scopePlace(y) })
	t := figures("Scope", "MFU", "MBU")
	for _, r := range list {
		name := r.Text("stage")
		switch {
		case name == "model":
			name = "Model-level"
		case r.Text("part_of") != "":
			name += " (part of " + r.Text("part_of") + ")"
		}
		t.AddRow(name, ratioText(r, "mfu_ratio"), ratioText(r, "mbu_ratio"))
		if r.Has("alone_time_ns") && r.Number("alone_time_ns") != nil {
			t.AddRow(name+", without a profiler", ratioText(r, "alone_mfu_ratio"), ratioText(r, "alone_mbu_ratio"))
		}
	}
	t.Markdown(p.out)
	p.line("\nMFU is the arithmetic that the model needs, as a share of what the GPU can do in that time. MBU is the same for reading memory; decode is judged by it. 100 %% is the limit of the hardware.")
	if slices.ContainsFunc(list, func(r answered) bool { return r.value("mfu_ratio") != nil }) {
		p.line("Peak: dense %s; counting convention: %s; time: %s. %s", escaped(list[0].Text("precision")), conventionText(list[0].Text("convention")), basisText(list[0].Text("time_basis")), p.query("mfu"))
	}
	for _, r := range list {
		if r.Text("part_of") != "" && r.value("mfu_ratio") == nil {
			p.line("\nMFU of %s is not known: its operations were not counted.", escaped(r.Text("stage")))
		}
	}
	said := map[string]bool{}
	for _, s := range p.s.Stages {
		if s.MFU == nil && !said[s.Unknown] {
			said[s.Unknown] = true
			p.line("\nMFU of %s is not known: %s", escaped(s.Stage), escaped(s.Unknown))
		}
	}
}

// conventionText says how attention is counted.
func conventionText(convention string) string {
	switch convention {
	case "full":
		return "full (attention of every token to every other, as PyTorch counts)"
	case "causal":
		return "causal (attention of each token to those before it)"
	}
	return escaped(convention)
}

// basisText says what time is taken.
func basisText(basis string) string {
	if basis == "gpu_span" {
		return "from the first to the last GPU work of a pass"
	}
	return escaped(basis)
}

func scopePlace(r answered) int {
	if at := slices.Index([]string{"model", "vision", "prefill", "decode"}, r.Text("stage")); at >= 0 {
		return at
	}
	return 4
}

func ratioText(r answered, column string) string {
	if x, ok := r.Finite(column); ok {
		return words.UseText(x, r.Is("is_least"))
	}
	return "unknown"
}

// takeaways say what bounds each stage, and what the time goes to.
func (p *stakeholder) takeaways() {
	p.title("Stage Takeaways")
	for _, s := range p.g.Stages {
		see := typeset.MarkdownSpan(s.Command)
		if s.Bound == judge.UnknownBound.Label() {
			p.line("- **What bounds %s is not known**: %s. See %s", typeset.MarkdownText(s.Name), typeset.MarkdownText(s.whole()), see)
			continue
		}
		p.line("- **%s %s**: %s. %s. See %s", typeset.MarkdownText(typeset.Sentence(s.Name)), typeset.MarkdownText(s.Says), typeset.MarkdownText(s.Meaning), typeset.MarkdownText(typeset.Sentence(s.whole())), see)
	}
	if len(p.g.Stages) == 0 {
		p.line("%s", typeset.MarkdownLine(p.g.Lead))
	}
	writeBreakdown(p.out, p.g.Breakdown)
}

// topRows is how many operators and kernels the page names.
const topRows = 5

func (p *stakeholder) operators() {
	p.title("Top Operators")
	list := p.rows("top-operators", "operator", "calls", "total_cpu_ns", "total_device_ns")
	if len(list) == 0 {
		p.line("%s", typeset.MarkdownLine(typeset.Neutral(p.noOperators())))
		return
	}
	t := tableOf(list[:min(len(list), topRows)], []column{
		{"Operator", code, func(r answered) string {
			return typeset.Shorten(typeset.Neutral(words.OperatorName(r.Text("operator"))), typeset.LongName, 60)
		}},
		{"Total ms", number, fixedOf("total_cpu_ns", nsPerMs, 3)},
		{"CUDA ms", number, fixedOf("total_device_ns", nsPerMs, 3)},
		{"Calls", number, wordOf("calls")},
		{"Mean ms", number, meanOfCalls("total_cpu_ns")},
	})
	t.Markdown(p.out)
	p.line("\nAn operator is a step of the model's program, such as a matrix product. Total is its time on the CPU, CUDA that of its work on the GPU. %s", p.query("top-operators"))
	if kinds := p.sourceKinds(); kinds["torch"] && counted(kinds) != "torch" {
		p.line("\nOperators come from the PyTorch profiler's trace, all other times from the %s: these are two executions of the program, maybe with a different number of passes.",
			map[string]string{"nsys": "Nsight Systems capture", "prof": "recording of prof's tracer"}[counted(kinds)])
	}
}

func (p *stakeholder) kernels() {
	p.title("Top Kernels")
	list := p.rows("top-kernels", "kernel", "calls", "total_ns", "mean_ns")
	if len(list) == 0 {
		p.line("No kernels: %s", escaped(p.whyNone("top-kernels")))
		return
	}
	list = list[:min(len(list), topRows)]
	var names []string
	for _, r := range list {
		names = append(names, typeset.Neutral(r.Text("kernel")))
	}
	short, on := typeset.Kernels(names, typeset.LongName), p.kernelDevices()
	t := tableOf(list, []column{
		{"Kernel", code, func(r answered) string { return short(typeset.Neutral(r.Text("kernel"))) }},
		{"Total ms", number, fixedOf("total_ns", nsPerMs, 3)},
		{"Calls", number, wordOf("calls")},
		{"Mean ms", number, fixedOf("mean_ns", nsPerMs, 6)},
		{"Device", number, func(r answered) string { return deviceList(on[r.Text("kernel")]) }},
	})
	t.Markdown(p.out)
	p.line("\nA kernel is a program that runs on the GPU. Long names are shortened here; kernels.md has them in full. %s", p.query("top-kernels"))
}

// recommendations are what to try, each with its number and the command that shows what it follows from.
func (p *stakeholder) recommendations() {
	p.title("Recommendations")
	if len(p.g.Advice) == 0 {
		p.line("%s", words.NoFindings(p.Frame("findings")))
		return
	}
	writeAdvice(p.out, p.g.Advice, false)
	if p.g.Advice[0].Title != "" {
		p.line("\nSavings are upper bounds (at most) or estimates (about), each on its own: they overlap, so do not add them up.")
	}
}
