package gate

// byFloor reports whether it is the noise between runs that hides changes, and not that of the samples.
func (c *Check) byFloor() bool {
	x := c.Comparison
	return x.Floor != nil && x.Smallest != nil && *x.Smallest <= *x.Floor
}

// sight returns how much worse it may be, why nothing more can be told, and what would help.
func (c *Check) sight() string {
	text := "; a regression could have gone unnoticed"
	if between := c.Comparison.Interval(); between != "" {
		text = "; " + between
	}
	if c.byFloor() {
		return text + ", since " + floorText(c.Comparison)
	}
	return text + c.noiseText()
}
