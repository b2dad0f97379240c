package ncu

import "google.golang.org/protobuf/encoding/protowire"

// severities are RuleResultMessageType.
var severities = [...]string{"none", "ok", "warning", "error", "optimization"}

// scopes are RuleResultSpeedupType.
var scopes = [...]string{"", "local", "global"}

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
		if err := finding.decode(f.bytes); err != nil {
			return err
		}
		if finding.Message != "" {
			d.result.Findings = append(d.result.Findings, finding)
		}
		return nil
	})
}

// decode reads a RuleResultBodyItem.
func (g *Finding) decode(item []byte) error {
	return eachField(item, func(f field) error {
		switch {
		case f.message(1):
			return g.message(f.bytes)
		case f.message(8):
			return g.metric(f.bytes)
		case f.message(10):
			return g.speedup(f.bytes)
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

func (g *Finding) metric(msg []byte) error {
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
	return err
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
