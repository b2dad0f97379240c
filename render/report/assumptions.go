package report

import (
	"fmt"
	"slices"
	"strings"

	"prof/render/doc"
	"prof/render/typeset"
)

// assumptions makes assumptions.md: sections of lines, each with the query that shows what it says.
type assumptions struct {
	*reader
	items []doc.Item // of the section that lines are added to
}

// assumptionsFile is assumptions.md: what the figures of a run rest on, in the original's sections and prof's own, each line with the query that
// shows it. A section that has nothing to say of this run is left out.
func assumptionsFile(r *reader) doc.Document {
	a := &assumptions{reader: r}
	d := doc.Document{Title: "Assumptions", IsFile: true, Blocks: []doc.Block{doc.Commands{Lead: "What the figures of this run rest on. In brackets stands the query that shows it", List: []string{"prof query NAME --run RUN"}}}}
	for _, part := range []struct {
		title string
		say   func()
	}{
		{"Run Assumptions", a.runLines},
		{"Decoding Params", a.decoding},
		{"Preprocess Params", a.preprocessing},
		{"Profiling Settings", a.profiling},
		{"Dataset Selection", a.dataset},
		{"Times", a.times},
		{"Operations and utilisation", a.operations},
		{"Peaks", a.peakLines},
		{"Clocks", a.clocks},
		{"Idle time and findings", a.thresholds},
		{"What the captures could not see", a.unseen},
	} {
		a.items = nil
		if part.say(); len(a.items) > 0 {
			d.Blocks = append(d.Blocks, doc.Section{Title: part.title, Blocks: []doc.Block{doc.List{Items: a.items}}})
		}
	}
	return d
}

// say adds a line to the section; key names the query that shows it, "" where it is a definition.
func (a *assumptions) say(key, format string, args ...any) {
	text := typeset.Neutral(fmt.Sprintf(format, args...))
	if f := a.Frame(key); f != nil && f.Query != "" {
		text += " (" + sourceOf(f) + ")"
	}
	a.items = append(a.items, doc.Item{Text: text})
}

// gpuLine is what is said of a GPU, before its number and after.
type gpuLine struct {
	before string
	device int64
	after  string
}

// sayGPUs adds what is said of GPUs: of those of which the same is said one line.
func (a *assumptions) sayGPUs(key string, list []gpuLine) {
	for len(list) > 0 {
		var gpus []int64
		var rest []gpuLine
		for _, x := range list {
			if x.before == list[0].before && x.after == list[0].after {
				gpus = append(gpus, x.device)
			} else {
				rest = append(rest, x)
			}
		}
		a.say(key, "%s%s%s", list[0].before, gpuNames(gpus), list[0].after)
		list = rest
	}
}

// gpuNames names GPUs: GPU 3; GPUs 0, 2 and 5; GPUs 0 to 7.
func gpuNames(gpus []int64) string {
	first, last := gpus[0], gpus[len(gpus)-1]
	switch {
	case len(gpus) == 1:
		return fmt.Sprintf("GPU %d", first)
	case len(gpus) > 2 && slices.IsSorted(gpus) && last-first == int64(len(gpus)-1) && len(slices.Compact(slices.Clone(gpus))) == len(gpus):
		return fmt.Sprintf("GPUs %d to %d", first, last)
	}
	var names []string
	for _, g := range gpus {
		names = append(names, fmt.Sprint(g))
	}
	return "GPUs " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// none says in place of lines why an answer has no rows.
func (a *assumptions) none(key, what string) {
	a.say(key, "%s: not known: %s.", what, a.whyNone(key))
}

func (a *assumptions) runLines() {
	for _, row := range read(a.reader, runRows) {
		started := orUnknown(row.StartedAt)
		if row.StartedAt != "" {
			started += " UTC"
		}
		a.say("run-details", "Run: %s, id %s, captured %s on %s.", row.Run, row.RunID, started, orUnknown(row.Host))
		a.say("run-details", "Command: %s", orUnknown(row.Command))
	}
	var devices []gpuLine
	for _, row := range read(a.reader, deviceRows) {
		devices = append(devices, gpuLine{fmt.Sprintf("Device: source %d has ", row.SourceID), row.Device, fmt.Sprintf(", %s, compute capability %s.", orUnknown(row.Name), orUnknown(row.Capability))})
	}
	a.sayGPUs("devices", devices)
	for _, g := range a.gpuNames() {
		if text := g.saying(); text != "" {
			a.say("devices", "%s.", text)
		}
	}
	stages := read(a.reader, stageRows)
	for _, row := range stages {
		a.say("stages", "Passes of %s: %d measured, %d excluded as warm-up or cold.", row.Stage, row.Passes, row.WarmupPasses)
	}
	if len(stages) == 0 {
		a.none("stages", "Passes of stages")
	}
	a.each("Batch", func(p workloadRow) *int64 { return p.Batch }, "sequences")
	for _, row := range read(a.reader, modelRows) {
		if !row.IsCounted {
			continue
		}
		precision := "no precision"
		if row.DType != "" {
			precision = "the precision " + row.DType
		}
		a.say("models", "Model: %s (%s); its configuration names %s.", row.Name, row.Family, precision)
	}
	a.say("", "Not captured: epochs, samples per epoch, shuffling and random seed. Only the command line can show them.")
}

// each says what the passes of the workload have of a number: one value where all are alike.
func (a *assumptions) each(what string, of func(workloadRow) *int64, unit string) {
	const key = "workload-passes"
	var values []string
	for _, row := range read(a.reader, workloadRows) {
		v := orUnknown("")
		if n := of(row); n != nil {
			v = fmt.Sprint(*n)
		}
		if len(values) == 0 || values[len(values)-1] != v {
			values = append(values, v)
		}
	}
	if len(values) == 0 || len(values) == 1 && values[0] == orUnknown("") {
		a.say(key, "%s: not known: the workload's facts do not include it.", what)
		return
	}
	a.say(key, "%s (%s): %s, by the workload's facts.", what, unit, strings.Join(values, ", then "))
}

func (a *assumptions) decoding() {
	a.each("Decode steps after the prompt", func(p workloadRow) *int64 { return p.Decode }, "per sequence")
	a.say("", "Prefill computes the first token: it is neither a decode step nor a decoded token.")
	a.say("", "Not captured: maximum number of new tokens, temperature, sampling, n-gram rules and stop conditions.")
}

func (a *assumptions) preprocessing() {
	a.each("Tokens per prompt", func(p workloadRow) *int64 { return p.Prefill }, "image tokens included")
	a.each("Images", func(p workloadRow) *int64 { return p.Images }, "per prompt")
	a.each("Crops besides the global view", func(p workloadRow) *int64 { return p.Crops }, "per image")
	if s := a.Static; s != nil && s.ImageTokens != nil {
		a.say("models", "By the model's configuration an image takes %d tokens of the prompt, without crops.", *s.ImageTokens)
	}
	a.say("", "Not captured: how images are resized and normalised.")
}

func (a *assumptions) dataset() {
	files, unread := read(a.reader, inputRows), 0
	for _, row := range files {
		if row.SHA256 == "" {
			unread++
		}
	}
	switch {
	case len(files) == 0:
		a.say("inputs", "No input files were named (prof capture --input), so whether two runs read the same data and weights is not known.")
	case unread > 0:
		a.say("inputs", "Input files: %d, of which %d could not be read, so whether another run read the same is not known.", len(files), unread)
	default:
		a.say("inputs", "Input files: %d, each with its SHA-256.", len(files))
	}
	passes, warm := read(a.reader, workloadRows), 0
	for _, row := range passes {
		if row.IsWarmup {
			warm++
		}
	}
	switch {
	case len(passes) == 1 && passes[0].Pass == nil:
		a.say("workload-passes", "The workload's facts apply to every pass.")
	case len(passes) > 0:
		a.say("workload-passes", "The workload's facts list %s, %d of them warm-up.", typeset.Plural(int64(len(passes)), "pass", "passes"), warm)
	}
}
