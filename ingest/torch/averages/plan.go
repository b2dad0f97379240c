package averages

import (
	"fmt"
	"slices"
	"strings"

	"prof/internal/suggest"
)

// plan says which column each field is taken from.
type plan struct {
	*survey
	from     [fieldCount][]int // columns by id; the first is taken, the others should agree with it
	warnings []string
	differ   [fieldCount]place // rows in which another column disagrees
	noKind   bool              // whether nothing tells what ran on the device

	shareColumns map[field]int // of shares of self times; -1: none
}

func (p *plan) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// plan decides after the first reading.
func (s *survey) plan() *plan {
	p := &plan{survey: s}
	for len(s.tallies) < len(s.cols.list) { // of a table without rows
		s.tallies = append(s.tallies, tally{})
	}
	for f := nameField; f < fieldCount; f++ {
		p.from[f] = p.candidates(f)
	}
	p.leaveFalseZeros()
	if !s.anyShape { // lists without sizes: not grouped by shapes
		p.from[shapesField] = nil
	}
	p.noKind = len(p.from[deviceTypeField])+len(p.from[selfCPU])+len(p.from[totalCPU]) == 0
	p.warnColumns()
	return p
}

// candidates are the columns that hold a field, the best first.
func (p *plan) candidates(f field) []int {
	var clearly, perhaps []int
	for id, c := range p.cols.list {
		switch {
		case c.field != f || p.unitless(id):
		case c.trust == certain:
			clearly = append(clearly, id)
		case c.trust == loose && p.isTotal(id):
			perhaps = append(perhaps, id)
		}
	}
	if len(clearly) == 0 {
		clearly = perhaps
	}
	slices.SortStableFunc(clearly, func(a, b int) int {
		// An attribute that PyTorch does not have is often written as 0: what holds values comes first.
		if x, y := p.tallies[a].nonzero > 0, p.tallies[b].nonzero > 0; f.isAmount() && x != y {
			if x {
				return -1
			}
			return 1
		}
		return p.cols.list[a].rank - p.cols.list[b].rank
	})
	return clearly
}

// unitless reports whether nobody says what a 1 in the column is.
func (p *plan) unitless(id int) bool {
	c, t := p.cols.list[id], p.tallies[id]
	return c.field.isTime() && c.unit == 0 && t.bare > 0 || c.field.isBytes() && c.unit == 1 && t.fractional > 0
}

// isTotal reports whether a time without the word total is one all the same: the values say so (0 is 0 of one call and of all), or
// the table is of a kind whose writer is known: op_name, total_time_ms (self and total CPU time added up), cuda_time_ms (the
// total), calls, mean_ms (total_time_ms over calls).
func (p *plan) isTotal(id int) bool {
	t := p.tallies[id]
	known := p.cols.list[id].plain == "cuda_time_ms" && p.cols.has("op_name") && p.cols.has("total_time_ms") && p.cols.has("mean_ms")
	return t.less == 0 && (t.equal > 0 || known || t.nonzero == 0)
}

// leaveFalseZeros takes nothing from columns in which 0 stands for a missing value: getattr(e, "cuda_time_total", 0) is 0 since
// PyTorch 2.4, which calls the attribute device_time_total.
func (p *plan) leaveFalseZeros() {
	var zeros, values []string
	for _, f := range []field{selfDevice, totalDevice} {
		for _, id := range p.from[f] {
			switch c, t := p.cols.list[id], p.tallies[id]; {
			case t.nonzero > 0 || !c.old && t.seen > 0:
				values = append(values, c.name)
			case t.seen > 0:
				zeros = append(zeros, c.name)
			}
		}
	}
	if len(zeros) > 0 && len(values) == 0 && !p.cpuOnly {
		p.warn("%s: 0 in every row, so stored as empty: PyTorch 2.4 and later call these times device_time_total and self_device_time_total, "+
			"and a program that reads the old names with a default of 0 gets 0", suggest.List(zeros, 4))
		p.from[selfDevice], p.from[totalDevice] = nil, nil
	}
	for _, f := range []field{selfDeviceBytes, totalDeviceBytes} {
		if ids := p.from[f]; len(ids) > 0 && p.cols.list[ids[0]].old && p.tallies[ids[0]].nonzero == 0 && !p.cpuOnly && p.rows > 0 {
			p.warn("%s: 0 in every row, so stored as empty: memory was not recorded, or a program read the old name from PyTorch 2.4 or later", p.cols.list[ids[0]].name)
			p.from[f] = nil
		}
	}
	if total, self := p.from[totalDevice], p.from[selfDevice]; len(total) > 0 && len(self) > 0 && p.tallies[total[0]].nonzero == 0 && p.tallies[self[0]].nonzero > 0 {
		p.warn("%s: 0 in every row, so stored as empty: a total is at least the self time, and %s is above 0", p.cols.list[total[0]].name, p.cols.list[self[0]].name)
		p.from[totalDevice] = nil
	}
}

// warnColumns says which columns are not stored, and why.
func (p *plan) warnColumns() {
	var strange, lost []string
	for id, c := range p.cols.list {
		switch {
		case p.tallies[id].seen == 0:
		case c.trust == unknown:
			strange = append(strange, c.name)
		case c.trust == dropped:
			lost = append(lost, c.name)
		case c.trust == unclear:
			p.warn("column %q is not stored: %s", c.name, c.reason)
		case c.field == nothing || slices.Contains(p.from[c.field], id) || c.trust == loose && len(p.from[c.field]) > 0:
		case c.trust == loose && !p.isTotal(id):
			p.warn("column %q is not stored: %s", c.name, c.reason)
		case p.unitless(id):
			p.warn("column %q is not stored: neither its name nor its values give the unit", c.name)
		}
	}
	if len(strange) > 0 {
		p.warn("unknown columns are not stored: %s", strings.Join(quoted(strange), ", "))
	}
	if p.printed() {
		p.warn("times and sizes have units in the cells, as PyTorch prints them, so they are rounded as printed")
	}
	if len(lost) > 0 {
		p.warn("not stored: %s; rows with equal names may differ in it", suggest.List(lost, 4))
	}
	if p.noKind && p.rows > 0 {
		p.warn("without device_type and CPU times, operators and device work look the same: all rows are stored as kind cpu")
	}
}

// printed reports whether amounts that are stored have units behind them.
func (p *plan) printed() bool {
	for f := selfCPU; f < flops; f++ {
		if ids := p.from[f]; len(ids) > 0 && p.tallies[ids[0]].seen > p.tallies[ids[0]].bare {
			return true
		}
	}
	return false
}

// maxNamed bounds how many columns a warning names.
const maxNamed = 20

func quoted(names []string) []string {
	var out []string
	for i, n := range names {
		if i == maxNamed {
			return append(out, fmt.Sprintf("and %d more", len(names)-i))
		}
		out = append(out, fmt.Sprintf("%q", shorten(n)))
	}
	return out
}
