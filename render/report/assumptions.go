package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

// assumptions makes assumptions.md: sections of lines, each with the query that shows what it says.
type assumptions struct {
	r     *judge.Report
	title string // of the section that lines are added to
	out   bytes.Buffer
	begun bool // whether the section has a line yet
}

// ReportAssumptions writes assumptions.md: what the figures of a run rest on, in the original's sections and prof's own, each line with the
// query that shows it. A section that has nothing to say of this run is left out.
func ReportAssumptions(w io.Writer, r *judge.Report) error {
	a := &assumptions{r: r}
	a.out.WriteString("# Assumptions\n\nWhat the figures of this run rest on. In brackets stands the query that shows it: `prof query NAME --run RUN`.\n")
	for _, part := range []struct {
		title string
		write func() error
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
		a.title, a.begun = part.title, false
		if err := part.write(); err != nil {
			return err
		}
	}
	_, err := w.Write(a.out.Bytes())
	return err
}

// say adds a line to the section; key names the query that shows it, "" where it is a definition.
func (a *assumptions) say(key, format string, args ...any) {
	if !a.begun {
		a.out.WriteString("\n## " + a.title + "\n\n")
		a.begun = true
	}
	a.out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(fmt.Sprintf(format, args...))))
	if f := a.r.Frame(key); f != nil && f.Query != "" {
		a.out.WriteString(" (" + typeset.MarkdownCode(sourceOf(f)) + ")")
	}
	a.out.WriteString("\n")
}

// none says in place of lines why an answer has no rows.
func (a *assumptions) none(key, what string) {
	a.say(key, "%s: not known: %s.", what, whyNone(a.r, key))
}

func (a *assumptions) runLines() error {
	rows, err := answers(a.r, "run-details", "run", "run_id", "started_at", "host", "command")
	if err != nil {
		return err
	}
	for _, row := range rows {
		a.say("run-details", "Run: %s, id %s, captured %s on %s.", row.Text("run"), row.Text("run_id"), orUnknown(row.value("started_at"), " UTC"), orUnknown(row.value("host"), ""))
		a.say("run-details", "Command: %s", orUnknown(row.value("command"), ""))
	}
	if rows, err = answers(a.r, "devices", "source_id", "device", "name", "compute_capability"); err != nil {
		return err
	}
	for _, row := range rows {
		a.say("devices", "Device: GPU %d of source %d is %s, compute capability %s.", row.Count("device"), row.Count("source_id"), orUnknown(row.value("name"), ""), orUnknown(row.value("compute_capability"), ""))
	}
	gpus, err := gpuNames(a.r)
	if err != nil {
		return err
	}
	for _, g := range gpus {
		if text := g.saying(); text != "" {
			a.say("devices", "%s.", text)
		}
	}
	if rows, err = answers(a.r, "stages", "stage", "passes", "warmup_passes"); err != nil {
		return err
	}
	for _, row := range rows {
		a.say("stages", "Passes of %s: %d measured, %d left out as warm-up or cold.", row.Text("stage"), row.Count("passes"), row.Count("warmup_passes"))
	}
	if len(rows) == 0 {
		a.none("stages", "Passes of stages")
	}
	if err := a.each("Batch", "batch_count", "sequences"); err != nil {
		return err
	}
	if rows, err = answers(a.r, "models", "name", "family", "dtype", "is_counted"); err != nil {
		return err
	}
	for _, row := range rows {
		if row.Is("is_counted") {
			said := "names no precision"
			if dtype := row.Text("dtype"); dtype != "" {
				said = "says the precision " + dtype
			}
			a.say("models", "Model: %s (%s); its configuration %s.", row.Text("name"), row.Text("family"), said)
		}
	}
	a.say("", "Not captured: epochs, samples of an epoch, random order and seed are the workload's own, and its command line is all that tells them.")
	return nil
}

func orUnknown(v any, after string) string {
	if v == nil {
		return "(not known)"
	}
	return fmt.Sprint(v) + after
}

// each says what the passes of the workload have of a number: one value where all are alike.
func (a *assumptions) each(what, column, unit string) error {
	key := "workload-passes"
	rows, err := answers(a.r, key, "pass", column, "is_warmup")
	if err != nil {
		return err
	}
	var values []string
	for _, row := range rows {
		v := orUnknown(row.value(column), "")
		if len(values) == 0 || values[len(values)-1] != v {
			values = append(values, v)
		}
	}
	if len(values) == 0 || len(values) == 1 && values[0] == "(not known)" {
		a.say(key, "%s: not known: no facts of the workload tell it.", what)
		return nil
	}
	a.say(key, "%s (%s): %s, in the passes that the workload tells of.", what, unit, strings.Join(values, ", then "))
	return nil
}

func (a *assumptions) decoding() error {
	if err := a.each("Decode steps after the prompt", "decode_count", "each sequence"); err != nil {
		return err
	}
	a.say("", "The first token comes from the logits of the prefill: it is no decode step and not among the decoded tokens.")
	a.say("", "Not captured: the greatest number of new tokens, temperature, sampling, n-gram rules and when a sequence stops.")
	return nil
}

func (a *assumptions) preprocessing() error {
	for _, of := range [][3]string{{"Tokens of each prompt", "prefill_count", "image tokens included"}, {"Images", "image_count", "each prompt"}, {"Crops beside the global view", "crop_count", "each image"}} {
		if err := a.each(of[0], of[1], of[2]); err != nil {
			return err
		}
	}
	if s := a.r.Static; s != nil && s.ImageTokens != nil {
		a.say("models", "An image takes %d positions of the prompt, crops left out, by the model's configuration.", *s.ImageTokens)
	}
	a.say("", "Not captured: sizes to which images are scaled and how they are normalised.")
	return nil
}

func (a *assumptions) dataset() error {
	rows, err := answers(a.r, "inputs", "path", "sha256")
	if err != nil {
		return err
	}
	unread := 0
	for _, row := range rows {
		if row.value("sha256") == nil {
			unread++
		}
	}
	switch {
	case len(rows) == 0:
		a.say("inputs", "No files of the workload were named (prof capture --input): whether two runs read the same data and weights is not known.")
	case unread > 0:
		a.say("inputs", "Files given: %d, of which %d could not be read: whether these are those of another run is not known.", len(rows), unread)
	default:
		a.say("inputs", "Files given: %d, each with its SHA-256.", len(rows))
	}
	if rows, err = answers(a.r, "workload-passes", "pass", "is_warmup"); err != nil {
		return err
	}
	warm := 0
	for _, row := range rows {
		if row.Is("is_warmup") {
			warm++
		}
	}
	switch {
	case len(rows) == 1 && rows[0].value("pass") == nil:
		a.say("workload-passes", "The facts of the workload hold for every pass alike.")
	case len(rows) > 0:
		a.say("workload-passes", "The facts of the workload list %d passes, %d of them to warm up.", len(rows), warm)
	}
	return nil
}
