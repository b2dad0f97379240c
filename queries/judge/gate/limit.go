package gate

import (
	"math"
	"strconv"
	"strings"
)

// times are the units that times are written in, ns each.
var times = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9} // both letters that look like a micro sign

// limit reads what the figure may come to.
func (s *scanner) limit(r Rule) (Limit, error) {
	at := s.at
	text := s.word()
	if text == "" {
		return Limit{}, s.errorf(at, "the limit is missing: write one, such as +3%% or %s", r.example())
	}
	number := strings.TrimRight(text, "%abcdefghijklmnopqrstuvwxyzµμABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit := text[len(number):]
	if unit == "" {
		unit = s.unitBehind()
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) || strings.ContainsAny(number, "xX_pP") {
		return Limit{}, s.errorf(at, "%q is not a limit: write a number with its unit, such as +3%% or %s", text, r.example())
	}
	f := r.figure()
	l := Limit{Unit: f.unit, Relative: text[0] == '+' || text[0] == '-', Value: value}
	if why := l.refused(r, f); why != "" {
		return l, s.errorf(at, "%s", why)
	}
	if l.Percent = l.Relative && unit == "%"; l.Percent {
		l.Value = value / 100
		return l, nil
	}
	scale, why := scaleOf(unit, value, f.unit, r)
	if why != "" {
		return l, s.errorf(at, "%s", why)
	}
	l.Value *= scale
	return l, nil
}

// unitBehind reads a unit that a space separates from its number; "" where none follows.
func (s *scanner) unitBehind() string {
	at := s.at
	s.blanks()
	unit := s.word()
	if _, isTime := times[unit]; !isTime && unit != "%" {
		s.at = at
		return ""
	}
	return unit
}

// refused returns why the figure cannot have such a limit; "" when it can.
func (l Limit) refused(r Rule, f figure) string {
	switch {
	case l.Relative && !f.relative && r.Kind == NewKernels:
		return "new kernels are counted against the baseline already: write an absolute limit (no + or -), such as new_kernels <= 0"
	case l.Relative && !f.relative:
		return r.On(r.stageText()) + " is not compared with the baseline: write an absolute limit (no + or -), such as " + r.example()
	case l.Relative && r.AtMost && l.Value < 0:
		return "a relative limit after <= is how far the figure may rise above the baseline: write it with +"
	case l.Relative && !r.AtMost && l.Value > 0:
		return "a relative limit after >= is how far the figure may fall below the baseline: write it with -"
	}
	return ""
}

// scaleOf returns what a number in the unit as written is multiplied with, or says what is wrong.
func scaleOf(unit string, value float64, of Unit, r Rule) (scale float64, why string) {
	factor, isTime := times[unit]
	switch {
	case of == Ns && isTime:
		return factor, ""
	case of == Ns && unit == "" && value == 0:
		return 1, ""
	case of == Ns && unit == "":
		return 0, "a time needs a unit: ns, us, ms or s"
	case of == Ratio && unit == "%":
		return 0.01, ""
	case of == Ratio && unit == "" && math.Abs(value) > 1:
		return 0, "did you mean a percentage? write " + strconv.FormatFloat(value, 'g', -1, 64) + "%; without a unit, 1 means 100%"
	case unit == "":
		return 1, ""
	case unit == "%":
		return 0, "a percentage of what? with a sign it is relative to the baseline: +3% or -3%"
	}
	return 0, strconv.Quote(unit) + " is not a unit of this figure: write " + r.example()
}

// example is a limit as one may write it.
func (r Rule) example() string {
	switch r.figure().unit {
	case Ns:
		return "60ms"
	case Ratio:
		return "35% or 0.35"
	case Count:
		return "0"
	}
	return "120"
}

// String writes the limit in the largest unit that it is a whole number of.
func (l Limit) String() string {
	sign := ""
	if l.Relative && !math.Signbit(l.Value) {
		sign = "+"
	}
	switch {
	case l.Percent:
		return sign + decimal(l.Value*100) + "%"
	case l.Unit == Ratio:
		return sign + decimal(l.Value*100) + "%"
	case l.Unit != Ns || l.Value == 0:
		return sign + decimal(l.Value)
	}
	for _, u := range []string{"s", "ms", "us"} {
		if v := l.Value / times[u]; v == math.Trunc(v) || math.Abs(v) >= 10 {
			return sign + decimal(v) + u
		}
	}
	return sign + decimal(l.Value) + "ns"
}

// decimal writes a number with 12 significant digits at most: what was typed, without what binary fractions add to it.
func decimal(v float64) string {
	return strconv.FormatFloat(v, 'g', 12, 64)
}
