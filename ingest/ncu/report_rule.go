package ncu

import (
	"cmp"

	"google.golang.org/protobuf/encoding/protowire"
)

// severities are RuleResultMessageType.
var severities = [...]string{"none", "ok", "warning", "error", "optimization"}

// scopes are RuleResultSpeedupType.
var scopes = [...]string{"", "local", "global"}

// saying counts what rules say of a result.
type saying int

func (n *saying) add() error {
	*n++
	return fewer(int(*n), mostFindings, "findings of rules, with their metrics and cells")
}

// rule reads what one of ncu's rules says. A rule that found nothing gives no finding.
func (d *decoder) rule(msg []byte) error {
	var id, title, section string
	var body []byte
	err := eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			id = f.text()
		case f.message(2):
			title = f.text()
		case f.message(3):
			body = f.bytes
		case f.message(4):
			section = f.text()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return eachField(body, func(f field) error {
		if !f.message(1) {
			return nil
		}
		finding := Finding{Rule: id, Title: title, Section: section}
		if err := cmp.Or(d.said.add(), finding.decode(f.bytes, &d.said)); err != nil {
			return err
		}
		if finding.Message != "" {
			d.result.Findings = append(d.result.Findings, finding)
		}
		return nil
	})
}

// decode reads a RuleResultBodyItem.
func (g *Finding) decode(item []byte, n *saying) error {
	return eachField(item, func(f field) error {
		switch {
		case f.message(1):
			return g.message(f.bytes)
		case f.message(8):
			return g.metric(f.bytes, n)
		case f.message(10):
			return g.speedup(f.bytes)
		case f.message(12):
			return g.table(f.bytes, n)
		}
		return nil
	})
}

// table reads a RuleResultTable: 1 its configuration (1 title), 2 columns.
func (g *Finding) table(msg []byte, n *saying) error {
	t := FindingCell{Table: 1}
	if n := len(g.Cells); n > 0 {
		t.Table = g.Cells[n-1].Table + 1
	}
	return eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			return eachField(f.bytes, func(c field) error {
				if c.message(1) {
					t.Title = c.text()
				}
				return nil
			})
		case f.message(2):
			t.Column++
			return g.column(f.bytes, t, n)
		}
		return nil
	})
}

// column reads a column of a table: 1 header, then the cells of one type: 4 texts, 5 doubles, 6 integers, the numbers one by one or packed.
func (g *Finding) column(msg []byte, t FindingCell, n *saying) error {
	add := func(value float64) error {
		t.Row++
		t.Value = value
		g.Cells = append(g.Cells, t)
		return n.add()
	}
	return eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			t.Header = f.text()
		case f.message(4):
			t.Row++
			g.Cells = append(g.Cells, FindingCell{Table: t.Table, Title: t.Title, Row: t.Row, Column: t.Column, Header: t.Header, Text: f.text(), IsText: true})
			return n.add()
		case f.num == 5 && f.typ == protowire.Fixed64Type:
			return add(f.double())
		case f.number(6):
			return add(float64(int64(f.int)))
		case f.message(5) || f.message(6):
			for at := 0; at < len(f.bytes); {
				v, size := protowire.ConsumeFixed64(f.bytes[at:])
				value := field{int: v}.double()
				if f.num == 6 {
					v, size = protowire.ConsumeVarint(f.bytes[at:])
					value = float64(int64(v))
				}
				if size < 0 {
					return &wireError{at, protowire.ParseError(size)}
				}
				at += size
				if err := add(value); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (g *Finding) message(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			g.Message = f.text()
		case f.number(2):
			g.Severity = oneOf(severities[:], f.int)
		case f.message(4) && len(f.bytes) > 0:
			g.Title = f.text()
		}
		return nil
	})
}

func (g *Finding) metric(msg []byte, n *saying) error {
	var m FindingMetric
	err := eachField(msg, func(f field) error {
		switch {
		case f.message(2):
			m.Name = f.text()
		case f.num == 3 && f.typ == protowire.Fixed64Type:
			m.Value = f.double()
		case f.message(5):
			m.Advice = f.text()
		}
		return nil
	})
	g.Metrics = append(g.Metrics, m)
	return cmp.Or(err, n.add())
}

// speedup reads the estimate, which the report holds in percent.
func (g *Finding) speedup(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			g.Scope = oneOf(scopes[:], f.int)
		case f.num == 2 && f.typ == protowire.Fixed64Type:
			g.Speedup = f.double() / 100
		}
		return nil
	})
}

// oneOf names a value of an enumeration; a value of a later version is shown by its number.
func oneOf(names []string, v uint64) string {
	if v < uint64(len(names)) {
		return names[v]
	}
	return "type " + itoa(v)
}
