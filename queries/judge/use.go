package judge

import "strings"

// usable leaves out a utilisation over 1, which is an error in what was given.
func usable(ratio *float64) *float64 {
	if ratio == nil || *ratio > 1 {
		return nil
	}
	return ratio
}

func (e evidence) mfuText() string { return e.useText("MFU", e.use.mfu) }
func (e evidence) mbuText() string { return e.useText("MBU", e.use.mbu) }

func (e evidence) useText(name string, ratio *float64) string {
	switch {
	case ratio == nil:
		return name + " is unknown"
	case usable(ratio) == nil:
		return name + " of " + percentText(*ratio) + " means that an input is wrong"
	case e.use.isLeast:
		return name + " is at least " + percentText(*ratio)
	}
	return name + " is " + percentText(*ratio)
}

// uncountedText says why utilisation is more than the figures say; "" when it is not.
func (e evidence) uncountedText() string {
	if len(e.use.uncounted) == 0 {
		return ""
	}
	return " (without the operations of " + strings.Join(e.use.uncounted, ", ") + ")"
}
