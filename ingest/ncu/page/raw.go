package page

// rawUnits takes the second header of a raw page.
func (p *pageReader) rawUnits() {
	h := p.header
	for i := range h.metrics {
		c := &h.metrics[i]
		c.unit = p.unitOfText(p.record.fields[c.at])
	}
	h.hasUnits = true
}

// rawRow takes the metrics of a row, which is a whole result.
func (p *pageReader) rawRow() {
	h := p.header
	if !h.hasUnits && len(h.metrics) > 0 {
		p.unitless++
	}
	for i := range h.metrics {
		c := &h.metrics[i]
		p.cells = append(p.cells, pageCell{c.metric, c.unit, p.record.fields[c.at]})
	}
}
