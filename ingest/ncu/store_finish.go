package ncu

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"prof/ingest/load"
)

// Warn notes something that the user should know; "" is nothing.
func (s *Store) Warn(info *load.SourceInfo, message string) {
	if message != "" {
		info.Warnings = append(info.Warnings, message)
	}
}

// part notes what became of one kind of thing in the source.
func (s *Store) part(name string, read, stored int64, reason string) {
	if read > 0 {
		s.parts = append(s.parts, part{name, read, stored, reason})
	}
}

// sections stores where ncu shows which metric, once a source.
func (s *Store) sections(list []SectionMetric) {
	var rows [][]any
	source := strconv.Itoa(s.target.SourceID)
	skipped := map[string]int32{}
	for _, m := range list {
		if m.IsTimeline && !s.sampled[m.Metric] {
			skipped[m.Section]++
			continue
		}
		m.Position -= skipped[m.Section]
		if s.target.Run.First("ncu_section", source, m.Section, m.Metric) {
			rows = append(rows, []any{s.target.RunID, m.Section, m.Title, m.Position, s.target.Run.Metrics.Add(m.Metric, unitOrUnknown(Unit(m.Metric))), m.Label, int32(s.target.SourceID)})
		}
	}
	s.later = append(s.later, tableRows{"ncu_section", rows})
}

// session stores devices, processes and facts.
func (s *Store) session(v *Session, processes []Process) {
	var rows [][]any
	for _, d := range v.Devices {
		rows = append(rows, s.deviceRow(d))
	}
	s.later = append(s.later, tableRows{"device", rows})
	rows = nil
	for _, p := range processes {
		rows = append(rows, []any{s.target.RunID, int32(s.target.SourceID), p.PID, orNull(p.Name, ""), nil})
	}
	s.later = append(s.later, tableRows{"process", rows})
	s.Facts(v.facts())
}

func (s *Store) Facts(facts [][2]string) {
	var rows [][]any
	for _, f := range facts {
		if f[1] != "" {
			rows = append(rows, []any{s.target.RunID, int32(s.target.SourceID), f[0], f[1]})
		}
	}
	s.later = append(s.later, tableRows{"source_fact", rows})
}

// facts names what the session says as the other formats name it.
func (v *Session) facts() [][2]string {
	out := [][2]string{
		{"host.name", v.Target.Name}, {"os.description", strings.TrimSpace(v.Target.OS + " " + v.Target.Build)},
		{"cpu.description", v.Target.Processor}, {"cpu.architecture", v.Target.Architecture}, {"driver.version", v.Driver},
		{"capture.command", v.Command},
	}
	for _, p := range v.Versions {
		out = append(out, [2]string{versionKey(p[0]), p[1]})
	}
	settings := map[string]string{"replay-mode": v.Replay, "clock-control": v.Clock}
	out = append(out, ParseCommand(v.Command).facts(settings)...)
	return append(out, [2]string{"capture.sections", v.Sections})
}

// versionKey names the fact of a version by its provider.
func versionKey(provider string) string {
	switch provider {
	case "CUDA Version":
		return "driver.cuda_version"
	case "Nsight Compute Target":
		return "ncu.version"
	}
	return "ncu." + strings.ReplaceAll(strings.ToLower(provider), " ", "_") + "_version"
}

// deviceRow is a row of device; the attributes are cudaDeviceGetAttribute's, of which clocks are in kHz.
func (s *Store) deviceRow(d Device) []any {
	a := func(name string, scale float64) any {
		if m, ok := d.Attributes["device__attribute_"+name]; ok && !m.IsText && m.Value > 0 {
			return int64(m.Value * scale)
		}
		return nil
	}
	var capability, bandwidth any
	if clock, width := a("memory_clock_rate", 1e3), a("global_memory_bus_width", 1); clock != nil && width != nil {
		bandwidth = clock.(int64) * 2 * width.(int64) / 8 // two transfers a clock, as the driver computes it
	}
	major, minor := a("compute_capability_major", 1), d.Attributes["device__attribute_compute_capability_minor"]
	switch {
	case major != nil:
		capability = fmt.Sprintf("%v.%s", major, strconv.FormatFloat(minor.Value, 'f', 0, 64))
	case d.Capability > 0:
		capability = fmt.Sprintf("%d.%d", d.Capability/10, d.Capability%10)
	}
	return []any{s.target.RunID, int32(s.target.SourceID), d.ID, orNull(d.Name, ""), nil, nil, nil, capability,
		a("multiprocessor_count", 1), a("clock_rate", 1e3), a("total_memory", 1), bandwidth, a("l2_cache_size", 1),
		a("max_warps_per_multiprocessor", 1), a("max_shared_memory_per_multiprocessor", 1)}
}

// machine stores the device and the process of a page's result, which no message of their own names. The attributes of the device
// are metrics like others on a raw page; other pages say only its number and compute capability.
func (s *Store) machine(r *Result) {
	run := s.target.Run
	source := strconv.Itoa(s.target.SourceID)
	if r.Device >= 0 && run.First("device", source, strconv.Itoa(int(r.Device))) {
		d := Device{ID: r.Device, Capability: r.Capability, Attributes: map[string]Metric{}}
		for _, m := range r.Metrics {
			if strings.HasPrefix(m.Name, "device__attribute_") {
				d.Attributes[m.Name] = m
			}
		}
		d.Name = d.Attributes["device__attribute_display_name"].Text
		s.later = append(s.later, tableRows{"device", [][]any{s.deviceRow(d)}})
	}
	if run.First("process", source, strconv.Itoa(int(r.PID))) {
		s.later = append(s.later, tableRows{"process", [][]any{{s.target.RunID, int32(s.target.SourceID), r.PID, orNull(r.Process, ""), nil}}})
	}
}

// tableRows are rows that are stored at the end.
type tableRows struct {
	table string
	rows  [][]any
}

// Finish stores what is left and sums up.
func (s *Store) Finish(info *load.SourceInfo) error {
	if err := s.flush(); err != nil {
		return err
	}
	for _, w := range s.metrics.odd.Warnings() {
		s.Warn(info, w)
	}
	for _, t := range s.later {
		if err := s.append(t.table, t.rows); err != nil {
			return err
		}
	}
	for k, n := range s.counts {
		s.part(Kind(k).String()+" results", n, n, "")
	}
	s.part("metrics", s.metricCount, s.metricCount, "")
	info.Rows = s.metricCount + s.instanceCount + s.other
	if err := s.storeParts(); err != nil {
		return err
	}
	var rows [][]any
	for _, d := range s.diagnostics {
		rows = append(rows, []any{s.target.RunID, int32(s.target.SourceID), d.origin, d.severity, nil, nil, d.message})
	}
	for _, w := range info.Warnings {
		rows = append(rows, []any{s.target.RunID, int32(s.target.SourceID), "ingest", "warning", nil, nil, w})
	}
	return s.append("diagnostic", rows)
}

func (s *Store) storeParts() error {
	var rows [][]any
	for _, p := range s.parts {
		rows = append(rows, []any{s.target.RunID, int32(s.target.SourceID), p.name, p.read, p.stored, orNull(p.reason, "")})
	}
	return s.append("source_part", rows)
}

// Say keeps what the capture said of itself.
func (s *Store) Say(severity, message string) {
	s.diagnostics = append(s.diagnostics, diagnosticRow{"capture", severity, message})
}

type diagnosticRow struct{ origin, severity, message string }

// links are ncu's references inside the texts of its rules: @section:Identifier:Title@, @url:text:address@, @source:file:line:text@ and @sass:address:text@.
var links = regexp.MustCompile(`@(?:section|url|source|sass):([^@]*?)@`)

// plainMessage leaves the words of a rule's text that a person reads.
func plainMessage(s string) string {
	s = links.ReplaceAllStringFunc(s, func(m string) string {
		kind, rest, _ := strings.Cut(strings.Trim(m, "@"), ":")
		first, second, two := strings.Cut(rest, ":")
		switch {
		case two && (kind == "section" || kind == "sass"):
			return second
		case two && kind == "source":
			if _, text, hasText := strings.Cut(second, ":"); hasText {
				return text
			}
		case two && kind == "url": // as ncu's own page prints it
			return first + " (" + second + ")"
		}
		return first
	})
	return strings.TrimSpace(s)
}
