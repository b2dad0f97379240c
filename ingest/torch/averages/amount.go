package averages

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of amounts. More is a mistake in the file.
const (
	maxAmount = 0x1p56 // load.Farthest
	maxFlops  = 0x1p62
)

// errRange is wrapped by the error for an amount that cannot be, which is left unknown.
var errRange = errors.New("out of range")

// noValue are texts that stand for a missing value: in PyTorch's printed table, and of Python's None in a CSV file.
var noValue = []string{"", "--", "None", "null", "<NA>"}

// written is the number of a cell and the unit behind it, as PyTorch prints times and memory: 231.332us, -385.00 KB.
type written struct {
	value float64
	exact int64 // value, where whole is set
	whole bool
	unit  float64 // ns, bytes or 1 of the unit in the cell; 0 when there is none
}

// PyTorch prints units of 1024 as KB, MB and GB: _format_memory in torch/autograd/profiler_util.py.
var printedBytes = map[string]float64{"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}

// parse reads the number of a cell. ok is false where the cell holds none, and the error says why something is no number.
func parse(c cell, f field) (w written, ok bool, err error) {
	s := strings.TrimSpace(c.text)
	switch {
	case c.kind == absent || c.kind == text && slices.Contains(noValue, s):
		return w, false, nil
	case c.kind == other:
		return w, false, fmt.Errorf("it is not a number")
	}
	end := strings.LastIndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }) + 1
	digits, unit := s[:end], strings.ToLower(strings.TrimSpace(s[end:]))
	if digits == "" || strings.Trim(digits, "+-.0123456789eE") != "" {
		return w, false, fmt.Errorf("%q is not a number", shorten(c.text))
	}
	if unit != "" {
		units := timeUnits
		if f.isBytes() {
			units = printedBytes
		}
		if w.unit = units[strings.ReplaceAll(unit, "µ", "u")]; w.unit == 0 || !f.isBytes() && !f.isTime() {
			return w, false, fmt.Errorf("%q is not a number", shorten(c.text))
		}
	}
	if w.exact, err = strconv.ParseInt(digits, 10, 64); err == nil {
		w.whole = true
	}
	if w.value, err = strconv.ParseFloat(digits, 64); err != nil {
		return w, false, fmt.Errorf("%q is not a number", shorten(c.text))
	}
	return w, true, nil
}

// in returns the amount of a field in base units, rounded to the nearest; unit is the column's.
func (w written) in(f field, unit float64) (int64, error) {
	if w.unit > 0 {
		unit = w.unit
	}
	bound := maxAmount
	if f == flops {
		bound = maxFlops
	}
	v := math.Round(w.value * unit)
	switch {
	case math.Abs(v) > bound:
		return 0, fmt.Errorf("%v is %w", w.value, errRange)
	case w.whole && unit == 1: // beyond the digits of v
		return w.exact, nil
	}
	return int64(v), nil
}

// maxShown bounds what a message repeats of a file.
const maxShown = 60

func shorten(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return s
}
