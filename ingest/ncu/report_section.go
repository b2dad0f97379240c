package ncu

import (
	"cmp"

	"google.golang.org/protobuf/encoding/protowire"
)

// sectionReader collects where ncu shows which metric: the headers of its sections.
type sectionReader struct{ out *[]SectionMetric }

// read decodes one ProfilerSection: 1 identifier, 2 display name, 4 header, 5 bodies, 6 overview.
func (s sectionReader) read(msg []byte) error {
	var id, title string
	var header, overview []byte
	var bodies [][]byte
	err := eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			id = f.text()
		case f.message(2):
			title = f.text()
		case f.message(4):
			header = f.bytes
		case f.message(5):
			bodies = append(bodies, f.bytes)
			return fewer(len(bodies), mostSections, "parts of a section")
		case f.message(6):
			overview = f.bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	add := func(m SectionMetric) error {
		m.Section, m.Title, m.Position = id, title, int32(len(seen)+1)
		if m.Metric != "" && !seen[m.Metric] {
			seen[m.Metric] = true
			*s.out = append(*s.out, m)
		}
		return fewer(len(*s.out), mostSections, "places of metrics in sections")
	}
	for _, l := range []struct {
		list  []byte
		field int
	}{{header, 2}, {overview, 1}} {
		err := eachField(l.list, func(f field) error {
			if int(f.num) != l.field || f.bytes == nil {
				return nil
			}
			m, err := sectionMetric(f.bytes)
			return cmp.Or(err, add(m))
		})
		if err != nil {
			return err
		}
	}
	for _, b := range bodies {
		if err := eachWithin(b, timelineMetrics, func(msg []byte) error {
			m, err := sectionMetric(msg)
			m.IsTimeline = true
			return cmp.Or(err, add(m))
		}); err != nil {
			return err
		}
	}
	return nil
}

// timelineMetrics is the way from a section's body to the metrics of its timeline: its item, the timeline, a group of rows, a row, a metric.
var timelineMetrics = []protowire.Number{1, 113, 2, 4, 4}

// eachWithin calls f for the messages at the end of a way of fields.
func eachWithin(msg []byte, way []protowire.Number, f func([]byte) error) error {
	return eachField(msg, func(x field) error {
		switch {
		case !x.message(way[0]):
			return nil
		case len(way) == 1:
			return f(x.bytes)
		}
		return eachWithin(x.bytes, way[1:], f)
	})
}

// sectionMetric reads a ProfilerSectionMetric: 1 name, 2 label.
func sectionMetric(msg []byte) (m SectionMetric, err error) {
	err = eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			m.Metric = f.text()
		case f.message(2):
			m.Label = f.text()
		}
		return nil
	})
	if m.Label == "" {
		m.Label = m.Metric
	}
	return m, err
}
