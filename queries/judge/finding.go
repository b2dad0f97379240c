package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/schema/facts/sql/findings"
	"prof/schema/terms"
)

// Finding is what a rule of finding-rules found: what could make the work faster, and by how much at most or about.
type Finding struct {
	ID                          string // name of the rule
	Rank                        int64
	Title                       string
	Stage                       string // "" for all device work
	Device                      int64  // where it could save most
	DeviceCount, RunDeviceCount int64  // GPUs on which it is worth a word, and that the run's passes have work on
	Subject                     string // kernel, family, function, operation or ranges that it is most about; "" for none
	SavingNs, SpanNs            int64  // what could be saved, of the spans of the passes, over all of them
	Passes                      int64
	ShareRatio                  float64
	PassSavingNs, PassSpanNs    float64 // the same of the median pass on the GPU; of all device work as above
	IsByPath                    bool    // PassSavingNs is by the critical path
	Gain                        Gain
	Bound                       string           // "at most" or "about"
	Evidence                    string           // the numbers it follows from, in words
	Advice                      string           // what to do, fitted to what the run shows beyond it
	Query, Command, Detail      string           // SQL of the rows behind it, the same as a command, and a command that shows more; Detail is "" for none
	Open                        string           // command that opens the timeline at its place
	Figures                     findings.Figures // what it follows from
}

// found is what its words need.
func (x Finding) found() findings.Found {
	return findings.Found{Stage: x.Stage, Subject: x.Subject, SavingNs: x.SavingNs, Passes: x.Passes, IsByPath: x.IsByPath}
}

// Numbers are the figures by name, as JSON has them.
func (x Finding) Numbers() map[string]any {
	var out map[string]any
	if text, err := json.Marshal(x.Figures); err == nil {
		json.Unmarshal(text, &out)
	}
	return out
}

// readFindings reads the findings.
func (s *summariser) readFindings() (err error) {
	s.out.Findings, err = s.findingsOf(s.answer("findings"))
	return err
}

// findingsOf reads an answer of findings, and words it.
func (s *summariser) findingsOf(f *frame.Frame) ([]Finding, error) {
	list, err := findingRows.Of(f)
	if err != nil {
		return nil, fmt.Errorf("summary of %s: %w", s.r.Name, err)
	}
	rules, err := read(s, ruleRows)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, r := range list {
		x := Finding{ID: r.Finding, Rank: r.Rank, Title: r.Title, Stage: r.Stage, Device: r.Device, DeviceCount: r.DeviceCount, RunDeviceCount: r.RunDeviceCount,
			Subject: r.Subject, SavingNs: r.SavingNs, SpanNs: r.SpanNs, Passes: r.Passes, ShareRatio: r.ShareRatio, Bound: r.Bound, Advice: r.Advice,
			PassSavingNs: r.PassSavingNs, PassSpanNs: r.PassSpanNs, IsByPath: r.IsByPath}
		if x.Figures, err = findings.ReadFigures(r.Finding, r.Evidence); err != nil {
			return nil, fmt.Errorf("summary of %s: %w", s.r.Name, err)
		}
		x.Evidence = x.Figures.Words(x.found())
		if x.Stage != "" && x.Passes > 1 { // what could be gained is of the median pass
			x.Evidence = fmt.Sprintf("over %d passes, %s", x.Passes, x.Evidence)
		}
		if i := slices.IndexFunc(rules, func(r ruleRow) bool { return r.Finding == x.ID }); i >= 0 {
			s.point(&x, rules[i])
		}
		out = append(out, x)
	}
	return out, nil
}

// point says where the rows behind a finding are, by its rule.
func (s *summariser) point(x *Finding, rule ruleRow) {
	query, options := rule.Query, strings.Fields(rule.Options)
	if query == "pass-accounting" && x.Stage == "" {
		query = "accounting"
	}
	values := map[string]string{"stage": x.Stage, "device": fmt.Sprint(x.Device), "kernel": x.Subject, "source": s.r.Source, "by": "family", "top": "0"}
	filled := func(names ...string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(options, name) || values[name] == "" })
	}
	list := []string{sqlText(s.name)}
	for _, name := range filled("top", "by", "stage", "device", "kernel", "source") {
		value := values[name]
		if name != "top" && name != "device" {
			value = sqlText(value)
		}
		list = append(list, name+" := "+value)
	}
	var given []string
	for _, name := range filled("stage", "device", "kernel", "by", "top", "source") {
		given = append(given, name, values[name])
	}
	x.Query, x.Command = fmt.Sprintf("FROM %s(%s)", strings.ReplaceAll(query, "-", "_"), strings.Join(list, ", ")), s.command(query, given...)
	x.Open = commandOf("prof open", s.name, "stage", x.Stage, "device", fmt.Sprint(x.Device), "cause", causeOf(x.ID), "find", shownKernel(x.Subject, rule.Subject), "source", s.r.Source)
	switch detail := rule.Detail; detail {
	case "":
	case "stragglers":
		if n, is := x.Figures.(findings.ExposedCollectives); is && n.RankCount > 1 {
			x.Detail = s.command(detail, "source", s.r.Source)
		}
	case "gaps":
		x.Detail = s.command(detail, "stage", x.Stage, "device", fmt.Sprint(x.Device), "cause", causeOf(x.ID), "source", s.r.Source)
	default:
		x.Detail = s.command(detail, "stage", x.Stage, "source", s.r.Source)
	}
}

// causeOf is the cause of idle time that a rule is about, by its name; "" for none.
func causeOf(rule string) string {
	if _, is := terms.CauseNamed(rule); is {
		return rule
	}
	return ""
}

// longFind is the longest name of a kernel that a command has: of a longer one the pass is shown.
const longFind = 60

// shownKernel is the kernel that a finding is about, to be searched on the timeline; "" for none, or where its name would fill the screen.
func shownKernel(subject, kind string) string {
	if kind != "kernel" || len(subject) > longFind {
		return ""
	}
	return subject
}

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Findings returns the findings that were asked for.
func (r *Report) Findings() ([]Finding, error) {
	_, err := r.Summary()
	return r.worded, err
}

// FindingsTable returns them as rows, with words and commands; nil where they were not asked for.
func (r *Report) FindingsTable() (*frame.Frame, error) {
	raw := r.Frame("findings")
	if raw == nil {
		return nil, nil
	}
	findings, err := r.Findings()
	if err != nil {
		return nil, err
	}
	f := &frame.Frame{Query: raw.Query, Version: raw.Version, SQL: raw.SQL, Caveats: raw.Caveats, Notes: raw.Notes, Columns: slices.Clone(raw.Columns)}
	f.Columns[f.Index("evidence")].Doc = "the numbers behind it, in words"
	for _, c := range [][2]string{{"evidence_query", "SQL of the rows behind it"}, {"command", "command that shows it"}, {"detail_command", "command that shows more detail; NULL when there is none"}} {
		f.Columns = append(f.Columns, frame.Column{Name: c[0], Type: frame.Text, Doc: c[1]})
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	for i, x := range findings {
		row := slices.Concat(raw.Rows[i], []any{orNull(x.Query), orNull(x.Command), orNull(x.Detail)})
		row[f.Index("title")], row[f.Index("evidence")], row[f.Index("advice")] = x.Title, x.Evidence, x.Advice
		f.Rows = append(f.Rows, row)
	}
	return f, nil
}

// Gain is what a stage takes, in the unit that users count in, and what it would take without what a finding is about. All that says what could be
// gained says it by this, so that there is one number.
type Gain struct {
	NowNs, ThenNs float64
	Per           string // token, of a decode that says how many it makes, or pass; "" of all device work
	Bound         string // of the finding: at most or about
}

// gainOf is the gain of a finding: of the stage's median pass, by what it could save on its GPU, whose part of the pass may be shorter.
func (s *summariser) gainOf(x Finding) Gain {
	g := Gain{NowNs: x.PassSpanNs, Bound: x.Bound}
	if x.Stage != "" {
		g.Per = "pass"
	}
	span := x.PassSpanNs
	for _, stage := range s.out.Stages {
		if stage.Stage != x.Stage || stage.IsCPU {
			continue
		}
		span = max(span, stage.MedianNs)
		if g.NowNs = stage.MedianNs; stage.Token != nil {
			g.NowNs, g.Per = stage.Token.Ns, "token"
		}
	}
	g.ThenNs = g.NowNs
	if span > 0 {
		g.ThenNs *= 1 - x.PassSavingNs/span
	}
	return g
}

// Ratio is how much less it would take, as a share.
func (g Gain) Ratio() float64 {
	if g.NowNs <= 0 {
		return 0
	}
	return 1 - g.ThenNs/g.NowNs
}

func (g Gain) unit() string {
	switch g.Per {
	case "":
		return ""
	case "token":
		return "/token"
	}
	return " per " + g.Per
}

// Text words it: 18.2 -> 2.49 ms/token at best.
func (g Gain) Text() string {
	now, then := DurationText(g.NowNs), DurationText(g.ThenNs)
	if now == then {
		return fmt.Sprintf("less than 1 %% of %s%s", now, g.unit())
	}
	number, unit, _ := strings.Cut(now, " ")
	if strings.HasSuffix(then, " "+unit) {
		now = number
	}
	text := fmt.Sprintf("%s -> %s%s", now, then, g.unit())
	if g.Bound == findings.About {
		return "about " + text
	}
	return text + " at best"
}
