package exports

import "slices"

// Repeat writes an export whose events are those of the tables, copies times: each copy later by the length of the capture and with correlation
// ids of its own, so that launches still point at their work and ranges still nest. Each table must have rows of its own.
func Repeat(path string, tables []*Table, copies int) error {
	w, err := Create(path)
	if err != nil {
		return err
	}
	span, ids := extent(tables)
	for _, t := range tables {
		times := copies
		if !t.timed() {
			times = 1
		}
		start, end, correlation := t.Column("start"), t.Column("end"), t.Column("correlationId")
		err := w.Add(t, func(yield func([]any) bool) {
			for k := range times {
				for _, r := range t.Rows {
					if k > 0 {
						r = slices.Clone(r)
						move(r, start, int64(k)*span)
						move(r, end, int64(k)*span)
						move(r, correlation, int64(k)*ids)
					}
					if !yield(r) {
						return
					}
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return w.Close()
}

func (t *Table) timed() bool { return t.Column("start") >= 0 && t.Column("end") >= 0 }

// extent is by how much a copy must be moved: its time, with a millisecond between copies, and its correlation ids.
func extent(tables []*Table) (span, ids int64) {
	var first, last int64
	seen := false
	for _, t := range tables {
		if !t.timed() {
			continue
		}
		for _, r := range t.Rows {
			from, to := t.Int(r, "start"), max(t.Int(r, "start"), t.Int(r, "end"))
			if !seen {
				first, last, seen = from, to, true
			}
			first, last, ids = min(first, from), max(last, to), max(ids, t.Int(r, "correlationId")+1)
		}
	}
	return last - first + 1_000_000, ids
}

func move(row []any, at int, by int64) {
	if at >= 0 {
		if n, is := row[at].(int64); is {
			row[at] = n + by
		}
	}
}
