package page

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// labelCSV says which metric a label of a details page stands for, by the section's title, the item of the section's body and
// the label. Of ncu 2025.3.1: where its section definitions let a label mean one metric on some chips and another one on others, the
// row says on which; labels of the breakdowns were matched with reports of an H200. An empty section is that of the row above; an
// item * is every item, and one that begins with * is every item that ends so; cc lists ranges of compute capabilities, empty for
// all. Several metrics of one label, as of a table with a column a suffix, stand in the order of the page; one that begins with a
// point goes on the first.
//
//go:embed label.csv
var labelCSV string

type labelKey struct{ section, item, label string }

// labelMetrics are the metrics of a label on some chips.
type labelMetrics struct {
	from, to []int // ranges of compute capabilities; none for all
	metrics  []string
}

type labels struct {
	of    map[labelKey][]labelMetrics
	names map[string]bool // every metric in the table
}

var labelTable = sync.OnceValue(func() *labels {
	t, err := parseLabels(labelCSV)
	if err != nil {
		panic(err) // the table is part of the program, and a test reads it
	}
	return t
})

func parseLabels(text string) (*labels, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	t := &labels{of: map[labelKey][]labelMetrics{}, names: map[string]bool{}}
	section := ""
	for i, row := range rows[1:] {
		if row[0] != "" {
			section = row[0]
		}
		var m labelMetrics
		for _, r := range strings.Fields(row[3]) {
			from, to, _ := strings.Cut(r, "-")
			first, err := strconv.Atoi(from)
			last := 1 << 15
			if to != "" && err == nil {
				last, err = strconv.Atoi(to)
			}
			if err != nil {
				return nil, fmt.Errorf("row %d: compute capabilities %q: %w", i+2, row[3], err)
			}
			m.from, m.to = append(m.from, first), append(m.to, last)
		}
		stem := ""
		for _, name := range strings.Fields(row[4]) {
			switch {
			case name[0] == '.':
				m.metrics = append(m.metrics, stem+name)
			case strings.Contains(row[4], " "):
				stem = name
			default:
				m.metrics = append(m.metrics, name)
			}
		}
		for _, name := range m.metrics {
			t.names[name] = true
		}
		key := labelKey{section, row[1], row[2]}
		t.of[key] = append(t.of[key], m)
	}
	return t, nil
}

// specified finds what the items of a roofline that differ only in the cache have in common: "(Op:hmma Src:fp16 Dst:fp32)".
var specified = regexp.MustCompile(`\([^()]*:[^()]*\)$`)

// metricsOfLabel returns the metrics of a label in the order of their rows, none when the table lacks it or has several answers for
// a chip of which only the table's rows know. one: it is a single metric, which the page may show again.
func metricsOfLabel(section, item, label string, cc int) (names []string, one bool) {
	t := labelTable()
	for _, key := range []string{item, "*" + specified.FindString(item), "*"} {
		rows := t.of[labelKey{section, key, label}]
		var found []labelMetrics
		for _, m := range rows {
			if m.holds(cc) {
				found = append(found, m)
			}
		}
		if len(found) == 1 {
			return found[0].metrics, len(found[0].metrics) == 1
		}
		if len(rows) > 0 {
			return nil, false
		}
	}
	return nil, false
}

// holds reports whether the metrics are those of a chip; of an unknown chip only where they are those of every chip.
func (m *labelMetrics) holds(cc int) bool {
	for i := range m.from {
		if cc > 0 && m.from[i] <= cc && cc <= m.to[i] {
			return true
		}
	}
	return len(m.from) == 0
}
