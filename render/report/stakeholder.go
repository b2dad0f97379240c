package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// stakeholder is what the page stakeholder_summary.md is made from.
type stakeholder struct {
	*reader
	s judge.Summary
	g *glance
}

// stakeholderFile is stakeholder_summary.md: one page in plain words for a reader without tools, so without commands and names of programs'
// functions, in numbers of three digits. Its sections stand in the order in which such
// summaries have always had them; what is not known is said in its place, and each figure names its query.
func stakeholderFile(r *reader) doc.Document {
	s, err := r.Summary()
	r.keep(err)
	g, err := newGlance(r.Report)
	r.keep(err)
	if g == nil {
		r.keep(errors.New("query stakeholder_summary.md: the report was made without the queries stages and accounting"))
		return doc.Document{}
	}
	p := stakeholder{r, s, g}
	d := doc.Document{Title: typeset.Neutral(reportTitle(r.Report)) + ": summary", IsFile: true, Blocks: []doc.Block{
		doc.Lead{Text: g.Lead}, p.about()}}
	if len(g.Serving) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: "Serving", Blocks: []doc.Block{g.Serving, say("TTFT is the time from sending a request to its first token, TPOT the time per token after that, ITL the time between tokens, E2E that of a whole request: medians, and 99th percentiles in brackets. %s", p.query("serving"))}})
	}
	d.Blocks = append(d.Blocks,
		doc.Section{Title: "Environment", Blocks: p.environment()},
		doc.Section{Title: "Aggregates", Blocks: p.aggregates()},
		doc.Section{Title: "Per-Stage Timings", Blocks: p.stages()},
		doc.Section{Title: "MFU", Blocks: p.utilisation()},
		doc.Section{Title: "Stage Takeaways", Blocks: p.takeaways()},
		doc.Section{Title: "Top Operators", Blocks: p.operators()},
		doc.Section{Title: "Top Kernels", Blocks: p.kernels()},
		doc.Section{Title: "Recommendations", Blocks: p.recommendations()},
	)
	if len(g.Doubts) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: "How far to trust this", Blocks: []doc.Block{doc.List{Items: sentences(g.Doubts)}}})
	}
	d.Blocks = append(d.Blocks, say("All times exclude warm-up passes, except those of operators. Numbers have three digits, counts of calls all. The same figures in full, with the query behind each, are in report.html and report.md."))
	return d
}

// say is a paragraph.
func say(format string, args ...any) doc.Text {
	return doc.Text(typeset.Neutral(fmt.Sprintf(format, args...)))
}

// query names the query behind an answer.
func (p *stakeholder) query(key string) string { return "Query " + sourceOf(p.Frame(key)) }

// notKnown says in place of a section why there is none.
func notKnown(why string) []doc.Block { return []doc.Block{say("Not known: %s", why)} }

// figures begins a table of a column of words and columns of numbers.
func figures(first string, others ...string) table.Table {
	t := table.Table{Columns: []table.Column{plain(first)}}
	for _, title := range others {
		t.Columns = append(t.Columns, number(title))
	}
	return t
}

// about says what was run and when: the time is the run's own, so that the file is the same whenever it is written.
func (p *stakeholder) about() (facts doc.Facts) {
	for _, key := range [][3]string{{"captured", "Generated", "from the capture of "}, {"command", "What was run"}, {"model", "Model"}} {
		value := "not known"
		if at := slices.IndexFunc(p.Facts, func(f [2]string) bool { return f[0] == key[0] }); at >= 0 {
			value, _, _ = strings.Cut(key[2]+p.Facts[at][1], "; see prof ")
		}
		if models := read(p.reader, modelRows); key[0] == "model" && len(models) == 1 && models[0].ParameterCount != nil {
			value = models[0].words()
		}
		facts = append(facts, [2]string{key[1], typeset.Neutral(value)})
	}
	return facts
}

// words are what the model is.
func (m modelRow) words() string {
	text := m.Name
	if m.Family != "" && m.Family != m.Name {
		text += " (" + m.Family + ")"
	}
	text += ", " + large(*m.ParameterCount) + " parameters"
	if m.ActiveParameterCount != nil && *m.ActiveParameterCount != *m.ParameterCount {
		text += ", " + large(*m.ActiveParameterCount) + " of them at work on a token"
	}
	return text
}

// large words a number with three digits.
func large(n int64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}} {
		if float64(n) >= unit.of {
			return threeDigits(float64(n)/unit.of) + unit.name
		}
	}
	return threeDigits(float64(n))
}

// threeDigits writes a number with three digits; what its whole part has beyond them is 0.
func threeDigits(x float64) string {
	if size := math.Abs(x); size >= 1000 {
		step := math.Pow(10, math.Floor(math.Log10(size))-2)
		x = math.Round(x/step) * step
	}
	return typeset.Digits(x)
}

// three writes a number in a larger unit with three digits.
func three(x *float64, unit float64) string {
	if x = per(x, unit); x == nil {
		return typeset.Null
	}
	return threeDigits(*x)
}

// environment names the GPUs and what they can do at most.
func (p *stakeholder) environment() []doc.Block {
	var names []string
	count := map[string]map[int64]bool{}
	devices := read(p.reader, deviceRows)
	some := slices.ContainsFunc(devices, deviceRow.works)
	for _, d := range devices {
		name := d.Name
		if name == "" || some && !d.works() {
			continue
		}
		if count[name] == nil {
			names, count[name] = append(names, name), map[int64]bool{}
		}
		count[name][d.Device] = true
	}
	value := "not known: the capture does not name it"
	for i, name := range names {
		if n := len(count[name]); n > 1 {
			names[i] = fmt.Sprintf("%d × %s", n, name)
		}
		value = strings.Join(names, ", ")
	}
	t := table.Table{Columns: []table.Column{plain("Key"), plain("Value")}}
	t.AddRow("Device", value)
	t.AddRow("Peak TFLOPs", p.peakFlop())
	t.AddRow("Peak memory bandwidth", p.peakBandwidth())
	for _, f := range read(p.reader, factRows) {
		if f.Key == "driver.version" {
			t.AddRow("Driver", f.Value)
			break
		}
	}
	return []doc.Block{doc.Table{Of: t}}
}

// peakFlop words the limit that MFU is measured by: of the GPUs that worked in a pass together.
func (p *stakeholder) peakFlop() string {
	for _, r := range read(p.reader, useRows) {
		if r.peak() == nil {
			continue
		}
		text := fmt.Sprintf("%s TFLOP/s, dense %s", three(r.peak(), 1e12), r.Precision)
		if n := frame.Or(r.DeviceCount, 1); n > 1 {
			text += fmt.Sprintf(", %d GPUs together", n)
		}
		return text
	}
	var texts []string
	for _, r := range p.peaks() {
		if what := map[string]string{"tensor_bf16": "dense bf16", "fp32": "fp32 outside tensor cores"}[r.Resource]; what != "" && r.PeakFlopPerS != nil {
			texts = append(texts, three(r.PeakFlopPerS, 1e12)+" TFLOP/s, "+what)
		}
	}
	if len(texts) == 0 {
		return "not known"
	}
	return strings.Join(texts, "; ")
}

// peaks are those of one GPU where no pass says by which its work is measured; none where the run has several models of GPU.
func (p *stakeholder) peaks() []peakRow {
	rows := read(p.reader, peakRows)
	if slices.ContainsFunc(rows, func(r peakRow) bool { return r.Device != rows[0].Device }) {
		return nil
	}
	return rows
}

// peakBandwidth words the limit that MBU is measured by.
func (p *stakeholder) peakBandwidth() string {
	for _, r := range read(p.reader, bandwidthRows) {
		if r.PeakBytesPerS != nil {
			return three(r.PeakBytesPerS, 1e12) + " TB/s"
		}
	}
	for _, r := range p.peaks() {
		if r.PeakBytesPerS != nil {
			return three(r.PeakBytesPerS, 1e12) + " TB/s"
		}
	}
	return "not known"
}

// aggregates are the figures to quote, in the original's order; those that the workload measured itself come last.
func (p *stakeholder) aggregates() []doc.Block {
	list := read(p.reader, aggregateRows)
	if len(list) == 0 {
		return notKnown(p.whyNoFigures("aggregates"))
	}
	slices.SortStableFunc(list, func(x, y aggregateRow) int { return x.place() - y.place() })
	t := figures("Metric", "Median", "Mean", "Std", "n")
	same := "" // numbers of tokens that do not differ from pass to pass need no row
	for _, r := range list {
		unit := 1.0
		if r.Unit == "ns" {
			unit = nsPerMs
		}
		if r.Unit == "count" && r.Mean != nil && (r.Passes == 1 || r.Std != nil && *r.Std == 0) {
			same += fmt.Sprintf(" Tokens in each pass of %s: %s.", r.Stage, three(r.Mean, 1))
			continue
		}
		t.AddRow(r.name(), three(r.Value, unit), three(r.Mean, unit), three(r.Std, unit), fmt.Sprint(r.Passes))
	}
	t, _ = t.Known()
	return []doc.Block{doc.Table{Of: t}, say("Quote the median of the n passes; Std is their standard deviation.%s A token is a piece of a word or an image. Rates are per second of GPU time. %s", same, p.query("aggregates"))}
}

func (r aggregateRow) isPerToken() bool { return strings.HasSuffix(r.Metric, "_per_token") }

// whyNoFigures says why there are no figures of stages; that there are no stages is said where these are.
func (p *stakeholder) whyNoFigures(key string) string {
	if len(p.s.Stages) == 0 {
		return "no stage was measured, see Per-Stage Timings"
	}
	return p.whyNone(key)
}

// place puts times first, then tokens, then rates, and what the workload says of itself last.
func (r aggregateRow) place() int {
	place := slices.Index([]string{"ns", "count", "tokens_per_s"}, r.Unit)
	if r.isPerToken() {
		place = 3
	}
	if r.Basis == "workload" {
		place += 10
	}
	return place
}

// name returns a metric as the original's tables word it: Prefill ms.
func (r aggregateRow) name() string {
	what := map[string]string{"ns": "ms", "count": "tokens", "tokens_per_s": "tokens/s"}[r.Unit]
	if r.isPerToken() {
		what = "ms per token"
	}
	switch r.Basis {
	case "workload":
		what += ", by the workload"
	case "alone":
		what += ", without a profiler"
	}
	return typeset.Sentence(r.Stage) + " " + what
}

// stages are the times of stages. Vision is work inside prefill: a note, never a row.
func (p *stakeholder) stages() []doc.Block {
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
		return notKnown("all passes of " + strings.Join(p.s.WarmOnly, ", ") + " count as warm-up")
	default:
		return notKnown(p.whyNone("stages"))
	}
	out := []doc.Block{doc.Table{Of: t}, say("Prefill reads the prompt; decode writes the answer token by token. Each time is the median over n measured passes, from the first to the last GPU work of a pass; a share is of that median times n, so that one slow pass does not count for more. %s", p.query("stages"))}
	if onCPU {
		out = append(out, say("On the CPU: no GPU work can be attributed to the stage, so its time is that of its range on the CPU thread, and it has no share of GPU time."))
	}
	return append(out, p.parts()...)
}

// parts are the times of the parts inside stages, all executions per pass together, and of those outside stages, per execution.
func (p *stakeholder) parts() (out []doc.Block) {
	inside, order := map[string][]string{}, []string{}
	for _, r := range read(p.reader, noteRows) {
		stage, time := r.Stage, r.PassMeanNs
		if stage == outside {
			time = r.GPUSpanMeanNs
		}
		text := typeset.Null
		if time = typeset.Finite(time); time != nil {
			text = typeset.Nanoseconds(*time)
		}
		if inside[stage] == nil {
			order = append(order, stage)
		}
		inside[stage] = append(inside[stage], r.Note+" "+text)
	}
	for _, stage := range order {
		where, each := "Inside "+stage+", as part of its time", "pass"
		if stage == outside {
			where, each = "Outside any stage", "execution"
		}
		out = append(out, say("%s: %s (mean per %s).", where, strings.Join(inside[stage], ", "), each))
	}
	return out
}

// outside is the stage of what happens outside all stages.
const outside = "(none)"

// utilisation is how far from the hardware's limit each part is.
func (p *stakeholder) utilisation() []doc.Block {
	list := read(p.reader, useRows)
	if len(list) == 0 {
		return notKnown(p.whyNoFigures("mfu"))
	}
	slices.SortStableFunc(list, func(x, y useRow) int { return x.place() - y.place() })
	t := figures("Scope", "MFU", "MBU")
	for _, r := range list {
		name := r.Stage
		switch {
		case name == "model":
			name = "Model-level"
		case r.PartOf != "":
			name += " (part of " + r.PartOf + ")"
		}
		t.AddRow(name, r.ratio(r.MFURatio), r.ratio(r.MBURatio))
		if r.AloneTimeNs != nil {
			t.AddRow(name+", without a profiler", r.ratio(r.AloneMFURatio), r.ratio(r.AloneMBURatio))
		}
	}
	limits := "MFU is the arithmetic that the model needs, as a share of what the GPU can do in that time. MBU is the same for reading memory; decode is judged by it. 100 % is the limit of the hardware."
	if slices.ContainsFunc(list, func(r useRow) bool { return typeset.Finite(r.MFURatio) != nil }) {
		limits += fmt.Sprintf(" Peak: dense %s; counting convention: %s; time: %s. %s", list[0].Precision, conventionText(list[0].Convention), basisText(list[0].TimeBasis), p.query("mfu"))
	}
	out := []doc.Block{doc.Table{Of: t}, doc.Text(typeset.Neutral(limits))}
	if !slices.ContainsFunc(list, func(r useRow) bool { return typeset.Finite(r.MFURatio) != nil || typeset.Finite(r.MBURatio) != nil }) {
		out = []doc.Block{doc.Text("MFU and MBU of no stage are known.")}
	}
	for _, r := range list {
		if r.PartOf != "" && typeset.Finite(r.MFURatio) == nil {
			out = append(out, say("MFU of %s is not known: its operations were not counted.", r.Stage))
		}
	}
	said := map[string]bool{}
	for _, s := range p.s.Stages {
		if s.MFU == nil && !said[s.Unknown] {
			said[s.Unknown] = true
			out = append(out, say("MFU of %s is not known: %s", s.Stage, s.Unknown))
		}
	}
	return out
}

// conventionText says how attention is counted.
func conventionText(convention string) string {
	switch convention {
	case "full":
		return "full (attention of every token to every other, as PyTorch counts)"
	case "causal":
		return "causal (attention of each token to those before it)"
	}
	return convention
}

// basisText says what time is taken.
func basisText(basis string) string {
	if basis == "gpu_span" {
		return "from the first to the last GPU work of a pass"
	}
	return basis
}

func (r useRow) place() int {
	if at := slices.Index([]string{"model", "vision", "prefill", "decode"}, r.Stage); at >= 0 {
		return at
	}
	return 4
}

func (r useRow) ratio(x *float64) string {
	if x = typeset.Finite(x); x != nil {
		return words.UseText(*x, r.IsLeast)
	}
	return "unknown"
}

// takeaways say what bounds each stage, and what the time goes to.
func (p *stakeholder) takeaways() []doc.Block {
	out := []doc.Block{doc.List{Ordered: true, Items: typeset.Each(p.g.Stages, func(s glanceStage) doc.Item {
		item := doc.Item{Text: typeset.Sentence(s.Name) + " " + s.Says, Under: []string{s.Meaning, s.whole()}}
		if s.Bound == judge.UnknownBound.Label() {
			item.Text, item.Under = "What bounds "+s.Name+" is not known", item.Under[1:]
		}
		return item
	})}}
	if len(p.g.Stages) == 0 {
		out = notKnown("no stage was measured, see Per-Stage Timings")
	}
	if len(p.g.Breakdown) > 0 {
		out = append(out, say("Most of the time of all measured passes goes to, as shares of their stage:"), p.g.breakdown()[0])
	}
	return out
}

// topRows is how many operators and kernels the page names.
const topRows = 5

func (p *stakeholder) operators() []doc.Block {
	list := read(p.reader, operatorRows)
	if len(list) == 0 {
		return []doc.Block{say("%s", p.noOperators())}
	}
	t := figures("Operator", "Total ms", "CUDA ms", "Calls", "Mean")
	for _, o := range list[:min(len(list), topRows)] {
		name := words.OperatorName(o.Operator)
		name = typeset.Shorten(typeset.Neutral(name[strings.LastIndex(name, "::")+1:]), typeset.LongName, 60)
		mean := typeset.Null
		if o.Calls != nil && *o.Calls > 0 && typeset.Finite(o.TotalCPUNs) != nil {
			mean = typeset.Nanoseconds(*o.TotalCPUNs / float64(*o.Calls))
		}
		t.AddRow(strings.TrimPrefix(name, ":"), three(o.TotalCPUNs, nsPerMs), three(o.TotalDeviceNs, nsPerMs), wholeNumber(o.Calls), mean)
	}
	out := []doc.Block{doc.Table{Of: t}, say("An operator is a step of the model's program, such as a matrix product. Total is its time on the CPU, CUDA that of its work on the GPU. %s", p.query("top-operators"))}
	if kinds := p.sourceKinds(); kinds["torch"] && counted(kinds) != "torch" {
		out = append(out, say("Operators come from the PyTorch profiler's trace, all other times from the %s: these are two executions of the program, maybe with a different number of passes.",
			map[string]string{"nsys": "Nsight Systems capture", "prof": "recording of prof's tracer"}[counted(kinds)]))
	}
	return out
}

func (p *stakeholder) kernels() []doc.Block {
	families := kernelRows
	families.Query = judge.GroupedKey(kernelRows.Query, "family")
	list := read(p.reader, families)
	if len(list) == 0 {
		return []doc.Block{say("No kernels: %s", p.whyNone(kernelRows.Query))}
	}
	t := figures("Kernel", "Total ms", "Share", "Calls", "Mean")
	for _, x := range list[:min(len(list), topRows)] {
		share, mean := typeset.Null, typeset.Null
		if x.ShareRatio != nil {
			share = typeset.Percent(*x.ShareRatio)
		}
		if x.MeanNs != nil {
			mean = typeset.Nanoseconds(*x.MeanNs)
		}
		t.AddRow(strings.Trim(x.Kernel, "()"), three(x.TotalNs, nsPerMs), share, wholeNumber(&x.Calls), mean)
	}
	return []doc.Block{doc.Table{Of: t}, say("A kernel is a program that runs on the GPU; those of one kind are together here, and kernels.md has each by its name. Share is of the time of all kernels that count, listed or not. %s", p.query(families.Query))}
}

// wholeNumber groups the digits of a count.
func wholeNumber(n *int64) string {
	if n == nil {
		return typeset.Null
	}
	return typeset.Int(*n)
}

// recommendations are what to try, each with its number and the command that shows what it follows from.
func (p *stakeholder) recommendations() []doc.Block {
	if len(p.g.Advice) == 0 {
		return []doc.Block{doc.Text(words.NoFindings(p.Frame("findings")))}
	}
	out := []doc.Block{doc.List{Ordered: true, Items: typeset.Each(p.g.Advice, func(a judge.Advice) doc.Item {
		if a.Title != "" { // what the number follows from is for readers with tools
			a.Why = a.Number
		}
		item := adviceItem(a)
		item.Of, item.See = "", nil
		return item
	})}}
	if p.g.Advice[0].Title != "" {
		out = append(out, say("Savings are upper bounds (at best) or estimates (about), each on its own: they overlap, so do not add them up."))
	}
	return out
}
