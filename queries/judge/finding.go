package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
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
	SavingNs, SpanNs            int64  // what could be saved, of the spans of the passes
	Passes                      int64
	ShareRatio                  float64
	Bound                       string  // "at most" or "about"
	Evidence                    string  // the numbers it follows from, in words
	Advice                      string  // what to do, fitted to what the run shows beyond it
	Query, Command, Detail      string  // SQL of the rows behind it, the same as a command, and a command that shows more; Detail is "" for none
	Numbers                     Numbers // the numbers it follows from, by name, in base units
}

// readFindings reads the findings.
func (s *summariser) readFindings() (err error) {
	s.out.Findings, err = s.findingsOf(s.answer("findings"))
	return err
}

// findingsOf reads an answer of findings, and words it.
func (s *summariser) findingsOf(f *frame.Frame) ([]Finding, error) {
	list, err := s.rowsOf(f, "rank", "finding", "stage", "saving_ns", "share_ratio", "bound", "title", "evidence", "subject", "advice", "device", "device_count", "run_device_count", "passes", "span_ns")
	if err != nil {
		return nil, err
	}
	rules, err := s.rows("finding-rules", "finding", "query", "options", "detail")
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, r := range list {
		x := Finding{ID: r.Text("finding"), Rank: r.Count("rank"), Title: r.Text("title"), Stage: r.Text("stage"), Device: r.Count("device"), DeviceCount: r.Count("device_count"), RunDeviceCount: r.Count("run_device_count"),
			Subject: r.Text("subject"), SavingNs: r.Count("saving_ns"), SpanNs: r.Count("span_ns"), Passes: r.Count("passes"), ShareRatio: r.Amount("share_ratio"), Bound: r.Text("bound"), Advice: r.Text("advice")}
		if err := json.Unmarshal([]byte(r.Text("evidence")), &x.Numbers); err != nil {
			return nil, fmt.Errorf("summary of %s: evidence of %s: %w", s.r.Name, x.ID, err)
		}
		if words := findingWords[x.ID]; words != nil {
			x.Evidence = words(x)
		}
		if i := slices.IndexFunc(rules, func(r frame.Record) bool { return r.Text("finding") == x.ID }); i >= 0 {
			s.point(&x, rules[i])
		}
		out = append(out, x)
	}
	return out, nil
}

// point says where the rows behind a finding are, by its rule.
func (s *summariser) point(x *Finding, rule frame.Record) {
	query, options := rule.Text("query"), strings.Fields(rule.Text("options"))
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
	switch detail := rule.Text("detail"); detail {
	case "":
	case "stragglers":
		if x.Numbers.count("rank_count") > 1 {
			x.Detail = s.command(detail, "source", s.r.Source)
		}
	case "gaps":
		x.Detail = s.command(detail, "stage", x.Stage, "device", fmt.Sprint(x.Device), "source", s.r.Source)
	default:
		x.Detail = s.command(detail, "stage", x.Stage, "source", s.r.Source)
	}
}

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// FindingsFrame returns the findings that were asked for as rows, in words; nil where they were not.
func (r *Report) FindingsFrame() (*frame.Frame, error) {
	raw := r.Frame("findings")
	if raw == nil {
		return nil, nil
	}
	if _, err := r.Summary(); err != nil {
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
	for i, x := range r.worded {
		row := slices.Concat(raw.Rows[i], []any{orNull(x.Query), orNull(x.Command), orNull(x.Detail)})
		row[f.Index("title")], row[f.Index("evidence")], row[f.Index("advice")] = x.Title, x.Evidence, x.Advice
		f.Rows = append(f.Rows, row)
	}
	return f, nil
}
