package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

// Stakeholder writes stakeholder_summary.md: one page in plain words for a reader without tools. Its sections stand in the order in
// which such summaries have always had them; what is not known is said in its place, and each figure names its query.
func Stakeholder(w io.Writer, r *judge.Report) error {
	s, err := r.Summary()
	if err != nil {
		return err
	}
	g, err := newGlance(r)
	if err != nil {
		return err
	}
	if g == nil {
		return fmt.Errorf("query stakeholder_summary.md: the report was made without the queries stages and accounting")
	}
	p := stakeholder{r: r, s: s, g: g}
	fmt.Fprintf(&p.out, "# %s: summary\n\n%s\n", typeset.MarkdownText(typeset.Neutral(reportTitle(r))), typeset.MarkdownLine(g.Lead))
	for _, part := range []func() error{p.about, p.environment, p.aggregates, p.stages, p.utilisation, p.takeaways, p.operators, p.kernels, p.recommendations} {
		if err := part(); err != nil {
			return err
		}
	}
	writeDoubts(&p.out, "\n## How far to trust this\n\n", g.Doubts)
	p.out.WriteString("\nWarm-up passes are left out of all times but those of operators and kernels. The same figures in full, with the query behind each, are in report.html and report.md.\n")
	_, err = w.Write(p.out.Bytes())
	return err
}

// stakeholder is the page as it is written.
type stakeholder struct {
	r   *judge.Report
	s   judge.Summary
	g   *glance
	out bytes.Buffer
}

func (p *stakeholder) title(text string) { p.out.WriteString("\n## " + text + "\n\n") }

func (p *stakeholder) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// table writes rows of cells that are Markdown already, the first of them words and others numbers.
func (p *stakeholder) table(titles []string, rows [][]string) {
	rule := []string{"---"}
	for range titles[1:] {
		rule = append(rule, "---:")
	}
	for _, row := range append([][]string{titles, rule}, rows...) {
		typeset.MarkdownRow(&p.out, row)
	}
}

// about says what was run and when: the time is the run's own, so that the file is the same whenever it is written.
func (p *stakeholder) about() error {
	p.out.WriteString("\n")
	for _, key := range [][2]string{{"captured", "Generated"}, {"command", "What was run"}, {"model", "Model"}} {
		at := slices.IndexFunc(p.r.Facts, func(f [2]string) bool { return f[0] == key[0] })
		value := "not known"
		if at >= 0 {
			value = p.r.Facts[at][1]
		}
		if at >= 0 && key[0] == "captured" {
			value = "from the capture of " + value
		}
		p.line("- %s: %s", key[1], typeset.MarkdownLine(typeset.Neutral(value)))
	}
	return nil
}

// environment names the GPUs and what they can do at most.
func (p *stakeholder) environment() error {
	p.title("Environment")
	devices, err := answers(p.r, "devices", "name", "device", "kernel_count")
	if err != nil {
		return err
	}
	names, count := []string{}, map[string]map[int64]bool{}
	for _, d := range devices {
		name := d.Text("name")
		if name == "" {
			continue
		}
		if count[name] == nil {
			names, count[name] = append(names, name), map[int64]bool{}
		}
		count[name][d.Count("device")] = true
	}
	device := []string{}
	for _, name := range names {
		text := typeset.Neutral(name)
		if n := len(count[name]); n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		device = append(device, text)
	}
	if len(device) == 0 {
		device = []string{"not known: the capture does not name it"}
	}
	rows := [][]string{{"Device", typeset.MarkdownText(strings.Join(device, ", "))}}
	for _, peak := range []func() ([]string, error){p.peakFlop, p.peakBandwidth} {
		row, err := peak()
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	facts, err := answers(p.r, "facts", "key", "value")
	for _, f := range facts {
		if f.Text("key") == "driver.version" {
			rows = append(rows, []string{"Driver", typeset.MarkdownText(typeset.Neutral(f.Text("value")))})
			break
		}
	}
	for _, row := range append([][]string{{"Key", "Value"}, {"---", "---"}}, rows...) {
		typeset.MarkdownRow(&p.out, row)
	}
	return err
}

// peakFlop words the limit that MFU is measured by: of the GPUs that worked in a pass together.
func (p *stakeholder) peakFlop() ([]string, error) {
	rows, err := answers(p.r, "mfu", "peak_flop_per_s", "precision", "peak_origin", "device_count")
	at := slices.IndexFunc(rows, func(r answered) bool { return r.value("peak_flop_per_s") != nil })
	if at < 0 {
		return []string{"Peak TFLOPs", "not known"}, err
	}
	r := rows[at]
	text := fmt.Sprintf("%s TFLOP/s, dense %s", r.fixed("peak_flop_per_s", 1e12, 2), typeset.Neutral(r.Text("precision")))
	if n := r.Count("device_count"); n > 1 {
		text += fmt.Sprintf(", %d GPUs together", n)
	}
	if origin := r.Text("peak_origin"); origin != "" {
		text += " (" + typeset.Neutral(origin) + ")"
	}
	return []string{"Peak TFLOPs", typeset.MarkdownText(text)}, err
}

// peakBandwidth words the limit that MBU is measured by.
func (p *stakeholder) peakBandwidth() ([]string, error) {
	rows, err := answers(p.r, "mbu", "peak_bytes_per_s")
	at := slices.IndexFunc(rows, func(r answered) bool { return r.value("peak_bytes_per_s") != nil })
	if at < 0 {
		return []string{"Peak memory bandwidth", "not known"}, err
	}
	return []string{"Peak memory bandwidth", rows[at].fixed("peak_bytes_per_s", 1e9, 0) + " GB/s"}, err
}
