package ncu

// sectionReader collects where ncu shows which metric: the headers of its sections.
type sectionReader struct{ out *[]SectionMetric }

// read decodes one ProfilerSection: 1 identifier, 2 display name, 4 header, 6 overview.
func (s sectionReader) read(msg []byte) error {
	var id, title string
	var header, overview []byte
	err := eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			id = f.text()
		case f.message(2):
			title = f.text()
		case f.message(4):
			header = f.bytes
		case f.message(6):
			overview = f.bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	add := func(m SectionMetric) {
		m.Section, m.Title, m.Position = id, title, int32(len(seen)+1)
		if m.Metric != "" && !seen[m.Metric] {
			seen[m.Metric] = true
			*s.out = append(*s.out, m)
		}
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
			add(m)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
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
